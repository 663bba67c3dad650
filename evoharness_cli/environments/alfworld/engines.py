"""Which engine plays a game: the simulator, the official one, or the official one where the simulator can't."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from pathlib import Path

from .official import EngineFault, NoOfficialEngine, OfficialEngine
from .scene import Continuing, Engine, Scene
from .simulator import CannotCompile, SimulatorEngine


class EngineName(str, Enum):
    """`native` is this project's simulator, `textworld` the official engine, which judges it."""

    NATIVE = "native"
    TEXTWORLD = "textworld"


class ChosenEngine:
    """Plays a game with the engine of that name; one that the simulator can't compile with the official engine."""

    def __init__(self, name: EngineName, official: OfficialEngine) -> None:
        self._official = official
        self._playing: Engine = official if name is EngineName.TEXTWORLD else SimulatorEngine()

    def load(self, game: Path) -> Scene:
        """Load a game, start it and return the opening. Raises EngineFault where no engine can play it."""
        try:
            return self._playing.load(game)
        except CannotCompile as error:
            self._playing = self._official
            try:
                scene = self._official.load(game)
            except NoOfficialEngine as missing:
                raise NoOfficialEngine(f"{error} {missing}") from error
            return replace(scene, remark=f"{error} The official engine plays it.")

    def step(self, command: str) -> Scene:
        """Play a command."""
        return self._playing.step(command)

    def go_on(self, game: Path) -> Scene:
        """Aim at the goal of another game of the same house. Raises EngineFault where the official engine plays."""
        if not isinstance(self._playing, Continuing):
            raise EngineFault(f"only the native engine can go on with the goal of {game}: leave --engine textworld out")
        return self._playing.go_on(game)

    def truth(self) -> list[tuple[str, ...]]:
        """Return the engine's own state."""
        return self._playing.truth()

    def close(self) -> None:
        """Leave the official engine to the next game."""
