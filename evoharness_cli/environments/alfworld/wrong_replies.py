"""What a teacher could do wrong at a point of an episode, as the house stands that it has seen."""

from __future__ import annotations

from difflib import get_close_matches

from ...harness.belief import kind_of
from .mistakes import Mistake, Mistakes
from .rooms import FIXTURES
from .seen import Seen

ROUND = "searched before"
"""The kind of mistake of looking where was looked before."""
WRONG = "wrong thing"
"""The kind of mistake of taking another thing than the task asks for."""
_FIXED = frozenset(each.lower() for each in FIXTURES)


class WrongReplies:
    """The mistakes that are possible. `lamp` is the type of the lamp that the task needs, empty where it needs none."""

    def __init__(self, seen: Seen, mistakes: Mistakes) -> None:
        self._seen, self._mistakes = seen, mistakes
        self.lamp = ""

    def takes(self, name: str, place: str) -> list[Mistake]:
        """Return what can go wrong before a thing is taken from a place."""
        kind = kind_of(name)
        others = [each for each in self._seen.things(place) if kind_of(each) not in (kind, *_FIXED)]
        wrong = [Mistake("no such thing", f"take {kind} {len(self._seen.known(kind)) + 3} from {place}")]
        wrong.append(Mistake("unreadable", f"take {name}", 0.3))
        if self.lamp and (lamps := self._seen.things(place, self.lamp)):
            wrong.append(Mistake("empty-handed", f"use {lamps[0]}", 3.0))
        if others:
            # What is called alike is what a small model takes for it.
            alike = get_close_matches(kind, map(kind_of, others), n=1)
            other = next((each for each in others if kind_of(each) in alike), self._mistakes.pick(others))
            wrong.append(Mistake(WRONG, f"take {other} from {place}", 4.0 if alike else 1.5))
        return wrong

    def put_downs(self, put: str) -> list[Mistake]:
        """Return what can go wrong while a thing is carried; `put` puts it to a place, `{}`."""
        here = self._seen.at()
        closed = self._seen.is_closed(here)
        return [Mistake("put down", put.format(here), 1.5)] if here and not closed else []

    def searches(self, place: str, thing: str) -> list[Mistake]:
        """Return what can go wrong before a place is gone to, to look for a type of thing."""
        here, held = self._seen.at(), self._seen.holding()
        searched = [each for each in self._seen.places() if self._seen.is_searched(each) and each != here]
        wrong = [Mistake("no such place", f"go to {self._absent()}", 2.0)]
        wrong += [Mistake(ROUND, f"go to {self._mistakes.pick(searched)}", 8.0)] if len(searched) > 1 else []
        wrong += [Mistake("already there", f"go to {here}")] if here else []
        unseen = f"use {thing} 1" if thing == self.lamp else f"take {thing} 1 from {place}"
        wrong.append(Mistake("not seen", unseen))
        if self.lamp and not held and (lamps := self._seen.things(here, self.lamp)):
            wrong.append(Mistake("empty-handed", f"use {lamps[0]}", 6.0))
        return wrong

    def _absent(self) -> str:
        """Return a place that isn't there: one more than there are of a type."""
        kind = self._mistakes.pick(sorted({kind_of(place) for place in self._seen.places()}))
        return f"{kind} {len(self._seen.places(kind)) + int(self._mistakes.pick('123'))}"
