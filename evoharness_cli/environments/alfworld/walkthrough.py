"""The commands that solve a generated game, known from how it was built."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .houses import House, Item, Receptacle
from .names import display_names
from .task_types import LAMP, TREATMENTS, GoalClasses


def solve(house: House, goal: GoalClasses, rng: random.Random) -> tuple[str, ...]:
    """Commands in the engine's names that reach a goal, which is one of `possible_goals` of the house.

    `rng` chooses among the objects and places that would do.
    """
    by_id = {receptacle.id: receptacle for receptacle in house.receptacles}
    names = display_names([*by_id, *(item.id for item in house.items)])
    script = _Script(names, house.start)
    items = [item for item in house.items if item.kind == goal.object_kind]
    if goal.task_type == "look_at_obj_in_light":
        item = rng.choice(items)
        lamp = next(item for item in house.items if item.kind == LAMP)
        script.take(item, by_id[item.inside])
        script.go(by_id[lamp.inside])
        script.commands.append(f"use {names[lamp.id]}")
        return tuple(script.commands)
    target = rng.choice([place for place in house.receptacles if place.kind == goal.target_kind])
    elsewhere = [item for item in items if by_id[item.inside].kind != goal.target_kind]
    for item in rng.sample(elsewhere, 2 if goal.task_type == "pick_two_obj_and_place" else 1):
        script.take(item, by_id[item.inside])
        if goal.task_type in TREATMENTS:
            verb, kind, _ = TREATMENTS[goal.task_type]
            appliance = rng.choice([place for place in house.receptacles if place.kind == kind])
            script.go(appliance)
            script.commands.append(f"{verb} {names[item.id]} with {names[appliance.id]}")
        script.move(item, target)
    return tuple(script.commands)


@dataclass
class _Script:
    """Writes down commands while it follows where the agent stands and what it has opened."""

    names: dict[str, str]
    at: str
    commands: list[str] = field(default_factory=list)
    opened: set[str] = field(default_factory=set)

    def go(self, receptacle: Receptacle) -> None:
        # Of two receptacles at one place the second is within reach already; going there is not admissible.
        if receptacle.place != self.at:
            self.commands.append(f"go to {self.names[receptacle.id]}")
            self.at = receptacle.place

    def open(self, receptacle: Receptacle) -> None:
        if receptacle.openable and receptacle.id not in self.opened:
            self.commands.append(f"open {self.names[receptacle.id]}")
            self.opened.add(receptacle.id)

    def take(self, item: Item, receptacle: Receptacle) -> None:
        self.go(receptacle)
        self.open(receptacle)
        self.commands.append(f"take {self.names[item.id]} from {self.names[receptacle.id]}")

    def move(self, item: Item, receptacle: Receptacle) -> None:
        self.go(receptacle)
        self.open(receptacle)
        self.commands.append(f"move {self.names[item.id]} to {self.names[receptacle.id]}")
