"""Writes a house and a goal as the PDDL problem of an ALFWorld game."""

from __future__ import annotations

from .houses import House
from .rooms import (
    CAN_CONTAIN,
    CLEANABLE,
    COOLABLE,
    FIXTURES,
    HEATABLE,
    HOLLOW,
    SLICEABLE,
    TOGGLEABLE,
)

# The domain's actions name these as constants, so every problem has to declare them.
_DOMAIN_OBJECT_KINDS = ("Knife", "ButterKnife")
_DOMAIN_RECEPTACLE_KINDS = ("Microwave", "Fridge", "SinkBasin")

_PLACE_GOAL = """\
(:goal
    (and
        (exists (?r - receptacle)
            (exists (?o - object)
                (and
                    (inReceptacle ?o ?r)
                    (objectType ?o {object}Type)
                    (receptacleType ?r {target}Type)
                )
            )
        )
    )
)"""
_TREAT_GOAL = """\
(:goal
    (and
        (exists (?r - receptacle)
            (exists (?o - object)
                (and
                    ({able} ?o)
                    (objectType ?o {object}Type)
                    (receptacleType ?r {target}Type)
                    ({state} ?o)
                    (inReceptacle ?o ?r)
                )
            )
        )
    )
)"""
_LOOK_GOAL = """\
(:goal
    (and
        (exists (?ot - object
                 ?r - receptacle
                 ?a - agent
                 ?l - location)
            (and
                (objectType ?ot {target}Type)
                (toggleable ?ot)
                (isToggled ?ot)
                (receptacleAtLocation ?r ?l)
                (atLocation ?a ?l)
                (inReceptacle ?ot ?r)
            )
        )
        (exists (?o - object
                 ?a - agent)
            (and
                (objectType ?o {object}Type)
                (holds ?a ?o)
            )
        )
    )
)"""
_TWO_GOAL = """\
(:goal
    (and
        (exists (?r - receptacle)
            (exists (?o1 - object)
                (and
                    (objectType ?o1 {object}Type)
                    (receptacleType ?r {target}Type)
                    (inReceptacle ?o1 ?r)
                    (exists (?o2 - object)
                        (and
                            (not (= ?o1 ?o2))
                            (objectType ?o2 {object}Type)
                            (receptacleType ?r {target}Type)
                            (inReceptacle ?o2 ?r)
                        )
                    )
                )
            )
        )
    )
)"""
GOALS = {
    "pick_and_place_simple": _PLACE_GOAL,
    "look_at_obj_in_light": _LOOK_GOAL,
    "pick_clean_then_place_in_recep": _TREAT_GOAL.replace("{able}", "cleanable").replace("{state}", "isClean"),
    "pick_heat_then_place_in_recep": _TREAT_GOAL.replace("{able}", "heatable").replace("{state}", "isHot"),
    "pick_cool_then_place_in_recep": _TREAT_GOAL.replace("{able}", "coolable").replace("{state}", "isCool"),
    "pick_two_obj_and_place": _TWO_GOAL,
}
"""The goal of each official task type; `{object}` and `{target}` (a receptacle or the lamp) are left open."""

_PROPERTIES = (
    ("isReceptacleObject", HOLLOW),
    ("cleanable", CLEANABLE),
    ("heatable", HEATABLE),
    ("coolable", COOLABLE),
    ("toggleable", TOGGLEABLE),
    ("sliceable", SLICEABLE),
)


def initial_facts(house: House) -> list[str]:
    """The facts in which every game of a house starts; they depend on nothing but the house."""
    items, receptacles = house.items, house.receptacles
    place = {receptacle.id: receptacle.place for receptacle in receptacles}
    object_kinds = sorted({item.kind for item in items})
    facts = [f"receptacleType {receptacle.id} {receptacle.kind}Type" for receptacle in receptacles]
    facts += [f"objectType {item.id} {item.kind}Type" for item in items]
    facts += [
        f"canContain {kind}Type {content}Type"
        for kind in sorted({receptacle.kind for receptacle in receptacles})
        for content in object_kinds
        if content in CAN_CONTAIN[kind]
    ]
    facts += [f"pickupable {item.id}" for item in items if item.kind not in FIXTURES]
    facts += [f"{name} {item.id}" for name, kinds in _PROPERTIES for item in items if item.kind in kinds]
    facts += [f"openable {receptacle.id}" for receptacle in receptacles if receptacle.openable]
    facts.append(f"atLocation agent1 {house.start}")
    facts += [f"inReceptacle {item.id} {item.inside}" for item in items]
    facts += [f"receptacleAtLocation {receptacle.id} {receptacle.place}" for receptacle in receptacles]
    facts += [f"objectAtLocation {item.id} {place[item.inside]}" for item in items]
    return [f"({fact})" for fact in facts]


def problem_text(name: str, house: House, goal: str) -> str:
    """The whole problem: declarations, initial facts and the given `(:goal ...)`."""
    declared = [("agent1", "agent")]
    declared += [
        (f"{kind}Type", "otype") for kind in sorted({*_DOMAIN_OBJECT_KINDS, *(item.kind for item in house.items)})
    ]
    declared += [
        (f"{kind}Type", "rtype")
        for kind in sorted({*_DOMAIN_RECEPTACLE_KINDS, *(place.kind for place in house.receptacles)})
    ]
    declared += [(item.id, "object") for item in house.items]
    declared += [(receptacle.id, "receptacle") for receptacle in house.receptacles]
    places = sorted({house.start, *(receptacle.place for receptacle in house.receptacles)})
    declared += [(place, "location") for place in places]
    objects = "\n".join(f"    {identifier} - {kind}" for identifier, kind in declared)
    facts = "\n".join(f"    {fact}" for fact in initial_facts(house))
    return f"(define (problem plan_{name})\n(:domain alfred)\n(:objects\n{objects}\n)\n(:init\n{facts}\n)\n{goal}\n)\n"
