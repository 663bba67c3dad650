"""Replays the walkthroughs that game files carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...harness import OutsideFault
from .games import read_game
from .scene import Engine


@dataclass(frozen=True)
class Checked:
    """What became of one game: solved in so many steps, or `fault`, a sentence that says why not."""

    path: Path
    steps: int
    fault: str | None = None


def check_games(paths: Iterable[Path], engine: Engine) -> Iterator[Checked]:
    """Play each game's walkthrough on the engine; a game that fails doesn't keep the others from being checked."""
    for path in paths:
        try:
            commands = read_game(path).walkthrough
            fault = _replay(path, commands, engine)
        except OutsideFault as error:
            yield Checked(path, 0, str(error))
        else:
            yield Checked(path, len(commands), fault)


def _replay(path: Path, commands: tuple[str, ...], engine: Engine) -> str | None:
    if not commands:
        return "it has no walkthrough"
    scene = engine.load(path)
    for number, command in enumerate(commands, start=1):
        if command not in scene.admissible:
            return f"step {number}, {command!r}, is not admissible"
        scene = engine.step(command)
    return None if scene.won else "its walkthrough doesn't win"
