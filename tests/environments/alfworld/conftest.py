"""One engine process for the real sample games, and a way to change a game before it is played."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import GameFile, find_games, read_game
from evoharness_cli.environments.alfworld.official import OfficialEngine, is_missing
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine

GAMES = Path(__file__).parents[3] / "sample_tasks" / "alfworld" / "games"
Change = tuple[str, str, str]
"""A part of a game file, what stands there, and what is to stand there."""


@pytest.fixture(scope="session")
def engine() -> Iterator[OfficialEngine]:
    """The engine process that the tests share; each game that a test opens replaces the one before."""
    if missing := is_missing():
        pytest.skip(missing)
    with OfficialEngine() as engine:
        yield engine


@pytest.fixture(scope="session")
def sample() -> Callable[[str], GameFile]:
    """Finds the sample game whose task folder has these words in its name."""

    def find(words: str) -> GameFile:
        (path,) = [path for path in find_games(GAMES) if words in path.parent.parent.name]
        return read_game(path)

    return find


@pytest.fixture
def opened(request: pytest.FixtureRequest, sample: Callable[[str], GameFile]) -> Callable[[str], AlfworldEnvironment]:
    """Opens a sample game on the shared engine, or the simulator where there is none, without resetting it."""
    engine = SimulatorEngine() if is_missing() else request.getfixturevalue("engine")
    return lambda words: AlfworldEnvironment(sample(words), engine)


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., GameFile]:
    """Writes a copy of a game in which texts of its parts are replaced."""

    def write(game: GameFile, *changes: Change) -> GameFile:
        data = json.loads(game.path.read_text())
        for part, old, new in changes:
            assert old in data[part]
            data[part] = data[part].replace(old, new)
        path = tmp_path / "game.tw-pddl"
        path.write_text(json.dumps(data))
        return read_game(path)

    return write
