"""Reads the facts that an ALFWorld observation shows, in the current and in the older wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...harness.belief import AT, HAND, NO, SEARCHED, YES, YOU, Fact

OPEN, CLEAN, HOT, COOL, SLICED, ON = "open", "clean", "hot", "cool", "sliced", "on"
"""The properties of places and things."""

_NAME = r"([a-z][\w ]*? \d+)"
_ITEM = re.compile(rf"\ban? {_NAME}(?=[,.]|$)")
_ROOM = re.compile(r"you are in the middle of a room\. looking quickly around you, you see (.*)", re.DOTALL)
_SURFACE = re.compile(rf"\b(?:on|in) the {_NAME}, you see ([^.]*)")
_INSIDE = re.compile(rf"\bthe {_NAME} is open\. in it, you see ([^.]*)")
_CARRIED = re.compile(r"\byou are carrying: ([^.]*)")
_LOOK = re.compile(rf"\bthis is an? ((?:(?:hot|cool|cold|clean|sliced|and) )+){_NAME}\.")


def _property(name: str, value: str = YES) -> Callable[[re.Match[str]], list[Fact]]:
    return lambda match: [Fact(match[1], name, value)]


def _swap(name: str, opposite: str) -> Callable[[re.Match[str]], list[Fact]]:
    return lambda match: [Fact(match[1], name, YES), Fact(match[1], opposite, NO)]


_SENTENCES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[Fact]]], ...] = tuple(
    (re.compile(pattern), facts)
    for pattern, facts in (
        # The older wording names a location, and the place only in the sentence after it.
        (rf"\byou arrive at (?:the |loc \d+\. (?:on )?the )?{_NAME}\b", lambda match: [Fact(YOU, AT, match[1])]),
        (rf"\byou (?:pick up|take) the {_NAME} from the {_NAME}\.", lambda match: [Fact(match[1], AT, HAND)]),
        (
            rf"\byou (?:move|put) the {_NAME} (?:to|in/on|in|on) the {_NAME}\.",
            lambda match: [Fact(match[1], AT, match[2])],
        ),
        (rf"\bthe {_NAME} is open\.", _property(OPEN)),
        (rf"\bthe {_NAME} is closed\.", _property(OPEN, NO)),
        (rf"\byou close the {_NAME}\.", _property(OPEN, NO)),
        (rf"\byou clean the {_NAME} using\b", _property(CLEAN)),
        (rf"\byou heat the {_NAME} using\b", _swap(HOT, COOL)),
        (rf"\byou cool the {_NAME} using\b", _swap(COOL, HOT)),
        (rf"\byou sliced? the {_NAME} with\b", _property(SLICED)),
        (rf"\byou turn on the {_NAME}\.", _property(ON)),
        (rf"\byou turn off the {_NAME}\.", _property(ON, NO)),
        (rf"\bthis {_NAME} is on\.", _property(ON)),
        (rf"\bthis {_NAME} is off\.", _property(ON, NO)),
    )
)


def read_facts(observation: str) -> list[Fact]:
    """Return what an observation shows; nothing for one that says that nothing happened."""
    return list(_facts(observation.lower()))


def _facts(text: str) -> Iterator[Fact]:
    if room := _ROOM.search(text):
        for place in _ITEM.findall(room[1]):
            yield Fact(place, SEARCHED, NO)
        return
    for pattern, facts in _SENTENCES:
        for match in pattern.finditer(text):
            yield from facts(match)
    for pattern in (_SURFACE, _INSIDE):
        for match in pattern.finditer(text):
            yield Fact(match[1], SEARCHED, YES)
            yield from (Fact(thing, AT, match[1]) for thing in _ITEM.findall(match[2]))
    for match in _CARRIED.finditer(text):
        yield from (Fact(thing, AT, HAND) for thing in _ITEM.findall(match[1]))
    for match in _LOOK.finditer(text):
        words = match[1].replace("cold", COOL).split()
        yield from (Fact(match[2], word, YES) for word in words if word != "and")
