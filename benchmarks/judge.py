"""The official ALFWorld engine as a judge: itself, in a process of its own, with what it repeats remembered.

Nearly all of its time goes into parsing the same strings of a grammar, copying what it never writes to, and translating
the same problem four times. Whether it still says the same is checked against an engine in which nothing was changed.
"""

from __future__ import annotations

import copy
import os
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from evoharness_cli.environments.alfworld.engine import Game
from evoharness_cli.environments.alfworld.scene import Scene


class Judge:
    """The official engine in this process, one game at a time."""

    def __init__(self) -> None:
        self._game: Game | None = None
        self._path: Path | None = None

    def load(self, game: Path) -> Scene:
        """Start a game, which is loaded unless it was the last one, and return the opening."""
        if self._game is None or game != self._path:
            self.close()
            self._game, self._path = Game(str(game)), game
        return _scene(self._game.reset())

    def step(self, command: str) -> Scene:
        """Play a command."""
        assert self._game
        return _scene(self._game.step(command))

    def truth(self) -> list[tuple[str, ...]]:
        """Return the engine's own state in the names that it shows."""
        assert self._game
        facts: Any = self._game.truth()["facts"]
        return [tuple(fact) for fact in facts]

    def close(self) -> None:
        """Unload the game."""
        if self._game:
            self._game.close()
            self._game = None


def prepare_process() -> None:
    """Make this process fit for the official engine, which prints, reads `sys.argv` and makes folders in the home."""
    os.environ.setdefault("ALFWORLD_DATA", tempfile.gettempdir())
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv = sys.argv[:1]


def remember_parsing() -> None:
    """Change the official engine in this process to parse each string and translate each problem once."""
    import gc

    import fast_downward
    from textworld.envs.pddl import textgen
    from textworld.generator.game import EntityInfo
    from textworld.logic import Placeholder, Rule, Variable

    # It makes so many objects that looking for cycles among the young ones takes a fifth of its time.
    gc.set_threshold(500_000, 20, 20)
    # Deriving a text writes into its symbols, so each time gets its own.
    parse = lru_cache(maxsize=20_000)(textgen._parse_and_convert)
    textgen._parse_and_convert = lambda text, rule_name, **_: copy.deepcopy(parse(text, rule_name=rule_name))
    Rule.parse_conjunctive_query = staticmethod(lru_cache(maxsize=20_000)(Rule.parse_conjunctive_query))
    # Variables and names are copied for each symbol, and never written to.
    for kind in (Variable, Placeholder, EntityInfo):
        kind.__deepcopy__ = lambda self, _: self
    translate = lru_cache(maxsize=1)(fast_downward.pddl2sas)
    # The optimized translation is only for the planner, which isn't asked.
    fast_downward.pddl2sas = lambda domain, problem, **_: translate(domain, problem)
    # Each game would copy and load a library of 34 MB.
    fast_downward.load_lib = lru_cache(maxsize=1)(fast_downward.load_lib)
    fast_downward.close_lib = lambda _: None


def _scene(answer: dict[str, Any]) -> Scene:
    return Scene(answer["text"], tuple(answer["admissible"]), answer["won"])
