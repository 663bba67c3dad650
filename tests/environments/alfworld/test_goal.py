"""The official task sentences are read into what has to be so at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.games import find_games, read_game
from evoharness_cli.environments.alfworld.goal import Goal, read_goal, state_of

GAMES = Path(__file__).parents[3] / "sample_tasks" / "alfworld" / "games"


@pytest.mark.parametrize(
    ("sentence", "goal"),
    [
        ("put some mug on desk.", Goal("mug", "desk")),
        ("put a cd in drawer.", Goal("cd", "drawer")),
        ("clean some cloth and put it in drawer.", Goal("cloth", "drawer", state="clean")),
        ("put a clean cloth in drawer.", Goal("cloth", "drawer", state="clean")),
        ("heat some egg and put it in countertop.", Goal("egg", "countertop", state="hot")),
        ("put a hot egg in countertop.", Goal("egg", "countertop", state="hot")),
        ("cool some pan and put it in stoveburner.", Goal("pan", "stoveburner", state="cool")),
        ("put a cool pan in stoveburner.", Goal("pan", "stoveburner", state="cool")),
        ("put two soapbar in cabinet.", Goal("soapbar", "cabinet", count=2)),
        ("find two soapbar and put them in cabinet.", Goal("soapbar", "cabinet", count=2)),
        ("look at book under the desklamp.", Goal("book", lamp="desklamp")),
        ("examine the book with the desklamp.", Goal("book", lamp="desklamp")),
        ("  Put a CD in Drawer", Goal("cd", "drawer")),
    ],
)
def test_an_official_sentence_is_read(sentence: str, goal: Goal) -> None:
    assert read_goal(sentence) == goal


@pytest.mark.parametrize("sentence", ["", "tidy the room.", "put the mug away.", "clean the mug."])
def test_any_other_sentence_has_no_known_goal(sentence: str) -> None:
    assert read_goal(sentence) is None


@pytest.mark.parametrize("path", find_games(GAMES), ids=lambda path: path.parent.parent.name)
def test_the_sentence_of_a_sample_game_says_what_its_name_says(path: Path) -> None:
    task_type, thing, _, target, _ = path.parent.parent.name.lower().split("-")
    goal = read_goal(read_game(path).task)

    assert goal is not None
    assert (goal.thing, goal.place or goal.lamp) == (thing, target)
    assert goal.count == (2 if "two" in task_type else 1)
    assert goal.state == {"clean": "clean", "heat": "hot", "cool": "cool"}.get(task_type.split("_")[1], "")


@pytest.mark.parametrize(
    ("word", "state"), [("wash", "clean"), ("warm", "hot"), ("cold", "cool"), ("cool", "cool"), ("paint", "")]
)
def test_a_word_stands_for_a_property(word: str, state: str) -> None:
    assert state_of(word) == state
