"""Plays sample games by a script of replies into a store, to report on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from evoharness_cli.experience.store import Store
from evoharness_cli.models import load_model
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.play import Run, Unwatched, start
from evoharness_cli.runs.settings import RunSettings

ORACLE = f"scripted:{Path(__file__).parents[1] / 'scripts' / 'alfworld-oracle.yaml'}"


def played(path: Path, names: tuple[str, ...], settings: RunSettings) -> int:
    """Play sample games into a store and return the run."""
    tasks = [task.settled({}) for task in find_tasks(names)]
    with closing(Store.open(path)) as store, closing(load_model(settings.model)) as model:
        run = start(store, tasks, settings, model.fingerprint)
        Run(store, run, settings, model, Unwatched()).play(tasks)
    return run
