"""Generated games are official in form, repeatable, and solved in the real engine by their walkthroughs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from evoharness_cli.environments.alfworld.contents import CONTENTS
from evoharness_cli.environments.alfworld.games import find_games, read_game
from evoharness_cli.environments.alfworld.generate import make_game, make_games, write_game
from evoharness_cli.environments.alfworld.houses import UnknownRoom, make_house
from evoharness_cli.environments.alfworld.rooms import CAN_CONTAIN, FIXTURES, FURNITURE, ROOMS
from evoharness_cli.environments.alfworld.task_types import TASK_TYPES, CannotGenerate, possible_goals

_TESTS = Path(__file__).parents[2]
_SAMPLES = _TESTS.parent / "sample_tasks" / "alfworld"
_REPLAY = """
import json, sys
import fast_downward, textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
from textworld.envs import PddlEnv

env = AlfredDemangler(PddlEnv(textworld.EnvInfos(won=True)), shuffle=False)
games, results = sys.argv[1:], []
for game in games:
    env.load(game)
    state = env.reset()
    opening, won, answers = state.feedback, [], []
    for command in json.load(open(game))["walkthrough"]:
        state, _, _ = env.step(command)
        won.append(state["won"])
        answers.append(state.feedback)
    results.append({"opening": opening, "won": won, "answers": answers})
