"""The command line: one module a command, which parses, calls and renders."""

from . import doctor, eval, games, inspect, note, prune, run, tasks
from .app import main

__all__ = ["doctor", "eval", "games", "inspect", "main", "note", "prune", "run", "tasks"]
