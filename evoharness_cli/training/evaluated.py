"""Episodes of an evaluation, played again or played on in a copy of its store, as demonstrations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..environments import Adapter
from ..evaluation.alone import Alone, newest
from ..evaluation.evaluate import evaluation_runs
from ..experience import journal
from ..experience.journal import EpisodeRecord
from ..experience.policies import load_policy
from ..experience.store import Store
from ..harness import Model, OutsideFault, WrongUsage
from ..runs.play import Run, recorded_run, start
from ..runs.settings import RunSettings
from ..runs.task import Task
from .demonstrations import Bank, Demonstration, Holding, scratch, shown


@dataclass(frozen=True)
class Evaluated:
    """An episode that has ended, the task that it was of, and how it was played."""

    task: Task
    settings: RunSettings
    record: EpisodeRecord


def evaluated_episodes(store: Store) -> list[Evaluated]:
    """Return the episodes of an evaluation that have ended, run by run. Raises WrongUsage where a store holds none."""
    runs = evaluation_runs(store)
    if not runs:
        raise WrongUsage(f"Expected the store of an evaluation, made by `evoharness eval --out`, found {store.path}.")
    return [
        Evaluated(planned.tasks[record.number], planned.settings, record)
        for planned in runs
        for record in journal.episodes(store, planned.run)
        if record.outcome is not None
    ]


def played_by(store: Store, episode: Evaluated) -> dict[str, Any]:
    """Return the fingerprint of the model that played an episode."""
    return dict(recorded_run(store, episode.record.run)[2])


@contextmanager
def copied(store: Store) -> Iterator[Store]:
    """Yield a copy of a store that doesn't last."""
    with scratch() as folder:
        store.copy_to(folder / "evaluation.db")
        with Store.open(folder / "evaluation.db") as copy:
            yield copy


@dataclass
class Replayer:
    """Plays episodes on from a step, all of one environment; what was before it is as it was, word for word."""

    adapter: Adapter
    seed: int
    transcript_format: str
    store: Store
    """The evaluation's, which stays as it is."""

    def _play_on(self, store: Store, origin: Evaluated, step: int, model: Model, more: int = 0) -> Demonstration:
        """Return what a model made of an episode of a copied store after a step, with so many steps more than it had.

        Raises OutsideFault.
        """
        task = replace(origin.task, limits={**origin.task.limits, "steps": origin.task.limits["steps"] + more})
        # The label would make it another run of the evaluation.
        settings = replace(origin.settings, model=model.name, adapter=None, learn=False, label="")
        run = start(store, [task], settings, model.fingerprint)
        copy = journal.copy_beginning(store, origin.record.id, step, run, 0, settings.stated(task))
        watch = Holding()
        memory = Alone(load_policy(settings.experience), newest)
        player = Run(store, run, settings, model, watch, {task.environment: self.adapter}, memory)
        result = player.play_task(0, task, journal.episode(store, copy))
        if watch.episode is None or result.fault:
            raise OutsideFault(result.fault or f"The task {task.name} could not be begun.")
        return shown(
            self.adapter,
            task,
            watch.episode,
            result,
            self.seed,
            self.transcript_format,
            Bank.EVALUATED,
            after=step,
        )
