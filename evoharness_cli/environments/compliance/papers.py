"""The working papers of a review: what was quoted, and what was decided on it and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .documents import Document
from .rules import Rule
from .verdict import Verdict

SHORTEST, LONGEST = 3, 500
"""How many characters a quotation has, so that it says something and can be checked by a person."""


@dataclass(frozen=True)
class Quotation:
    """Words that stand in a document, white space apart, just so."""

    id: str
    document: str
    words: str
    page: int | None
    """The page that holds all of it, if one does."""
    action: int
    """The action that kept it, counted from 1."""


@dataclass(frozen=True)
class Ruling:
    """What became of a check at one action: a decision by a rule on quotations, or an escalation for a reason."""

    check: str
    verdict: Verdict
    action: int
    rule: Rule | None = None
    quotations: tuple[Quotation, ...] = ()
    reason: str = ""


class NoSuchQuotation(Exception):
    """Words that can't be quoted; the message says why."""


@dataclass
class Papers:
    """Quotations and rulings, in the order in which they were made."""

    quotations: list[Quotation] = field(default_factory=list)
    trail: list[Ruling] = field(default_factory=list)
    """Every ruling, those that a later one replaced among them."""

    def quote(self, document: Document, words: str, action: int) -> Quotation:
        """Keep words of a document, or return the quotation that they are already. Raises NoSuchQuotation."""
        words = " ".join(words.split())
        if not SHORTEST <= len(words) <= LONGEST:
            raise NoSuchQuotation(f"expected {SHORTEST} to {LONGEST} characters; found {len(words)}")
        if document.content.fault:
            raise NoSuchQuotation(f"{document.name} can't be read: {document.content.fault}")
        if words not in document.content.words:
            alike = words.casefold() in document.content.words.casefold()
            hint = "; with other capitals they do" if alike else ""
            raise NoSuchQuotation(f"these words don't stand in {document.name}{hint}")
        for known in self.quotations:
            if (known.document, known.words) == (document.name, words):
                return known
        number = f"q{len(self.quotations) + 1}"
        self.quotations.append(Quotation(number, document.name, words, document.content.page_of(words), action))
        return self.quotations[-1]

    def find(self, name: str) -> Quotation | None:
        """Return the quotation of an id."""
        return next((quotation for quotation in self.quotations if quotation.id == name.lower()), None)

    def rule(self, ruling: Ruling) -> None:
        """Decide or escalate a check, in the place of what was decided before."""
        self.trail.append(ruling)

    def ruling(self, check: str) -> Ruling | None:
        """Return what stands for a check, None where it is open."""
        rulings = self.rulings(check)
        return rulings[-1] if rulings else None

    def rulings(self, check: str) -> Sequence[Ruling]:
        """Return all that was ruled on a check, the one that stands last."""
        return [ruling for ruling in self.trail if ruling.check == check]
