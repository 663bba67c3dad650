"""The command line: one module a command, which parses, calls and renders."""

from . import (
    banks,
    consolidate,
    doctor,
    eval,
    exchange,
    games,
    inspect,
    note,
    prune,
    run,
    scopes,
    tasks,
    train,
    train_rl,
    train_sft,
)
from .app import main

__all__ = [
    "banks",
    "consolidate",
    "doctor",
    "eval",
    "exchange",
    "games",
    "inspect",
    "main",
    "note",
    "prune",
    "run",
    "scopes",
    "tasks",
    "train",
    "train_rl",
    "train_sft",
]
