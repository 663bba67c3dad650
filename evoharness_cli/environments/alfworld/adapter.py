"""ALFWorld as an environment of evoharness: where its tasks are, and one engine for all the games of a run."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...harness import WrongUsage
from .. import Finding
from .check import check_games
from .engines import ChosenEngine, EngineName
from .environment import AlfworldEnvironment
from .games import GAME_NAME, find_games, read_game, split_games
from .generate import make_games
from .official import OfficialEngine

_PLACE = re.compile(r"(?P<split>\w+)(?:/(?P<first>\d+)(?:-(?P<last>\d+))?)?")


class AlfworldNeeds(BaseModel):
    """What a task file says of an ALFWorld game."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: Path
    """The game.tw-pddl file; relative to the task file."""
    engine: EngineName = EngineName.NATIVE
    """What plays it; a game that the native engine can't compile is played by the official one."""


class AlfworldAdapter:
    """Opens ALFWorld games, one after another; those that the official engine plays share its process."""

    needs = AlfworldNeeds

    def __init__(self) -> None:
        self._official = OfficialEngine()

    def locate(self, place: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the games of `SPLIT`, `SPLIT/N` or `SPLIT/N-M`, counted from 0 in the order of their paths."""
        match = _PLACE.fullmatch(place)
        if match is None:
            raise WrongUsage(f"expected alfworld:SPLIT, SPLIT/N or SPLIT/N-M; found alfworld:{place}")
        games = split_games(match["split"])
        first, last = 0, len(games) - 1
        if match["first"]:
            first = int(match["first"])
            last = int(match["last"] or first)
        if not first <= last < len(games):
            raise WrongUsage(
                f"the split {match['split']!r} has {len(games)} games, 0 to {len(games) - 1}; found {place}"
            )
        return [(f"{match['split']}/{number}", {"game": str(games[number])}) for number in range(first, last + 1)]

    def recognise(self, path: Path) -> list[tuple[str, dict[str, Any]]]:
        """Return a game file, or the games below a folder, each named by its task and trial."""
        games = find_games(path) if path.is_dir() else [path] if path.name == GAME_NAME else []
        return [(f"{game.parent.parent.name}/{game.parent.name}", {"game": str(game)}) for game in games]

    def open(self, needs: BaseModel, goal: str | None) -> AlfworldEnvironment:
        """Return the environment of one game."""
        assert isinstance(needs, AlfworldNeeds)
        return AlfworldEnvironment(read_game(needs.game), ChosenEngine(needs.engine, self._official), goal)

    def examine(self) -> Iterator[Finding]:
        """Play a game that is made for it on the official engine, and count the official games."""
        with tempfile.TemporaryDirectory() as folder:
            for checked in check_games(make_games(1, 0, folder), self._official):
                if checked.fault:
                    remedy = "pip install --force-reinstall alfworld textworld"
                    yield Finding("ALFWorld engine", checked.fault, remedy)
                else:
                    yield Finding("ALFWorld engine", f"played a game in {checked.steps} steps")
        for split in ("train", "valid_seen"):
            yield _count(split)

    def close(self) -> None:
        """End the engine process."""
        self._official.close()


def _count(split: str) -> Finding:
    what = f"ALFWorld {split}"
    try:
        return Finding(what, f"{len(split_games(split))} games")
    except WrongUsage as error:
        if os.environ.get("ALFWORLD_DATA"):
            return Finding(what, str(error), "set ALFWORLD_DATA to the folder that `alfworld-download` filled")
    return Finding(what, "no official games; the sample tasks need none")
