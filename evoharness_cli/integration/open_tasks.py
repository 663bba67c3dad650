"""The tasks that the clients of one server have begun and not ended yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from ..harness import WrongUsage
from .harness import Facts, Harness

MOST = 64
"""Tasks that are open at once; a client that goes away without a word leaves its own behind."""


class NoSuchTask(WrongUsage):
    """The task is not open, or it isn't said which one is meant."""


class OpenTasks:
    """Tasks by the number of their episode, on one store and in one scope. Serves several threads.

    Where one client alone is served, its only open task needs no number; `shared` asks for it always.
    """

    def __init__(self, store: Path, scope: str, shared: bool) -> None:
        self._path, self._scope, self._shared = store, scope, shared
        self._lock = threading.Lock()
        self._open: dict[int, Harness] = {}

    def begin(self, goal: str, kind: str, world: str, observation: str, facts: Facts, agent: str) -> Harness:
        """Begin a task. With `MOST` of them open already, the one that nobody used for longest is abandoned.

        Raises what `Harness` does.
        """
        task = Harness(
            self._path, goal, self._scope, world, kind=kind, observation=observation, facts=facts, agent=agent
        )
        with self._lock:
            self._open[task.episode] = task
            crowded = [self._open.pop(next(iter(self._open))) for _ in range(len(self._open) - MOST)]
        for each in crowded:
            each.abandon(f"{MOST} newer tasks were open at once")
        return task

    def use(self, number: int | None) -> Harness:
        """Return an open task. Raises NoSuchTask."""
        with self._lock:
            if number is None:
                number = self._only()
            task = self._open.pop(number, None)
            if task is None:
                raise NoSuchTask(f"Task {number} is not open here; begin one with begin_task, which says its number.")
            self._open[number] = task
            return task

    def finish(self, number: int | None, outcome: str) -> Harness:
        """End a task, and return it. Raises NoSuchTask, and what `Harness.finish` does."""
        task = self.use(number)
        task.finish(outcome)
        with self._lock:
            self._open.pop(task.episode, None)
        return task

    def abandon(self, why: str, report: Callable[[Exception], None]) -> None:
        """Abandon all tasks; what goes wrong with one is reported, and keeps none of the others open."""
        with self._lock:
            left, self._open = self._open, {}
        for each in left.values():
            try:
                each.abandon(why)
            except Exception as error:
                report(error)

    def _only(self) -> int:
        if self._shared:
            raise NoSuchTask("Expected `task`, the number that begin_task gave; other clients have tasks here too.")
        if not self._open:
            raise NoSuchTask("No task is open; begin one with begin_task.")
        if len(self._open) > 1:
            listed = ", ".join(map(str, sorted(self._open)))
            raise NoSuchTask(f"Tasks {listed} are open; say which is meant by `task`, or finish those that are over.")
        return next(iter(self._open))
