"""A depot of lockers as an environment of evoharness: find a parcel and hand it over at the counter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evoharness_cli.environments import Finding
from evoharness_cli.harness import Belief, Brief, Condition, Fact, Observation, WrongUsage
from evoharness_cli.harness.belief import AT, HAND, NO, SEARCHED, YES

_ACTION = re.compile(r"(open|take|hand over) ((?:locker|parcel) \d+)")


class ParcelNeeds(BaseModel):
    """What a task file says below `environment`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lockers: int = Field(4, ge=1, le=99)
    seed: int = 0
    """Decides which parcel is in which locker, and which of them is wanted."""


class ParcelEnvironment:
    """One task in one depot. Each locker holds one parcel, which is seen once it is opened."""

    instructions = "You work in a depot. Each locker holds one parcel. You can carry one parcel."
    forms = ("open {locker}", "take {parcel}", "hand over {parcel}")
    example = "open locker 1"

    def __init__(self, needs: ParcelNeeds, goal: str | None) -> None:
        random = Random(needs.seed)
        numbers = list(range(1, needs.lockers + 1))
        random.shuffle(numbers)
        self._inside = {f"locker {place}": f"parcel {parcel}" for place, parcel in enumerate(numbers, 1)}
        self._wanted = f"parcel {random.choice(numbers)}"
        self._opened: list[str] = []
        self._held: str | None = None
        self._facts: list[Fact] = []
        self.brief = Brief(
            goal=goal or f"hand over {self._wanted} at the counter",
            kind="hand over a parcel",
            world=f"depot-{needs.lockers}-{needs.seed}",
        )

    def reset(self) -> Observation:
        """Show the lockers; none of them was looked into."""
        self._facts = [Fact(locker, SEARCHED, NO) for locker in self._inside]
        return Observation(f"You are in a depot. You see {', '.join(self._inside)}. They are closed.")

    def read(self, action: str) -> str | None:
        """Return the action in lower case and single spaces where it is one of the forms."""
        words = " ".join(action.lower().split()).rstrip(".")
        return words if _ACTION.fullmatch(words) else None

    def step(self, action: str) -> Observation:
        """Play an action; one that isn't possible changes nothing."""
        self._facts = []
        match = _ACTION.fullmatch(action)
        if match is None or action not in self.admissible():
            return Observation("That is not possible.")
        verb, thing = match.groups()
        if verb == "open":
            self._opened.append(thing)
            parcel = self._inside[thing]
            self._facts = [Fact(thing, SEARCHED, YES), Fact(parcel, AT, thing)]
            return Observation(f"You open {thing}. In it is {parcel}.")
        if verb == "take":
            self._held = thing
            self._facts = [Fact(thing, AT, HAND)]
            return Observation(f"You take {thing}.")
        self._facts = [Fact(thing, AT, "counter")]
        won = thing == self._wanted
        said = "Thank you." if won else "That is the wrong parcel, and it is gone."
        return Observation(f"You hand over {thing}. {said}", done=True, success=won)

    def admissible(self) -> Sequence[str]:
        """Return what is possible now."""
        closed = [f"open {locker}" for locker in self._inside if locker not in self._opened]
        if self._held:
            return [*closed, f"hand over {self._held}"]
        return [*closed, *(f"take {self._inside[locker]}" for locker in self._opened)]

    def facts(self) -> Sequence[Fact]:
        """Return what the latest observation showed."""
        return self._facts

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the lockers, and the parcels that were seen."""
        return {"locker": list(self._inside), "parcel": [self._inside[locker] for locker in self._opened]}

    def evidence(self, subgoal: str) -> Condition | None:
        """Return when `find parcel 2` or `take parcel 2` is done; of other subgoals the agent's word counts."""
        verb, _, parcel = subgoal.lower().partition(" ")
        if verb not in ("find", "take"):
            return None

        def missing(belief: Belief) -> str | None:
            place = belief.value(parcel, AT)
            if verb == "find":
                return None if place else f"{parcel} was not seen"
            return None if place == HAND else f"you don't hold {parcel}"

        return missing

    def close(self) -> None:
        """Do nothing: nothing is held."""


class ParcelAdapter:
    """Opens depots."""

    needs = ParcelNeeds

    def locate(self, place: str) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return the depot of a seed, as in `evoharness run parcels:7`."""
        if not place.isdigit():
            raise WrongUsage(f"Expected parcels:SEED with a number, found parcels:{place}.")
        return [(f"depot-{place}", {"seed": int(place)})]

    def recognise(self, path: Path) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return nothing: depots have no files of their own."""
        del path
        return []

    def open(self, needs: BaseModel, goal: str | None) -> ParcelEnvironment:
        """Return the environment of one task."""
        assert isinstance(needs, ParcelNeeds)
        return ParcelEnvironment(needs, goal)

    def examine(self) -> Iterator[Finding]:
        """Tell `evoharness doctor` that there is nothing that could be missing."""
        yield Finding("parcels", "ready")

    def close(self) -> None:
        """Do nothing: the depots share nothing."""
