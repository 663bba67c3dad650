"""A real game behind the harness's Environment Protocol."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import GameFile
from evoharness_cli.environments.alfworld.official import OfficialEngine
from evoharness_cli.harness import Belief, Environment, Observation

Open = Callable[[str], AlfworldEnvironment]
Sample = Callable[[str], GameFile]
OLDER = (
    ("grammar", 'template :: "move {o} to {r}"', 'template :: "put {o} in/on {r}"'),
    ("grammar", "You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
    ("grammar", "You arrive at {r.name}.", "You arrive at {lend.name}."),
)
"""What turns a game's wording into that of earlier releases."""


def test_it_is_an_environment_that_tells_its_task(opened: Open) -> None:
    environment: Environment = opened("Egg")

    assert environment.brief.goal == "put a hot egg in countertop."
    assert environment.brief.kind == "pick_heat_then_place_in_recep"
    assert environment.brief.world.startswith("house-")


def test_another_sentence_may_stand_for_the_task(engine: OfficialEngine, sample: Sample) -> None:
    environment = AlfworldEnvironment(sample("Egg"), engine, goal="warm up an egg for me")

    assert environment.brief.goal == "warm up an egg for me"
    assert environment.evidence("heat egg") is not None


def test_the_first_observation_is_the_room_and_counts(opened: Open) -> None:
    environment = opened("Cloth")
    observation = environment.reset()

    assert observation.text.startswith("You are in the middle of a room. Looking quickly around you, you see a ")
    assert "Welcome" not in observation.text
    assert "task" not in observation.text
    assert "toilet 1" in environment.names()["receptacle"]
    assert environment.names()["object"] == []
    assert [str(fact) for fact in environment.facts() if fact.subject == "toilet 1"] == ["toilet 1 not searched"]


def test_names_and_admissible_actions_follow_what_happens(opened: Open) -> None:
    environment = opened("KeyChain")
    environment.reset()
    assert "go to drawer 3" in environment.admissible()
    assert "help" not in environment.admissible()

    environment.step("go to drawer 3")
    environment.step("open drawer 3")

    assert "keychain 2" in environment.names()["object"]
    assert {"keychain 2", "drawer 3"} < set(environment.names()["thing"])
    assert "you" not in environment.names()["object"]
    assert "take keychain 2 from drawer 3" in environment.admissible()


def test_what_is_not_possible_now_changes_nothing(opened: Open) -> None:
    environment = opened("Cloth")
    environment.reset()
    before = environment.truth()

    assert environment.step("take cloth 3 from countertop 1") == Observation("Nothing happens.")
    assert environment.facts() == []
    assert environment.truth() == before


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("go to fridge 1", "go to fridge 1"),
        ("  Go to  Fridge 1. ", "go to fridge 1"),
        ("put egg 1 in/on fridge 1", "move egg 1 to fridge 1"),
        ("put egg 1 in fridge 1", "move egg 1 to fridge 1"),
        ("place egg 1 on fridge 1", "move egg 1 to fridge 1"),
        ("move egg 1 to fridge 1", "move egg 1 to fridge 1"),
        ("heat egg 1 with microwave 1", "heat egg 1 with microwave 1"),
        ("slice apple 1 with knife 1", "slice apple 1 with knife 1"),
        ("use desklamp 1", "use desklamp 1"),
        ("examine egg 1", "examine egg 1"),
        ("inventory", "inventory"),
        ("look", "look"),
        ("look around", None),
        ("go fridge 1", None),
        ("take egg 1", None),
        ("put egg 1", None),
        ("open", None),
        ("help", None),
        ("think about it", None),
        ("", None),
    ],
)
def test_an_action_is_read_in_the_games_wording_or_not_at_all(opened: Open, words: str, read: str | None) -> None:
    assert opened("Egg").read(words) == read


def test_a_task_that_is_achieved_is_done(opened: Open, sample: Sample) -> None:
    environment = opened("RemoteControl")
    observations = [environment.reset(), *map(environment.step, sample("RemoteControl").walkthrough)]

    assert [observation.done for observation in observations] == [False] * 4 + [True]
    assert observations[-1].success


def test_a_game_in_the_older_wording_is_played_in_it(
    engine: OfficialEngine, sample: Sample, changed: Callable[..., GameFile]
) -> None:
    game = changed(sample("RemoteControl"), *OLDER)
    environment, belief = AlfworldEnvironment(game, engine), Belief()
    assert "put {object} in/on {receptacle}" in environment.forms
    assert "move {object} to {receptacle}" not in environment.forms

    environment.reset()
    for step, action in enumerate(sample("RemoteControl").walkthrough[:-1], 1):
        observation = environment.step(action)
        belief.absorb(environment.facts(), step)
    assert observation.text.startswith("You arrive at loc ")
    assert belief.situation().startswith("you are at sofa 1, holding remotecontrol 1.")

    put = environment.read("move remotecontrol 1 to sofa 1")
    assert put == "put remotecontrol 1 in/on sofa 1"
    assert environment.step(put) == Observation("You put the remotecontrol 1 in/on the sofa 1.", True, True)
    belief.absorb(environment.facts(), 9)
    assert belief.track("remotecontrol") == "remotecontrol 1 at sofa 1 (step 9)"


def test_what_is_held_is_held_though_a_game_lists_it_in_a_second_receptacle_too(
    engine: OfficialEngine, sample: Sample, changed: Callable[..., GameFile]
) -> None:
    text = sample("CD").path.read_text()
    cd, bed = _id(text, "CD"), _id(text, "Bed")
    game = changed(sample("CD"), ("pddl_problem", "(:init", f"(:init (inReceptacle {cd} {bed})"))
    environment, belief = AlfworldEnvironment(game, engine), Belief()
    environment.reset()
    lies = [fact[1:] for fact in environment.truth() if fact[0] == "inreceptacle" and fact[1].startswith("cd ")]
    name = next(thing for thing, place in lies if place == "bed 1")
    place = next(place for thing, place in lies if thing == name and place != "bed 1")
    for step, action in enumerate((f"go to {place}", f"open {place}", f"take {name} from {place}", "go to bed 1"), 1):
        observation = environment.step(action)
        belief.absorb(environment.facts(), step)

    assert f"a {name}" in observation.text
    assert belief.situation().startswith(f"you are at bed 1, holding {name}.")


def test_games_are_played_one_after_another_on_one_engine(opened: Open) -> None:
    first, second = opened("RemoteControl"), opened("Cloth")
    first.reset()
    first.step("go to sofa 1")
    second.reset()

    assert "toilet 1" in second.names()["receptacle"]
    assert "sofa 1" not in second.names()["receptacle"]
    assert second.step("go to sofa 1") == Observation("Nothing happens.")


def _id(text: str, kind: str) -> str:
    """Return the first id of a class in a game file."""
    match = re.search(rf"\b{kind}_bar_\w+", text)
    assert match is not None
    return match[0]
