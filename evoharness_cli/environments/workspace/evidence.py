"""When a subgoal of a software task is done, as a condition over belief's facts."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...harness import Belief, Condition
from ...harness.belief import AT, SEARCHED
from .results import is_called

IS = "is"
"""The relation of a test, or of a file, to what became of it."""
PASSED, FAILED, CHANGED, UNCHANGED = "passed", "failed", "changed", "unchanged"
CHECKS = "the check"
"""The subject of what all checks together came to."""


def evidence(subgoal: str) -> Condition | None:
    """Return the condition of a subgoal such as `read shop/cart.py`, `change cart.py`, `pass test_total`.

    A file may be named without its folders, a test without its class. None where the wording isn't known.
    """
    text = " ".join(subgoal.split()).rstrip(".").strip("`")
    for pattern, condition in _WORDINGS:
        if match := pattern.fullmatch(text):
            return condition(match["what"].strip("`'\"") if "what" in match.groupdict() else "")
    return None


def _read(file: str) -> Condition:
    def missing(belief: Belief) -> str | None:
        if any(_is_file(seen, file) and belief.holds(seen, SEARCHED) for seen in belief.subjects(SEARCHED)):
            return None
        return f"{file} was not read"

    return missing


def _changed(file: str) -> Condition:
    def missing(belief: Belief) -> str | None:
        return None if any(_is_file(seen, file) for seen in belief.subjects(IS, CHANGED)) else f"{file} is not changed"

    return missing


def _found(name: str) -> Condition:
    def missing(belief: Belief) -> str | None:
        seen = [*belief.subjects(AT), *belief.subjects(SEARCHED)]
        return None if any(is_called(each, name) or _is_file(each, name) for each in seen) else f"{name} was not seen"

    return missing


def _passing(test: str) -> Condition:
    def missing(belief: Belief) -> str | None:
        known = [subject for subject in belief.subjects(IS) if is_called(subject, test)]
        states = {subject: belief.value(subject, IS) for subject in known}
        if not states:
            return f"no check has reported {test}"
        failed = [subject for subject, state in states.items() if state != PASSED]
        return f"{failed[0]} is {states[failed[0]]}" if failed else None

    return missing


def _all_passing(_: str) -> Condition:
    def missing(belief: Belief) -> str | None:
        state = belief.value(CHECKS, IS)
        return None if state == PASSED else f"{CHECKS} {'was not run' if state is None else f'is {state}'}"

    return missing


_WORDINGS: tuple[tuple[re.Pattern[str], Callable[[str], Condition]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), condition)
    for pattern, condition in (
        (r"(?:pass|run and pass|make|fix) (?:(?:all|the|all the) )?(?:checks?|tests?)(?: pass)?", _all_passing),
        (r"(?:pass|make|fix) (?:the test )?(?P<what>[\w.]*test\w*)(?: pass)?", _passing),
        (r"(?:read|open|look at|understand|inspect) (?P<what>\S*[./]\S*)", _read),
        (r"(?:change|edit|fix|update|write|add|create|modify) (?P<what>\S*[./]\S*)", _changed),
        (r"(?:find|locate|search for|look for) (?P<what>\S+)", _found),
    )
)


def _is_file(path: str, wanted: str) -> bool:
    return path == wanted or path.endswith(f"/{wanted}")
