"""Every observation of the engine is read into facts, in the current and in the older wording."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator

import pytest

from benchmarks.agreement import disagreements
from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.facts import read_facts
from evoharness_cli.environments.alfworld.games import GameFile
from evoharness_cli.harness import Belief
from evoharness_cli.harness.belief import AT


def shown(observation: str) -> list[str]:
    return [str(fact) for fact in read_facts(observation)]


@pytest.mark.parametrize(
    ("observation", "facts"),
    [
        (
            "You are in the middle of a room. Looking quickly around you, "
            "you see a cabinet 12, a desk 1, and an ottoman 1.",
            ["cabinet 12 not searched", "desk 1 not searched", "ottoman 1 not searched"],
        ),
        (
            "You arrive at desk 1. On the desk 1, you see a cd 2, an alarmclock 1, and a pen 12.",
            ["you at desk 1", "desk 1 searched", "cd 2 at desk 1", "alarmclock 1 at desk 1", "pen 12 at desk 1"],
        ),
        (
            "You arrive at loc 14. On the desk 1, you see a cd 2.",
            ["you at desk 1", "desk 1 searched", "cd 2 at desk 1"],
        ),
        ("On the cabinet 1, you see a spraybottle 2.", ["cabinet 1 searched", "spraybottle 2 at cabinet 1"]),
        ("You arrive at shelf 3. On the shelf 3, you see nothing.", ["you at shelf 3", "shelf 3 searched"]),
        ("You arrive at fridge 1. The fridge 1 is closed.", ["you at fridge 1", "fridge 1 not open"]),
        ("You arrive at loc 3. The fridge 1 is closed.", ["you at fridge 1", "fridge 1 not open"]),
        (
            "You open the fridge 1. The fridge 1 is open. In it, you see a egg 1, and a mug 1.",
            ["fridge 1 open", "fridge 1 searched", "egg 1 at fridge 1", "mug 1 at fridge 1"],
        ),
        ("You close the fridge 1.", ["fridge 1 not open"]),
        ("You pick up the egg 1 from the fridge 1.", ["egg 1 in hand"]),
        ("You take the egg 1 from the fridge 1.", ["egg 1 in hand"]),
        ("You move the egg 1 to the countertop 2.", ["egg 1 at countertop 2"]),
        ("You put the egg 1 in/on the countertop 2.", ["egg 1 at countertop 2"]),
        ("You clean the mug 1 using the sinkbasin 1.", ["mug 1 clean"]),
        ("You heat the mug 1 using the microwave 1.", ["mug 1 hot", "mug 1 not cool"]),
        ("You cool the mug 1 using the fridge 1.", ["mug 1 cool", "mug 1 not hot"]),
        ("You sliced the apple 1 with the knife 2.", ["apple 1 sliced"]),
        ("You slice the apple 1 with the knife 2.", ["apple 1 sliced"]),
        ("You turn on the desklamp 1.", ["desklamp 1 on"]),
        ("You turn off the desklamp 1.", ["desklamp 1 not on"]),
        ("This desklamp 1 is on.", ["desklamp 1 on"]),
        ("This desklamp 1 is off.", ["desklamp 1 not on"]),
        ("You are carrying: a egg 1.", ["egg 1 in hand"]),
        ("You are not carrying anything.", []),
        ("This is a hot and clean sliced apple 1.", ["apple 1 hot", "apple 1 clean", "apple 1 sliced"]),
        ("This is a cold mug 1.", ["mug 1 cool"]),
        ("This is a normal mug 1. In it, you see nothing.", []),
        ("There's nothing special about egg 1.", []),
        ("You are facing the desk 1, and drawer 2. Next to it, you see nothing.", []),
        ("You don't see any switch on the desk 1.", []),
        ("Nothing happens.", []),
    ],
)
def test_an_observation_shows(observation: str, facts: list[str]) -> None:
    assert shown(observation) == facts


def test_nothing_happens_changes_nothing() -> None:
    belief = Belief()
    belief.absorb(read_facts("You pick up the egg 1 from the fridge 1."), 1)

    assert belief.absorb(read_facts("Nothing happens."), 2) == []
    assert belief.track("egg 1") == "egg 1 in hand (step 1)"


def test_heating_ends_what_cooling_began() -> None:
    belief = Belief()
    belief.absorb(read_facts("You cool the egg 1 using the fridge 1."), 1)
    belief.absorb(read_facts("You heat the egg 1 using the microwave 1."), 2)

    assert (belief.holds("egg 1", "cool"), belief.holds("egg 1", "hot")) == (False, True)


@pytest.mark.parametrize("words", ["Egg", "Cloth", "KeyChain", "Pencil"])
def test_belief_agrees_with_the_engine_at_every_step(
    opened: Callable[[str], AlfworldEnvironment], sample: Callable[[str], GameFile], words: str
) -> None:
    environment, belief = opened(words), Belief()
    environment.reset()
    belief.absorb(environment.facts(), 0)

    for step, action in enumerate(_wandering(environment, sample(words).walkthrough), 1):
        environment.step(action)
        belief.absorb(environment.facts(), step)
        assert disagreements(belief, environment.truth()) == [], action

    assert step >= 20
    assert len(belief.subjects(AT)) > 3


def _wandering(environment: AlfworldEnvironment, walkthrough: Collection[str]) -> Iterator[str]:
    """Yield the walkthrough with three random admissible actions before each command, mostly changing ones."""
    rng = random.Random(1)
    for command in walkthrough:
        for _ in range(3):
            admissible = sorted(environment.admissible())
            changing = [each for each in admissible if each.split()[0] not in ("go", "look", "inventory", "examine")]
            yield rng.choice(changing if changing and rng.random() < 0.6 else admissible)
        yield command
