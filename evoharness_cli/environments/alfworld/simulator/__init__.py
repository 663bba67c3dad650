"""A native simulator of ALFWorld games: compiles a game file's own PDDL and grammar into a small state machine.

It shows, to the letter, what the official engine shows, and says of a game that it can't compile why not.
"""

from .engine import SimulatorEngine, compile_game
from .errors import CannotCompile
from .game import Game

__all__ = ["CannotCompile", "Game", "SimulatorEngine", "compile_game"]
