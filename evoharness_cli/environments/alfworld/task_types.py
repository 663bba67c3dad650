"""The goals that a house allows: the six official task types, worded and sorted out for one room."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...harness import WrongUsage
from .houses import House
from .problem import GOALS
from .rooms import (
    CAN_CONTAIN,
    CLEANABLE,
    COOLABLE,
    FIXTURES,
    HEATABLE,
    ROOMS,
)

TASK_TYPES = tuple(GOALS)
ROOMS_OF_TASK = {
    "pick_and_place_simple": ROOMS,
    "look_at_obj_in_light": ("livingroom", "bedroom"),
    "pick_clean_then_place_in_recep": ("kitchen", "bathroom"),
    "pick_heat_then_place_in_recep": ("kitchen",),
    "pick_cool_then_place_in_recep": ("kitchen",),
    "pick_two_obj_and_place": ROOMS,
}
"""The rooms that a task of each type is generated in."""

LAMP = "DeskLamp"
TREATMENTS = {
    "pick_clean_then_place_in_recep": ("clean", "SinkBasin", CLEANABLE),
    "pick_heat_then_place_in_recep": ("heat", "Microwave", HEATABLE),
    "pick_cool_then_place_in_recep": ("cool", "Fridge", COOLABLE),
}
"""Per treating task type: the verb, the appliance and the objects that it works on."""

# No official goal names these.
_NEVER_A_GOAL = frozenset({"SinkBasin", "BathtubBasin", "HandTowelHolder", "TowelHolder", "LaundryHamper", "TVStand"})
_HOLDS_ONE = frozenset({"CoffeeMachine", "StoveBurner", "ToiletPaperHanger"})
SENTENCES = {
    "pick_and_place_simple": ("put some {0} on {1}.", "put a {0} in {1}."),
    "look_at_obj_in_light": ("look at {0} under the {1}.", "examine the {0} with the {1}."),
    "pick_clean_then_place_in_recep": ("clean some {0} and put it in {1}.", "put a clean {0} in {1}."),
    "pick_heat_then_place_in_recep": ("heat some {0} and put it in {1}.", "put a hot {0} in {1}."),
    "pick_cool_then_place_in_recep": ("cool some {0} and put it in {1}.", "put a cool {0} in {1}."),
    "pick_two_obj_and_place": ("put two {0} in {1}.", "find two {0} and put them in {1}."),
}
"""The official wordings of each task type, from which one is drawn."""


class CannotGenerate(WrongUsage):
    """A game that was asked for and that no house can hold, or that cannot be written."""


@dataclass(frozen=True)
class GoalClasses:
    """What a game asks for, in classes of objects and receptacles."""

    task_type: str
    object_kind: str
    """The class of the object, as `Apple`."""
    target_kind: str
    """The class of the receptacle that it goes to, or of the lamp that it is looked at under."""


def possible_goals(house: House, task_type: str) -> list[GoalClasses]:
    """Every goal of a type that a house allows and that is not reached from the start, sorted by classes.

    Raises:
        CannotGenerate: there is no such task type.
    """
    check_task_type(task_type)
    inside = {receptacle.id: receptacle.kind for receptacle in house.receptacles}
    kinds = set(inside.values())
    objects = sorted({item.kind for item in house.items if item.kind not in FIXTURES})
    if task_type == "look_at_obj_in_light":
        has_lamp = any(item.kind == LAMP for item in house.items)
        return [GoalClasses(task_type, kind, LAMP) for kind in objects] if has_lamp else []
    excluded = set(_NEVER_A_GOAL)
    if task_type in TREATMENTS:
        _, appliance, treatable = TREATMENTS[task_type]
        if appliance not in kinds:
            return []
        excluded.add(appliance)
        objects = [kind for kind in objects if kind in treatable]
    if task_type == "pick_two_obj_and_place":
        excluded |= _HOLDS_ONE
    needed = 2 if task_type == "pick_two_obj_and_place" else 1
    goals: list[GoalClasses] = []
    for kind in objects:
        starts = Counter(inside[item.inside] for item in house.items if item.kind == kind)
        for target in sorted(kinds - excluded):
            elsewhere = starts.total() - starts[target]
            # Untreated objects may lie at the target; without a treatment they would have reached the goal.
            untouched = task_type in TREATMENTS or not starts[target]
            if kind in CAN_CONTAIN[target] and elsewhere >= needed and untouched:
                goals.append(GoalClasses(task_type, kind, target))
    return goals


def check_task_type(task_type: str) -> None:
    """Raises `CannotGenerate` where there is no such task type."""
    if task_type not in GOALS:
        raise CannotGenerate(f"There is no task type '{task_type}'. The types are: {', '.join(TASK_TYPES)}.")
