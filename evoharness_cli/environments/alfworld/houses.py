"""Builds one furnished room from a seed: receptacles, the objects in them and where the agent starts."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from ...harness import WrongUsage
from .contents import CONTENTS
from .rooms import (
    CAPACITY,
    FURNITURE,
    OPENABLE,
    ROOMS,
    SHARED_PLACES,
    SOMETIMES_FIXED,
)

MOST_OBJECTS = 45
_SCENES = {"kitchen": 0, "livingroom": 200, "bedroom": 300, "bathroom": 400}


class UnknownRoom(WrongUsage):
    """A kind of room that no table describes."""


@dataclass(frozen=True)
class Receptacle:
    """Something that objects lie in or on; `place` is the id of the location it is reached from."""

    id: str
    kind: str
    place: str
    openable: bool


@dataclass(frozen=True)
class Item:
    """An object; `inside` is the id of the receptacle it starts in."""

    id: str
    kind: str
    inside: str


@dataclass(frozen=True)
class House:
    """A room in the state in which every game in it starts."""

    seed: int
    room: str
    receptacles: tuple[Receptacle, ...]
    items: tuple[Item, ...]
    start: str
    """The id of the agent's first location, where there is no receptacle."""

    @property
    def scene(self) -> int:
        """The scene's number: the hundreds tell the room as official ones do, the thousands are its own."""
        return 1000 * (self.seed + 1) + _SCENES[self.room]


def make_house(seed: int, room: str | None = None) -> House:
    """Furnish a room: `kitchen`, `livingroom`, `bedroom` or `bathroom`, or one that the seed chooses.

    Raises:
        UnknownRoom: there is no such room.
        ValueError: the seed is negative.
    """
    if seed < 0:
        raise ValueError(f"A house's seed should be 0 or more, but is {seed}.")
    if room is None:
        room = random.Random(f"room {seed}").choice(ROOMS)
    if room not in FURNITURE:
        raise UnknownRoom(f"There is no room '{room}'. The rooms are: {', '.join(ROOMS)}.")
    rng = random.Random(f"house {seed} {room}")
    layout = _Layout(rng)
    receptacles = _furnish(rng, layout, room)
    items = _fill(rng, layout, room, receptacles)
    return House(seed, room, receptacles, items, layout.place())


class _Layout:
    """Hands out ids of the official pattern, each once: a class and a position in metres."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()

    def entity(self, kind: str) -> str:
        # A basin is a part of its sink or bathtub, and is named so.
        whole, part = (kind.removesuffix("Basin"), f"_bar_{kind}") if kind.endswith("Basin") else (kind, "")
        while True:
            x, z = self._rng.uniform(-3.5, 3.5), self._rng.uniform(-3.5, 3.5)
            y = self._rng.uniform(0.0, 1.9)
            identifier = f"{whole}_bar_{_metres(x)}_bar_{_metres(y)}_bar_{_metres(z)}{part}"
            if identifier not in self._taken:
                self._taken.add(identifier)
                return identifier

    def place(self) -> str:
        """A location: quarter metres along both axes, the quarter turn faced and the degrees looked down."""
        while True:
            numbers = [
                self._rng.randint(-14, 14),
                self._rng.randint(-14, 14),
                self._rng.randrange(4),
                self._rng.choice((-30, 0, 15, 30, 45, 60)),
            ]
            identifier = "loc" + "".join(f"_bar_{_signed(number)}" for number in numbers)
            if identifier not in self._taken:
                self._taken.add(identifier)
                return identifier


def _metres(value: float) -> str:
    sign = "_minus_" if value < 0 else "_plus_"
    return sign + f"{abs(value):05.2f}".replace(".", "_dot_")


def _signed(number: int) -> str:
    return f"_minus_{-number}" if number < 0 else str(number)


def _furnish(rng: random.Random, layout: _Layout, room: str) -> tuple[Receptacle, ...]:
    receptacles: list[Receptacle] = []
    shared = False
    for furniture in FURNITURE[room]:
        if rng.random() >= furniture.chance:
            continue
        for _ in range(rng.randint(furniture.least, furniture.most)):
            kind = furniture.kind
            before = receptacles[-1] if receptacles and not shared else None
            chance = SHARED_PLACES.get((before.kind, kind), 0.0) if before else 0.0
            shared = rng.random() < chance
            place = before.place if before and shared else layout.place()
            openable = kind in OPENABLE and not (kind in SOMETIMES_FIXED and rng.random() < 1 / 6)
            receptacles.append(Receptacle(layout.entity(kind), kind, place, openable))
    return tuple(receptacles)


def _fill(rng: random.Random, layout: _Layout, room: str, receptacles: tuple[Receptacle, ...]) -> tuple[Item, ...]:
    items: list[Item] = []
    held: Counter[str] = Counter()
    kinds = list(CONTENTS[room])
    rng.shuffle(kinds)
    for kind in kinds:
        content = CONTENTS[room][kind]
        if rng.random() >= content.chance:
            continue
        for _ in range(rng.randint(1, content.most)):
            spots: dict[str, list[Receptacle]] = {}
            for receptacle in receptacles:
                if receptacle.kind in content.places and held[receptacle.id] < CAPACITY.get(
                    receptacle.kind, MOST_OBJECTS
                ):
                    spots.setdefault(receptacle.kind, []).append(receptacle)
            if not spots or len(items) == MOST_OBJECTS:
                break
            weights = [content.places[place] for place in spots]
            spot = rng.choice(spots[rng.choices(list(spots), weights)[0]])
            held[spot.id] += 1
            items.append(Item(layout.entity(kind), kind, spot.id))
    return tuple(items)
