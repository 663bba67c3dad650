"""Reads an ALFWorld task sentence: which thing, in what condition, goes where, and how many of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .facts import CLEAN, COOL, HOT

_STATES = {
    "clean": CLEAN, "wash": CLEAN, "rinse": CLEAN,
    "heat": HOT, "hot": HOT, "warm": HOT, "cook": HOT,
    "cool": COOL, "cold": COOL, "chill": COOL,
}  # fmt: skip
_ARTICLE = r"(?:(?:some|an?|the|two) )?"
_THING, _PLACE = r"(?P<thing>[\w ]+?)", r"(?:in|on|in/on) (?:the )?(?P<place>[\w ]+)"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?P<state>clean|heat|cool) {_ARTICLE}{_THING} and put (?:it|them) {_PLACE}",
        rf"(?:find|put) (?P<two>two) {_THING} (?:and put them )?{_PLACE}",
        rf"put {_ARTICLE}(?:(?P<state>clean|hot|cool) )?{_THING} {_PLACE}",
        rf"(?:look at|examine) {_ARTICLE}{_THING} (?:under|with) (?:the )?(?P<lamp>[\w ]+)",
    )
)


@dataclass(frozen=True)
class Goal:
    """What has to be so at the end. `lamp` is set where a thing is looked at under one; else `place` is."""

    thing: str
    place: str = ""
    lamp: str = ""
    state: str = ""
    count: int = 1


def read_goal(sentence: str) -> Goal | None:
    """Return the goal of one of the official wordings, or None for any other sentence."""
    text = sentence.strip().lower().rstrip(".")
    for pattern in _PATTERNS:
        if match := pattern.fullmatch(text):
            found = {key: value for key, value in match.groupdict().items() if value}
            return Goal(
                thing=found["thing"],
                place=found.get("place", ""),
                lamp=found.get("lamp", ""),
                state=state_of(found.get("state", "")),
                count=2 if "two" in found else 1,
            )
    return None


def state_of(word: str) -> str:
    """Return the property that a word such as `heat` or `hot` stands for, or an empty string."""
    return _STATES.get(word, "")
