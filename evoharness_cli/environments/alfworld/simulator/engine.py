"""The simulator as an engine: plays one game after another in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..official import EngineFault
from ..scene import Scene
from .errors import CannotCompile
from .game import Game, Start


class SimulatorEngine:
    """Plays one game at a time. Several of them share nothing that changes what they show."""

    def __init__(self, game: Game | None = None) -> None:
        self._game = game

    def load(self, game: Path) -> Scene:
        """Load a game, start it and return the opening.

        Raises:
            CannotCompile: the simulator can't play it; the official engine may.
            EngineFault: there is no such file.
        """
        self._game = None
        self._game = self._compile(game)
        return self._scene(self._game, self._game.opening())

    def go_on(self, game: Path) -> Scene:
        """Aim at the goal of another game that began as this one did; everything stays as it is. Raises as `load`."""
        self._game = self._compile(game).taken_up(self._loaded())
        return self._scene(self._game, self._game.task)

    @staticmethod
    def _compile(game: Path) -> Game:
        try:
            text = game.read_text(encoding="utf-8")
        except OSError as error:
            raise EngineFault(f"the simulator could not load {game}: {error.strerror}") from error
        except UnicodeDecodeError:
            raise CannotCompile(f"the simulator can't compile {game}: it isn't text") from None
        try:
            return compile_game(text)
        except CannotCompile as error:
            raise CannotCompile(f"the simulator can't compile {game}: {error}") from error

    def step(self, command: str) -> Scene:
        """Play a command; one that isn't admissible changes nothing."""
        game = self._loaded()
        return self._scene(game, game.step(command))

    def truth(self) -> list[tuple[str, ...]]:
        """Return where things are and how they are: predicates over the names that are shown, sorted."""
        return self._loaded().truth()

    def fork(self) -> SimulatorEngine:
        """Return an engine of its own with the game as it is now."""
        return SimulatorEngine(self._loaded().copy())

    def close(self) -> None:
        """Leave the game."""
        self._game = None

    def _loaded(self) -> Game:
        if self._game is None:
            raise EngineFault("no game is loaded")
        return self._game

    @staticmethod
    def _scene(game: Game, text: str) -> Scene:
        return Scene(text, game.admissible(), game.won())


def compile_game(text: str) -> Game:
    """Return the game of a `game.tw-pddl` file's text, not yet begun.

    Raises:
        CannotCompile: it isn't a game, or has something that the simulator doesn't know.
    """
    try:
        data = json.loads(text)
        domain, grammar, problem = data["pddl_domain"], data["grammar"], data["pddl_problem"]
        walkthrough = data.get("walkthrough") or []
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
        raise CannotCompile("It should be JSON with a domain, a grammar and a problem, but isn't.") from None
    if not all(isinstance(part, str) for part in (domain, grammar, problem)) or not isinstance(walkthrough, list):
        raise CannotCompile("It should have its domain, grammar and problem as texts, but hasn't.")
    game = Game(Start(domain, grammar, problem))
    _check_solvable(game.copy(), walkthrough)
    return game


def _check_solvable(game: Game, walkthrough: Sequence[object]) -> None:
    """Where no goal could ever be reached the official engine has no commands at all; a game that is won has them."""
    try:
        for command in walkthrough:
            game.step(str(command))
    except EngineFault as error:
        raise CannotCompile(f"In its walkthrough {error}.") from error
    if not game.won():
        raise CannotCompile("Its walkthrough doesn't reach the goal, so it is not known that the goal can be reached.")
