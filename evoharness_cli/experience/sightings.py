"""What an episode's observations show about where things are at first, and so of the claims about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..harness.belief import AT, HAND, SEARCHED, YES, YOU, Known, kind_of
from .slots import Slots, covers


@dataclass(frozen=True)
class Sighting:
    """Where a thing was when the episode first saw it."""

    thing: str
    place: str
    step: int

    def __str__(self) -> str:
        return f"{self.thing} {AT} {self.place}"


@dataclass(frozen=True)
class Evidence:
    """First sightings by thing, and the step of each place's first search, None while it was not searched."""

    sightings: dict[str, Sighting]
    searches: dict[str, int | None]


@dataclass(frozen=True)
class Verdict:
    """What an episode says about a claim, and what it saw."""

    confirmed: bool
    step: int
    saw: str


def read_evidence(history: Sequence[Known]) -> Evidence:
    """Read a belief's history, which holds what was observed.

    A thing whose first appearance is in the agent's hand was moved before it was seen, and isn't sighted.
    """
    first: dict[str, Sighting] = {}
    searches: dict[str, int | None] = {}
    for known in history:
        fact = known.fact
        if fact.relation == AT and fact.subject != YOU:
            first.setdefault(fact.subject, Sighting(fact.subject, fact.object, known.step))
        elif fact.relation == SEARCHED and searches.setdefault(fact.subject, None) is None and fact.object == YES:
            searches[fact.subject] = known.step
    return Evidence({thing: seen for thing, seen in first.items() if seen.place != HAND}, searches)


def judge(claim: Slots, evidence: Evidence, after: int) -> Verdict | None:
    """Return what observations later than step `after` say about a claim; None where they don't test it.

    Confirmed: a thing of that name was first seen there. Contradicted: it was first seen elsewhere, or the
    place was searched and it wasn't there. Only first sightings count, for later ones may be the agent's own
    doing. Where the claim names a type and the episode saw several of it, one of them elsewhere says nothing
    of the others; where it names a type of place, every known place of that type has to be searched in vain.
    """
    things = [seen for name, seen in evidence.sightings.items() if covers(claim.subject, name)]
    there = [seen for seen in things if covers(claim.object, seen.place)]
    for seen in there:
        if seen.step > after:
            return Verdict(True, seen.step, str(seen))
    if there:
        return None
    elsewhere = [seen for seen in things if seen.step > after]
    if elsewhere and len(things) == 1:
        return Verdict(False, elsewhere[0].step, str(elsewhere[0]))
    places = {place: step for place, step in evidence.searches.items() if covers(claim.object, place)}
    steps = [step for step in places.values() if step is not None]
    if steps and len(steps) == len(places) and max(steps) > after:
        names = ", ".join(places)
        return Verdict(False, max(steps), f"no {claim.subject} {AT} {names}")
    return None


def findings(evidence: Evidence) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """Return how often each type of place was searched, and each type of thing found in the search of each.

    A place counts once, at its first search; things of one type in it count once, so that found never exceeds
    searched. Only what was first seen in that very step was there by itself.
    """
    searched: dict[str, int] = {}
    found: dict[tuple[str, str], int] = {}
    for place, step in evidence.searches.items():
        if step is None:
            continue
        kind = kind_of(place).lower()
        searched[kind] = searched.get(kind, 0) + 1
        things = {
            kind_of(seen.thing).lower()
            for seen in evidence.sightings.values()
            if (seen.place, seen.step) == (place, step)
        }
        for thing in things:
            found[thing, kind] = found.get((thing, kind), 0) + 1
    return searched, found
