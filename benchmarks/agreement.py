"""Holds what an agent believes of an ALFWorld game against the engine's own state."""

from __future__ import annotations

from collections.abc import Collection

from evoharness_cli.environments.alfworld.facts import CLEAN, COOL, HOT, ON, OPEN, SLICED
from evoharness_cli.harness import Belief
from evoharness_cli.harness.belief import AT, HAND, SEARCHED, YOU

TRUTH = {
    "isclean": CLEAN,
    "ishot": HOT,
    "iscool": COOL,
    "issliced": SLICED,
    "opened": OPEN,
    "istoggled": ON,
}
"""The engine's predicates and the properties of belief that they correspond to."""


Truth = Collection[tuple[str, ...]]
"""The engine's predicates over the names it shows."""


def disagreements(belief: Belief, truth: Truth, start: Truth = ()) -> list[str]:
    """Compare what belief says of each thing and place it has seen with the engine's state.

    What a thing was at the `start`, clean or cool, doesn't show in the observations that list it; belief may be silent.
    """
    held = [fact[2] for fact in truth if fact[0] == "holds"]
    wrong = [] if belief.subjects(AT, HAND) == held else [f"holding {held}"]
    lies = {(fact[1], fact[2]) for fact in truth if fact[0] == "inreceptacle"}
    things = {thing for thing in belief.subjects(AT) if thing != YOU}
    wrong += [
        f"{thing} is not at {belief.value(thing, AT)}"
        for thing in things.difference(held)
        if (thing, belief.value(thing, AT)) not in lies
    ]
    for predicate, relation in TRUTH.items():
        so = {fact[1] for fact in truth if fact[0] == predicate}
        believed = {name for name in belief.subjects(relation) if belief.holds(name, relation)}
        # A thing that was never seen may have been changed: it lies in another receptacle of the same place.
        seen = things if relation != OPEN else set(belief.subjects(SEARCHED))
        wrong += [f"{name} is not {relation}" for name in believed - so]
        silent = set() if relation == OPEN else {fact[1] for fact in start if fact[0] == predicate}
        wrong += [f"{name} is {relation}" for name in so & seen - believed - silent]
    return wrong
