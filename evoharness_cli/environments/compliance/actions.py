"""The actions of a review as they are worded, before it is known whether what they name exists."""

from __future__ import annotations

import re
from dataclasses import dataclass

FORMS = (
    "list",
    "open {document}",
    "open {document} {page}",
    "search {text}",
    'quote {document} "{words}"',
    "decide {check} {decision} {rule} {quotations}",
    "escalate {check} {reason}",
    "submit",
)

_OPEN = re.compile(r"(?i:open) (?P<document>.+)")
_SEARCH = re.compile(r'(?i:search) "?(?P<text>.+?)"?')
_QUOTE = re.compile(r'(?i:quote) (?P<document>.+?) "(?P<words>.+)"')
_DECIDE = re.compile(r"(?i:decide) (?P<check>\S+)(?P<rest>(?: \S+)*)")
_ESCALATE = re.compile(r"(?i:escalate) (?P<check>\S+) (?P<reason>.+)")


@dataclass(frozen=True)
class List:
    """Shows the checks, the documents and what was quoted."""


@dataclass(frozen=True)
class Open:
    """Shows a document, or one page of it: `document` may end in the page's number."""

    document: str


@dataclass(frozen=True)
class Search:
    """Finds the lines that hold all words of a text."""

    text: str


@dataclass(frozen=True)
class Quote:
    """Keeps words of a document as evidence."""

    document: str
    words: str


@dataclass(frozen=True)
class Decide:
    """Decides a check; `words` are the decision, the rule and the quotations, as far as they were given."""

    check: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Escalate:
    """Hands a check on to a person."""

    check: str
    reason: str


@dataclass(frozen=True)
class Submit:
    """Ends the review."""


Action = List | Open | Search | Quote | Decide | Escalate | Submit


def read_action(text: str) -> Action | None:
    """Read an action on one line with single blanks; None where it is worded as none."""
    if text.lower() == "list":
        return List()
    if text.lower() == "submit":
        return Submit()
    if match := _OPEN.fullmatch(text):
        return Open(match["document"])
    if match := _SEARCH.fullmatch(text):
        return Search(match["text"])
    if match := _QUOTE.fullmatch(text):
        return Quote(match["document"], match["words"])
    if match := _DECIDE.fullmatch(text):
        return Decide(match["check"], tuple(match["rest"].replace(",", " ").split()))
    if match := _ESCALATE.fullmatch(text):
        return Escalate(match["check"], match["reason"])
    return None