fast_downward.close_lib(env.unwrapped.downward_lib)
print(json.dumps(results), file=sys.__stdout__)
"""


@pytest.mark.official_engine
def test_walkthroughs_win_in_the_engine_with_their_last_command(tmp_path: Path) -> None:
    games = make_games(12, 5, tmp_path / "games", per_house=2)

    child = subprocess.run(
        [sys.executable, "-c", _REPLAY, *map(str, games)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"HOME": str(tmp_path), "ALFWORLD_DATA": str(tmp_path)},
    )
    results = json.loads(child.stdout.splitlines()[-1])

    assert len(results) == 12
    for path, result in zip(games, results, strict=True):
        assert result["won"] == [False] * (len(result["won"]) - 1) + [True], path
        assert "Nothing happens." not in result["answers"], path
        assert result["opening"].endswith(f"Your task is to: {read_game(path).task}"), path


def test_games_take_turns_through_the_task_types(tmp_path: Path) -> None:
    games = [read_game(path) for path in make_games(8, 1, tmp_path)]

    assert [game.task_type for game in games] == [*TASK_TYPES, *TASK_TYPES[:2]]
    assert all(re.fullmatch(r"[a-z ]+\.", game.task) for game in games)
    assert find_games(tmp_path) == sorted(game.path for game in games)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first = make_games(6, 3, tmp_path / "first", per_house=3)
    again = make_games(6, 3, tmp_path / "again", per_house=3)
    other = make_games(6, 4, tmp_path / "other", per_house=3)

    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert {read_game(path).world for path in first}.isdisjoint(read_game(path).world for path in other)


def test_games_of_one_house_start_in_one_world_with_different_goals(tmp_path: Path) -> None:
    paths = make_games(6, 2, tmp_path, ["pick_and_place_simple", "pick_two_obj_and_place"], per_house=3)
    games = [read_game(path) for path in paths]

    assert [games[0].world] * 3 + [games[3].world] * 3 == [game.world for game in games]
    assert games[0].world != games[3].world
    assert len({path.parent.parent.name for path in paths[:3]}) == 3


@pytest.mark.parametrize("room", ROOMS)
def test_a_house_is_furnished_as_its_room(room: str) -> None:
    allowed = {furniture.kind for furniture in FURNITURE[room]}
    for seed in range(20):
        house = make_house(seed, room)
        inside = {receptacle.id: receptacle.kind for receptacle in house.receptacles}
        ids = [*inside, *(item.id for item in house.items)]

        assert set(inside.values()) <= allowed
        assert len(set(ids)) == len(ids)
        assert all(inside[item.inside] in CONTENTS[room][item.kind].places for item in house.items)
        assert (20 if room == "kitchen" else 8) <= len(house.items) <= (45 if room == "kitchen" else 40)
        assert house.start not in {receptacle.place for receptacle in house.receptacles}


def test_some_receptacles_share_a_place() -> None:
    places = [receptacle.place for receptacle in make_house(3, "kitchen").receptacles]

    assert len(set(places)) < len(places)


def test_objects_start_only_where_they_can_be_put_back() -> None:
    for room in ROOMS:
        for kind, content in CONTENTS[room].items():
            if kind not in FIXTURES:
                assert all(kind in CAN_CONTAIN[place] for place in content.places), (room, kind)


@pytest.mark.parametrize("task_type", ["pick_and_place_simple", "pick_two_obj_and_place"])
def test_no_object_of_a_plain_goal_is_there_already(task_type: str) -> None:
    house = make_house(3, "bedroom")
    inside = {receptacle.id: receptacle.kind for receptacle in house.receptacles}
    goals = possible_goals(house, task_type)

    assert goals
    for goal in goals:
        starts = [inside[item.inside] for item in house.items if item.kind == goal.object_kind]
        assert goal.target_kind not in starts
        assert len(starts) >= (2 if task_type == "pick_two_obj_and_place" else 1)


def test_a_game_is_written_in_the_official_layout(tmp_path: Path) -> None:
    game = make_game(make_house(3, "bedroom"), "look_at_obj_in_light", 8)
    path = write_game(game, tmp_path)

    assert path.relative_to(tmp_path).as_posix() == (
        "look_at_obj_in_light-Book-None-DeskLamp-4300/trial_3_8/game.tw-pddl"
    )
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["game.tw-pddl", "traj_data.json"]
    trajectory = json.loads(path.with_name("traj_data.json").read_text())
    assert trajectory["task_type"] == "look_at_obj_in_light"
    assert trajectory["pddl_params"]["toggle_target"] == "DeskLamp"
    assert json.loads(path.read_text())["solvable"] is True


def test_a_house_without_the_goal_is_refused() -> None:
    with pytest.raises(CannotGenerate, match=r"bathroom of seed 1 allows no task of type pick_heat"):
        make_game(make_house(1, "bathroom"), "pick_heat_then_place_in_recep", 0)


def test_a_task_type_that_no_room_allows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotGenerate, match=r"needs a kitchen, but the rooms to generate are: bedroom"):
        make_games(1, 0, tmp_path, ["pick_cool_then_place_in_recep"], ["bedroom"])


def test_unknown_words_list_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(CannotGenerate, match=r"no task type 'wash'.* pick_and_place_simple"):
        make_games(1, 0, tmp_path, ["wash"])
    with pytest.raises(CannotGenerate, match=r"no room 'attic'.* kitchen, livingroom"):
        make_games(1, 0, tmp_path, rooms=["attic"])
    with pytest.raises(UnknownRoom, match=r"no room 'attic'"):
        make_house(0, "attic")
    with pytest.raises(ValueError, match=r"0 or more, but is -1"):
        make_house(-1)


def test_each_sample_task_has_its_game_and_a_script_that_plays_its_walkthrough() -> None:
    scripts = yaml.safe_load((_TESTS / "scripts" / "alfworld-oracle.yaml").read_text())
    calls = ("recall [", "commit [", "note [")
    worlds = []
    for name, actions in scripts.items():
        task = yaml.safe_load((_SAMPLES / f"{name}.yaml").read_text())
        game = read_game(_SAMPLES / task["environment"]["game"])
        worlds.append(game.world)

        assert tuple(action for action in actions if not action.startswith(calls)) == game.walkthrough
        assert len(actions) <= task["limits"]["steps"]

    assert sorted(scripts) == sorted(path.stem for path in _SAMPLES.glob("*.yaml"))
    assert len(worlds) == 12
    assert len(set(worlds)) < len(worlds)


def test_a_sample_game_comes_out_of_the_generator_unchanged(tmp_path: Path) -> None:
    written = write_game(make_game(make_house(3, "kitchen"), "pick_heat_then_place_in_recep", 12), tmp_path)
    shipped = _SAMPLES / "games" / written.relative_to(tmp_path)

    first, second = (json.loads(path.read_text())["pddl_problem"] for path in (written, shipped))
    assert first == second
    assert read_game(written).world == read_game(shipped).world
