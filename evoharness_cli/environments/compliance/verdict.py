"""What may become of a check, and what the key of a case expects."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field, model_validator

from .reading import Identifier, Line, Section


class Verdict(StrEnum):
    """What becomes of a check."""

    PASS = "pass"
    FAIL = "fail"
    EXCEPTION = "exception"
    NEEDS_EVIDENCE = "needs-evidence"
    ESCALATED = "escalated"
    """Handed on to a person, with a reason in place of a rule and evidence."""


DECISIONS = tuple(verdict for verdict in Verdict if verdict is not Verdict.ESCALATED)
"""The verdicts that are decided on a rule and on evidence."""


class Citation(Section):
    """A passage that a quotation has to hold to be right."""

    document: Line
    words: Line

    def is_in(self, document: str, words: str) -> bool:
        """Tell whether a quotation holds it."""
        return document == self.document and " ".join(self.words.split()) in words


class Expected(Section):
    """What is right for one check: any of the rules with any of the citations."""

    verdict: Verdict = Field(alias="decision")
    rules: tuple[Identifier, ...] = ()
    citations: tuple[Citation, ...] = ()

    @model_validator(mode="after")
    def _can_be_cited(self) -> Expected:
        if self.verdict is not Verdict.ESCALATED and not (self.rules and self.citations):
            raise ValueError("a decision needs `rules` and `citations` that are right for it")
        return self


class Key(Section):
    """The keys of `key.yaml`, which the agent is never shown."""

    checks: Mapping[Identifier, Expected]
