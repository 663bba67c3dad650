"""The command line: one module a command, which parses, calls and renders."""

from . import doctor, games, inspect, note, prune, run, tasks
from .app import main

__all__ = ["doctor", "games", "inspect", "main", "note", "prune", "run", "tasks"]
