"""The names that we give to PDDL ids are those that the engine gives them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.environments.alfworld.names import display_names

_ENGINE_NAMES = """
import json, sys
import fast_downward
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
from textworld.envs import PddlEnv

env = AlfredDemangler(PddlEnv(), shuffle=False)
games, names = sys.argv[1:], []
for game in games:
    env.load(game)
    names.append({info.id: info.name for info in env.unwrapped._entity_infos.values()})
fast_downward.close_lib(env.unwrapped.downward_lib)
print(json.dumps(names), file=sys.__stdout__)
"""


def test_numbers_run_against_the_sorted_ids() -> None:
    names = display_names(["Apple_bar__plus_02", "Apple_bar__minus_01", "Apple_bar__plus_01", "Mug_bar__plus_01"])

    assert names == {
        "Apple_bar__minus_01": "apple 3",
        "Apple_bar__plus_01": "apple 2",
        "Apple_bar__plus_02": "apple 1",
        "Mug_bar__plus_01": "mug 1",
    }


def test_a_basin_is_counted_apart_from_its_sink() -> None:
    names = display_names(["Sink_bar__plus_01", "Sink_bar__plus_01_bar_SinkBasin", "Sink_bar__plus_02"])

    assert sorted(names.values()) == ["sink 1", "sink 2", "sinkbasin 1"]
    assert names["Sink_bar__plus_01_bar_SinkBasin"] == "sinkbasin 1"


def test_an_id_without_a_position_has_no_number() -> None:
    assert display_names(["AppleType", "agent1"]) == {"AppleType": "appletype ", "agent1": "agent1 "}


@pytest.mark.official_engine
def test_the_engine_shows_the_same_names(tmp_path: Path) -> None:
    kitchen = make_games(1, 0, tmp_path / "kitchen", ["pick_heat_then_place_in_recep"])
    bathroom = make_games(1, 0, tmp_path / "bathroom", ["pick_two_obj_and_place"], ["bathroom"])
    games = [str(path) for path in kitchen + bathroom]

    child = subprocess.run(
        [sys.executable, "-c", _ENGINE_NAMES, *games],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"HOME": str(tmp_path), "ALFWORLD_DATA": str(tmp_path)},
    )
    shown = json.loads(child.stdout.splitlines()[-1])

    assert len(shown) == 2
    for names in shown:
        assert "sinkbasin 1" in names.values()
        assert display_names(names) == names
