"""What an agent has seen of a house, read from observations as the harness reads them."""

from __future__ import annotations

from collections.abc import Collection

from ...harness import Belief
from ...harness.belief import AT, HAND, NO, SEARCHED, YES, YOU, kind_of
from .facts import OPEN, read_facts


class Seen:
    """A belief of one's own, and what the teacher asks of it. Names are those that observations show."""

    def __init__(self) -> None:
        self.belief = Belief()
        self._shown = 0

    def absorb(self, observation: str) -> None:
        """Take in an observation."""
        facts = read_facts(observation)
        is_listing = any(fact.relation == SEARCHED for fact in facts)
        held = self.held()
        # Some games put one thing in two receptacles at once; what was taken from one is still listed in the other.
        kept = [fact for fact in facts if not (is_listing and fact.relation == AT and fact.subject in held)]
        self.belief.absorb(kept, self._shown)
        self._shown += 1

    def at(self) -> str:
        """Return the place at hand, empty before any was gone to."""
        return self.belief.value(YOU, AT) or ""

    def held(self) -> list[str]:
        """Return what is in the hand."""
        return self.belief.subjects(AT, HAND)

    def holding(self, kind: str | None = None) -> str:
        """Return the one thing in the hand, or an empty string where it is empty or holds another type."""
        return next((name for name in self.held() if kind in (None, kind_of(name))), "")

    def taken_from(self, thing: str) -> str:
        """Return where a thing was before it was last taken, empty where that wasn't seen."""
        known = [each.fact.object for each in self.belief.history if each.fact.subject == thing]
        places = [place for place in known if place in self.places()]
        return places[-1] if places else ""

    def is_so(self, thing: str, state: str) -> bool:
        """Tell whether a thing was brought into a state."""
        return self.belief.holds(thing, state)

    def any(self, kind: str) -> bool:
        """Tell whether one of a type was seen or is in the hand."""
        return bool(self.belief.subjects(AT, kind=kind))

    def placed(self, kind: str, place_kind: str) -> list[str]:
        """Return what was seen of a type at a place of a type: at the one where most are."""
        return max((self.things(place, kind) for place in self.places(place_kind)), key=len, default=[])

    def place_of(self, thing: str) -> str:
        """Return where a thing is, empty where it wasn't seen."""
        return self.belief.value(thing, AT) or ""

    def things(self, place: str, kind: str | None = None) -> list[str]:
        """Return what was seen at a place, of one type if it is given."""
        return [name for name in self.belief.subjects(AT, place, kind) if name != YOU]

    def known(self, kind: str, besides: Collection[str] = ()) -> list[str]:
        """Return what was seen of a type and isn't in the hand, what is at the place at hand first."""
        here = self.at()
        names = [name for name in self.belief.subjects(AT, kind=kind) if name not in {*besides, *self.held()}]
        return sorted(names, key=lambda name: self.place_of(name) != here)

    def places(self, kind: str | None = None) -> list[str]:
        """Return the places of the house, of one type if it is given, in order."""
        places = [place for place in self.belief.subjects(SEARCHED) if kind in (None, kind_of(place))]
        return sorted(places, key=lambda place: (kind_of(place), int(place.rpartition(" ")[2])))

    def is_searched(self, place: str) -> bool:
        """Tell whether what is in a place was seen."""
        return self.belief.value(place, SEARCHED) == YES

    def is_closed(self, place: str) -> bool:
        """Tell whether a place was seen to be closed."""
        return self.belief.value(place, OPEN) == NO

    def can_close(self, place: str) -> bool:
        """Tell whether a place was seen to be open or closed, as those are that things lie in rather than on."""
        return self.belief.value(place, OPEN) is not None
