"""Where ALFWorld's own engine can't be had, the simulator plays, and what only that engine can play is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.adapter import AlfworldAdapter
from evoharness_cli.environments.alfworld.check import check_games
from evoharness_cli.environments.alfworld.engines import ChosenEngine, EngineName
from evoharness_cli.environments.alfworld.games import GameFile
from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.environments.alfworld.official import NoOfficialEngine, OfficialEngine, is_for_this_python
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine

Sample = Callable[[str], GameFile]
WHY = "not installed: pip install alfworld" if is_for_this_python() else "is not released for Python"


@pytest.fixture(autouse=True)
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make alfworld a package that can't be imported."""
    monkeypatch.setitem(sys.modules, "alfworld", None)


def test_games_are_made_and_played(tmp_path: Path) -> None:
    games = make_games(2, 0, tmp_path)

    assert [checked.fault for checked in check_games(games, SimulatorEngine())] == [None, None]


def test_the_official_engine_says_why_it_does_not_play(sample: Sample) -> None:
    with pytest.raises(NoOfficialEngine, match=WHY):
        ChosenEngine(EngineName.TEXTWORLD, OfficialEngine()).load(sample("Egg").path)


def test_a_game_that_needs_it_says_what_the_simulator_lacks_too(
    sample: Sample, changed: Callable[..., GameFile]
) -> None:
    game = changed(
        sample("Cloth"), ("pddl_domain", "(isClean ?o)\n            )", "(forall (?x - object) (isClean ?x)))")
    )

    with pytest.raises(NoOfficialEngine, match=rf"effect \(forall .*{WHY}"):
        ChosenEngine(EngineName.NATIVE, OfficialEngine()).load(game.path)


def test_the_doctor_looks_at_the_simulator_and_says_what_is_missing() -> None:
    found = {finding.what: finding for finding in AlfworldAdapter().examine()}

    assert "played a game in" in found["simulator"].found
    assert WHY in found["ALFWorld engine"].found
    assert (found["ALFWorld engine"].remedy is None) == (not is_for_this_python())


def test_the_rules_of_made_games_are_those_of_the_samples(sample: Sample, tmp_path: Path) -> None:
    (made,) = make_games(1, 1, tmp_path)
    own, other = (json.loads(path.read_text()) for path in (made, sample("Egg").path))

    assert own["pddl_domain"] == other["pddl_domain"]
    assert own["grammar"] != other["grammar"]
