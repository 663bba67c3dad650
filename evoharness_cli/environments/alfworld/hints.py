"""Where to look for a thing first: what a recall said, then what houses are usually like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...harness.belief import kind_of
from .contents import CONTENTS
from .rooms import CAN_CONTAIN, OPENABLE

_HERE = re.compile(r"^(?P<thing>.+) here: (?P<places>.+)$")
_COUNTS = re.compile(r"^places for (?P<thing>.+): (?P<counts>.+)$")
_COUNT = re.compile(r"(?P<place>.+?) (?P<found>\d+) of (?P<searched>\d+)(?: \(imported\))?")
_CLAIM = re.compile(
    r'^\[\d+\] \w+: "(?:in this house,? )?(?:the )?(?P<thing>[a-z]+)(?: \d+)? is '
    r"(?:in|on|at|in/on) (?P<place>[a-z]+ \d+)"
)
_ROOMS = {"bed": "bedroom", "toilet": "bathroom", "fridge": "kitchen", "microwave": "kitchen"}
_UNLIKELY = 0.1
"""The weight, beside those of `CONTENTS`, of a place that such a thing fits in but was hardly ever found in."""
_OPENABLE = frozenset(map(str.lower, OPENABLE))
_USUAL = 3
"""Searches that what is usual counts as: so what was counted soon outweighs it."""
_COST = {True: 2, False: 1}
"""Steps that it takes to look into a place, by whether it has to be opened."""


@dataclass(frozen=True)
class Hints:
    """What a recall said of where one type of thing is."""

    here: tuple[str, ...] = ()
    """The places in this house, likeliest first."""
    counts: tuple[tuple[str, int, int], ...] = ()
    """Types of places, likeliest first: in how many of how many searches it was found there."""


def read_hints(answer: str, thing: str) -> Hints:
    """Read the answer to `recall [thing]`."""
    here: dict[str, None] = {}
    counts: list[tuple[str, int, int]] = []
    for line in answer.lower().splitlines():
        if (known := _HERE.match(line)) and known["thing"] == thing:
            here.update(dict.fromkeys(known["places"].split(", ")))
        elif (known := _COUNTS.match(line)) and known["thing"] == thing:
            for each in known["counts"].split(", "):
                if count := _COUNT.fullmatch(each):
                    counts.append((count["place"], int(count["found"]), int(count["searched"])))
        elif (known := _CLAIM.match(line)) and known["thing"] == thing:
            here[known["place"]] = None
    return Hints(tuple(here), tuple(counts))


def in_order(thing: str, places: Sequence[str], hints: Hints) -> list[str]:
    """Return the places of a house in the order in which to look for a thing.

    First those that a recall named, then the others by the chance that the thing is there, for each step that looking
    takes. The chance is the mean of a Beta posterior: what is usual weighs as much as a few searches, and what a recall
    counted is added.
    """
    first = [place for place in hints.here if place in places]
    usual = _usual(thing, places)
    counted = {kind: (found, searched) for kind, found, searched in hints.counts}

    def order(place: str) -> tuple[float, str, int]:
        kind = kind_of(place)
        found, searched = counted.get(kind, (0, 0))
        chance = (found + _USUAL * usual[kind]) / (searched + _USUAL)
        return (-chance / _COST[kind in _OPENABLE], kind, _number(place))

    return [*first, *sorted((place for place in places if place not in first), key=order)]


def _usual(thing: str, places: Sequence[str]) -> dict[str, float]:
    """Return for each type of place of a house the usual chance that one of them holds the thing."""
    kinds = Counter(map(kind_of, places))
    room = next((_ROOMS[kind] for kind in _ROOMS if kind in kinds), "livingroom")
    # What this kind of room hasn't in general is looked for as in other rooms.
    known = [
        each
        for contents in (CONTENTS[room], *CONTENTS.values())
        for name, each in contents.items()
        if name.lower() == thing
    ]
    weights = {name.lower(): weight for name, weight in known[0].places.items()} if known else {}
    fits = {name.lower() for name, things in CAN_CONTAIN.items() if thing in map(str.lower, things)}
    weight = {kind: weights.get(kind, _UNLIKELY if kind in fits else 0.0) for kind in kinds}
    # A room that has such a thing has some one and a half of them.
    share = 1.5 / (sum(weight.values()) or 1.0)
    return {kind: min(0.9, share * weight[kind] / count) for kind, count in kinds.items()}


def _number(place: str) -> int:
    return int(place.rpartition(" ")[2])
