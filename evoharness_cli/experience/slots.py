"""Reads claims about where a thing is out of plain English: who (subject) is at what place (object)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..harness.belief import AT, HAND, YOU, kind_of

_NAME = r"[\w./-]+(?: [\w./-]+){0,3}"
_NUMBERED = r"[\w./-]+(?: [\w./-]+){0,2} \d+"
_THE = r"(?:(?:the|a|an|one|some|your|my) )?"
_IN = r"(?:in|on|at|under|inside|within|onto|in/on|on top of|inside of)"
_HERE = r"(?:(?:in|for) (?:this|the) \w+,? |here,? )?"
_OFTEN = r"(?:(?:usually|always|often|typically|generally|normally|probably|likely|initially|now|still) )*"
_KEPT = r"(?:(?:be )?(?:found|located|kept|stored|seen|lying|sitting|placed) )?"
_IS = rf"(?:is|was|can) {_OFTEN}{_KEPT}{_OFTEN}"
_CLAIM = re.compile(rf"{_HERE}{_THE}(?P<subject>{_NAME}) {_IS}{_IN} {_THE}(?P<object>{_NAME})")
_FOUND = re.compile(rf"(?:i )?(?:found|saw) {_THE}(?P<subject>{_NAME}) {_IN} {_THE}(?P<object>{_NAME})")
_BARE = re.compile(rf"{_HERE}(?P<subject>[\w./-]+ \d+) {_IN} (?P<object>[\w./-]+ \d+)")
_TRIPLE = re.compile(rf"{_THE}(?P<subject>{_NAME}) ?\| ?(?:is )?{_IN} ?\| ?{_THE}(?P<object>{_NAME})")
_COLON = re.compile(rf"{_THE}(?P<subject>{_NAME}): ?{_THE}(?P<object>{_NUMBERED})")

_FUNCTION_WORDS = """
    not never no nor and or but if when then than to of for from with without after before while until because
    that this these those which what who where it there they you i we he she one is was be are in on at
    under into first last next best only every each all any nothing something anything everything put go take
    open move
"""
_NO_NAME = frozenset(_FUNCTION_WORDS.split())
_LABEL_WORDS = "note tip hint fact insight lesson warning skill mistake remember plan task goal step rule how"
_LABELS = frozenset(_LABEL_WORDS.split())
_DENIED = re.compile(r"\b(?:not|never|no|without|cannot|neither|nor)\b|n't\b")
_THIS_WORLD = re.compile(r"\bin this (?:house|home|room|place|building|world|environment|repository|repo|project)\b")


@dataclass(frozen=True)
class Slots:
    """A claim: `subject` stands in `relation` to `object`; names without a number mean any of that type."""

    subject: str
    relation: str
    object: str


def read_slots(text: str) -> Slots | None:
    """Read where a thing is said to be; None where the text says something else, or denies it."""
    plain = " ".join(text.lower().split()).rstrip(".! ")
    if _DENIED.search(plain):
        return None
    for form in (_TRIPLE, _COLON, _FOUND, _BARE, _CLAIM):
        if match := form.fullmatch(plain):
            subject, place = match["subject"], match["object"]
            if _is_name(subject) and _is_name(place) and subject not in _LABELS and place != HAND:
                return Slots(subject, AT, place)
    return None


def about_this_world(text: str) -> bool:
    """Tell whether a text says that it holds in the world at hand only."""
    return _THIS_WORLD.search(" ".join(text.lower().split())) is not None


def agree(one: str, other: str) -> bool:
    """Tell whether two names may mean the same thing: equal, or one only lacks the number."""
    return one == other or one == kind_of(other) or other == kind_of(one)


def covers(name: str, thing: str) -> bool:
    """Tell whether a name in a claim covers a thing: `kettle` any kettle, `kettle 1` that one."""
    return name in (thing.lower(), kind_of(thing.lower()))


def _is_name(name: str) -> bool:
    words = name.split()
    return not _NO_NAME.intersection(words) and not words[0].isdigit() and name != YOU
