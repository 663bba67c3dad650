"""Runs of one task that another program's agent plays: recorded like those played here, but for the model."""

from __future__ import annotations

from ..experience import journal
from ..experience.store import Store
from ..harness import Brief
from .memory import check_memory
from .play import OUTSIDE, start
from .settings import RunSettings
from .task import Task


def begin(store: Store, task: Task, brief: Brief, agent: str) -> tuple[int, int]:
    """Record that an agent begins a task; return the ids of the run and of its only episode.

    `agent` stands where another run has its model. Raises PrivateScope.
    """
    settings = RunSettings(model=agent)
    check_memory(settings, [task])
    with store.transaction():
        run = start(store, [task], settings, {OUTSIDE: agent})
        episode = journal.begin_episode(
            store, run, 0, task.name, task.source, task.environment, brief, task.scope, settings.stated(task)
        )
    return run, episode
