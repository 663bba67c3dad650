"""TextWorld's games as an environment of evoharness: which files they are, and the engine that plays them."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...harness import OutsideFault, WrongUsage
from .. import Finding
from ..process.environment import ProcessEnvironment
from ..process.program import Program

TIMEOUT = 180.0
"""Seconds for an answer; a game that has to be compiled takes many, each of its steps a few milliseconds."""
_STORY = re.compile(r"\.(?:z[1-8]|ulx)")
_MADE = ('"KB"', '"world"', '"quests"')
"""What a game's description by TextWorld has among its keys."""


class NoTextWorld(OutsideFault):
    """This Python has no TextWorld."""


class TextWorldNeeds(BaseModel):
    """What a task file says of a game."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: Path
    """The .z8, .json or .ulx file; relative to the task file. With the .json beside it, more is known than the text."""


class TextWorldAdapter:
    """Starts an engine for each game."""

    needs = TextWorldNeeds

    def locate(self, place: str) -> list[tuple[str, dict[str, Any]]]:
        """Refuse any place: games are files."""
        raise WrongUsage(f"Expected the file of a game, such as my-game.z8; there is no place textworld:{place}.")

    def recognise(self, path: Path) -> list[tuple[str, dict[str, Any]]]:
        """Return a game file, or the story files below a folder, each named by its file."""
        games = sorted(path.rglob("*")) if path.is_dir() else [path] if _is_game(path) else []
        found = [game for game in games if game == path or _STORY.fullmatch(game.suffix)]
        return [(game.stem, {"game": str(game)}) for game in found]

    def open(self, needs: BaseModel, goal: str | None) -> ProcessEnvironment:
        """Start a game. Raises NoTextWorld, and ProgramFault where it can't be played."""
        assert isinstance(needs, TextWorldNeeds)
        if missing := _missing():
            raise NoTextWorld(missing)
        # With -P the folder it is started in, which may hold a module of any name, is not imported from.
        command = [sys.executable, "-P", "-m", f"{__package__}.engine"]
        name = f"TextWorld with the game {needs.game}"
        program = Program(command, Path(), TIMEOUT, name)
        return ProcessEnvironment(program, {"game": str(needs.game)}, name, goal)

    def examine(self) -> Iterator[Finding]:
        """Tell whether TextWorld is installed."""
        yield Finding("TextWorld", _missing() or version("textworld"))

    def close(self) -> None:
        """Do nothing: each environment ends its own engine."""


def _missing() -> str | None:
    """Return a sentence that says why there is no TextWorld, None where there is one."""
    if importlib.util.find_spec("textworld"):
        return None
    return "TextWorld is not installed; it comes with alfworld, under Python 3.11 or 3.12."


def _is_game(path: Path) -> bool:
    if path.suffix != ".json":
        return _STORY.fullmatch(path.suffix) is not None
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return all(key in text for key in _MADE)
