"""Twenty games, made once: ten of each of two kinds of task, in turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from playthrough import GAMES

from evoharness_cli.environments.alfworld.generate import make_games


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    kinds = ["pick_and_place_simple", "pick_cool_then_place_in_recep"]
    return make_games(GAMES, 5, tmp_path_factory.mktemp("games"), kinds)
