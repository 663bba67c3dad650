"""How a review compares with the key of its case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .case import PassMark
from .papers import Papers, Ruling
from .verdict import Expected, Key, Verdict


@dataclass(frozen=True)
class Mark:
    """How one check was done."""

    decided_right: bool
    cited_right: bool
    """Whether a right rule and at least one right quotation were given; an escalation that is right needs neither."""
    is_missed_exception: bool


@dataclass(frozen=True)
class Score:
    """How all checks were done."""

    marks: Mapping[str, Mark]

    @property
    def decisions(self) -> int:
        """How many were decided right."""
        return sum(mark.decided_right for mark in self.marks.values())

    @property
    def citations(self) -> int:
        """How many were cited right."""
        return sum(mark.cited_right for mark in self.marks.values())

    @property
    def missed_exceptions(self) -> int:
        """How many exceptions were not recognised as such."""
        return sum(mark.is_missed_exception for mark in self.marks.values())

    def reaches(self, wanted: PassMark) -> bool:
        """Tell whether it is good enough."""
        checks = len(self.marks)
        return (
            self.decisions / checks >= wanted.decisions
            and self.citations / checks >= wanted.citations
            and self.missed_exceptions <= wanted.missed_exceptions
        )

    def __str__(self) -> str:
        checks = len(self.marks)
        return (
            f"decisions right: {self.decisions} of {checks}; citations right: {self.citations} of {checks}; "
            f"missed exceptions: {self.missed_exceptions}"
        )


def score(key: Key, papers: Papers) -> Score:
    """Compare what was ruled with what is right; an open check is neither decided nor cited."""
    return Score({check: _mark(expected, papers.ruling(check)) for check, expected in key.checks.items()})


def _mark(expected: Expected, ruling: Ruling | None) -> Mark:
    decided_right = ruling is not None and ruling.verdict is expected.verdict
    return Mark(
        decided_right=decided_right,
        cited_right=ruling is not None and _is_cited(expected, ruling, decided_right),
        is_missed_exception=expected.verdict is Verdict.EXCEPTION and not decided_right,
    )


def _is_cited(expected: Expected, ruling: Ruling, decided_right: bool) -> bool:
    if expected.verdict is Verdict.ESCALATED:
        return decided_right
    if ruling.rule is None or ruling.rule.id not in expected.rules:
        return False
    return any(
        citation.is_in(quotation.document, quotation.words)
        for citation in expected.citations
        for quotation in ruling.quotations
    )
