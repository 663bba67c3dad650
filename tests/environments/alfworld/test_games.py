"""Game files are read and found, and what is wrong with them is said in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.games import (
    GameFileError,
    GamesNotFound,
    find_games,
    read_game,
    split_games,
)
from evoharness_cli.environments.alfworld.problem import GOALS

_GAME = {
    "pddl_domain": "(define (domain alfred))",
    "grammar": '{"rhs": "Your task is to: put some mug on desk."}',
    "pddl_problem": "(define (problem p) (:init (a x) (b y)) (:goal (inReceptacle ?o ?r)))",
    "walkthrough": ["go to desk 1"],
}


def _write(path: Path, **changes: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**_GAME, **changes}))
    return path


def test_a_game_tells_its_task_and_walkthrough(tmp_path: Path) -> None:
    game = read_game(_write(tmp_path / "game.tw-pddl"))

    assert game.task == "put some mug on desk."
    assert game.task_type == "pick_and_place_simple"
    assert game.walkthrough == ("go to desk 1",)
    assert game.path == tmp_path / "game.tw-pddl"


@pytest.mark.parametrize("task_type", GOALS)
def test_the_task_type_is_read_off_the_goal(tmp_path: Path, task_type: str) -> None:
    goal = GOALS[task_type].format(object="Mug", target="Desk")
    path = _write(tmp_path / "game.tw-pddl", pddl_problem=f"(:init (a x))\n{goal}")

    assert read_game(path).task_type == task_type


def test_another_goal_is_of_another_type(tmp_path: Path) -> None:
    path = _write(tmp_path / "game.tw-pddl", pddl_problem="(:init (a x)) (:goal (isSliced ?o))")

    assert read_game(path).task_type == "other"


def test_the_world_depends_on_the_facts_and_not_on_their_order_or_the_goal(tmp_path: Path) -> None:
    first = read_game(_write(tmp_path / "1", pddl_problem="(:init (a x) (b y)) (:goal (isClean ?o))"))
    second = read_game(_write(tmp_path / "2", pddl_problem="(:init\n (b  y)\n (a x)) (:goal (isHot ?o))"))
    third = read_game(_write(tmp_path / "3", pddl_problem="(:init (a x) (b z)) (:goal (isClean ?o))"))

    assert first.world == second.world != third.world
    assert first.world.startswith("house-")
    assert len(first.world) == len("house-") + 10


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(GameFileError, match=r"There is no game file at .*nowhere"):
        read_game(tmp_path / "nowhere")


def test_a_folder_is_no_game(tmp_path: Path) -> None:
    with pytest.raises(GameFileError, match=r"is a folder\. Name the game\.tw-pddl file"):
        read_game(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not JSON", r"is not JSON: .* in line 1"),
        (b"[1]", r"should hold a JSON object, but holds a list"),
        (b"\xff\xfe", r"is not text"),
        (b"{}", r"has no 'pddl_domain'"),
    ],
)
def test_what_is_no_game_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "game.tw-pddl"
    path.write_bytes(content)

    with pytest.raises(GameFileError, match=message):
        read_game(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grammar": 3}, r"a text under 'grammar', but has a number"),
        ({"pddl_problem": None}, r"a text under 'pddl_problem', but has nothing"),
        ({"grammar": "no task"}, r"states no task"),
        ({"pddl_problem": "(:goal)"}, r"should have \(:init \.\.\.\) followed by"),
        ({"walkthrough": [1]}, r"list commands under 'walkthrough'"),
    ],
)
def test_a_game_with_a_wrong_part_is_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = _write(tmp_path / "game.tw-pddl", **changes)

    with pytest.raises(GameFileError, match=message):
        read_game(path)


def test_games_are_found_in_the_order_of_their_paths(tmp_path: Path) -> None:
    second = _write(tmp_path / "b" / "trial" / "game.tw-pddl")
    first = _write(tmp_path / "a" / "trial" / "game.tw-pddl")
    _write(tmp_path / "a" / "trial" / "other.json")

    assert find_games(tmp_path) == [first, second]


@pytest.fixture
def split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two playable games of a `train` split, beside two that the official lists leave out."""
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "Sliced-data"))
    root = tmp_path / "Sliced-data" / "json_2.1.1"
    (root / "empty").mkdir(parents=True)
    _write(root / "train" / "pick-AppleSliced-1" / "t" / "game.tw-pddl")
    _write(root / "train" / "pick_with_movable_recep-1" / "t" / "game.tw-pddl")
    return [_write(root / "train" / task / "t" / "game.tw-pddl") for task in ("pick-Apple-1", "pick-Mug-1")]


def test_a_split_leaves_out_movable_and_sliced_tasks(split: list[Path]) -> None:
    assert split_games("train") == split


def test_an_unknown_split_lists_those_there_are(split: list[Path]) -> None:
    with pytest.raises(GamesNotFound, match=r"no split 'tarin' .* are: empty, train\."):
        split_games("tarin")
    assert split_games("train") == split


@pytest.mark.usefixtures("split")
def test_an_empty_split_is_said_to_be_empty() -> None:
    with pytest.raises(GamesNotFound, match=r"holds no game\.tw-pddl"):
        split_games("empty")


def test_missing_data_says_how_to_set_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "absent"))

    with pytest.raises(GamesNotFound, match=r"Set ALFWORLD_DATA to the folder that holds json_2\.1\.1"):
        split_games("train")
