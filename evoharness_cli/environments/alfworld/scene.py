"""What an engine of ALFWorld games shows, and what such an engine is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Scene:
    """What an engine shows after a command: its text, the admissible commands in its order, and `won`.

    `remark` is for the person who looks on.
    """

    text: str
    admissible: tuple[str, ...]
    won: bool
    remark: str = ""


class Engine(Protocol):
    """Plays one game at a time; loading another leaves the one before."""

    def load(self, game: Path) -> Scene:
        """Load a game, start it and return the opening. Raises OutsideFault where the engine can't play it."""
        ...

    def step(self, command: str) -> Scene:
        """Play a command; one that isn't admissible changes nothing."""
        ...

    def truth(self) -> list[tuple[str, ...]]:
        """Return the changing part of the engine's own state: predicates over the names it shows, sorted."""
        ...

    def close(self) -> None:
        """Leave the game and whatever it is played with."""
        ...


@runtime_checkable
class Continuing(Engine, Protocol):
    """An engine whose games can go on with another goal."""

    def go_on(self, game: Path) -> Scene:
        """Aim at the goal of another game that began as this one did, and return the scene with the goal as its text.

        Everything stays as it is. Raises OutsideFault where the engine can't.
        """
        ...
