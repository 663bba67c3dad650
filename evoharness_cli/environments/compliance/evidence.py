"""When a subgoal of a review is done, as a condition over belief's facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...harness import Belief, Condition
from ...harness.belief import SEARCHED, YES

IS, QUOTES, IN_FORCE, SUPERSEDED_BY, PAGES_READ = "is", "quotes", "in force", "superseded by", "pages read"
"""The relations of this environment, besides what documents state differently."""


def evidence(subgoal: str, checks: Sequence[str]) -> Condition | None:
    """Return the condition of `open DOCUMENT`, `quote DOCUMENT`, `quote "words"`, `decide CHECK` or `escalate CHECK`.

    `checks` are the ids of the case's. None where the wording isn't known.
    """
    text = " ".join(subgoal.split())
    for pattern, condition in _WORDINGS:
        if match := pattern.fullmatch(text):
            return condition(match, checks)
    return None


def _read(match: re.Match[str], _: Sequence[str]) -> Condition:
    document = match["document"]

    def missing(belief: Belief) -> str | None:
        name = _spelt(document, belief.subjects(SEARCHED))
        if belief.value(name, SEARCHED) == YES:
            return None
        pages = belief.value(name, PAGES_READ)
        return f"of {name} you read {pages} pages" if pages else f"{name} was not opened"

    return missing


def _quoted(match: re.Match[str], _: Sequence[str]) -> Condition:
    document, words = match["document"], match["words"]

    def missing(belief: Belief) -> str | None:
        kept = [belief.value(quotation, QUOTES) or "" for quotation in belief.subjects(QUOTES)]
        for each in kept:
            source, _, said = each.partition(": ")
            if (not document or source.casefold() == document.casefold()) and (not words or words in said):
                return None
        return f"nothing {f'like {words!r} ' if words else ''}was quoted{f' from {document}' if document else ''}"

    return missing


def _ruled(match: re.Match[str], checks: Sequence[str]) -> Condition:
    check = _spelt(match["check"], checks)

    def missing(belief: Belief) -> str | None:
        if check not in checks:
            return f"there is no check {check}"
        return None if belief.value(check, IS) else f"{check} is still open"

    return missing


_WORDINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Sequence[str]], Condition]], ...] = (
    (re.compile(r"(?:open|read|review) (?:the )?(?P<document>.+)", re.IGNORECASE), _read),
    (re.compile(r'(?i:quote)(?: (?P<document>[^"]+?))?(?: "(?P<words>.+)")?'), _quoted),
    (re.compile(r"(?:decide|escalate|settle) (?:the check )?(?P<check>\S+)", re.IGNORECASE), _ruled),
)


def _spelt(name: str, known: Sequence[str]) -> str:
    """Return the known name that differs in capitals only, else the name itself."""
    return next((each for each in known if each.casefold() == name.casefold()), name)
