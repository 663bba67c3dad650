"""What a call of the harness was worth: an episode is forked at the call, and played on with and without it.

    value = mean R of the episodes that go on after the call - mean R of those in which that step may do anything else

Up to the fork the episodes are the same, word for word: the environment is played again to there, and the engine copies
its cache. So the difference is the call's effect and the luck of the policy's own sampling, which more branches average
out. Where the call recalled entries, the difference in success is written down with each of them.

Forking at a state and averaging over continuations is the Monte Carlo estimate of an advantage (as in VinePPO,
Kazemnejad et al. 2024, arXiv 2410.01679), here between two choices of one step.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

from ..cluster.places import Sampler, SamplerSession
from ..experience import journal
from ..experience.entries import record_event
from ..experience.store import Store
from ..runs.settings import RunSettings
from ..runs.task import Task
from .recording import Recorder, Recording
from .rollouts import Job, Rollout, Stage

FORKS = "forks"
"""What the runs of forked episodes are called in their settings."""
FORKED = "forked"
"""The event that tells what an entry was worth where it was recalled."""
_WORTH_FORKING = ("track", "commit", "recall")
"""What a note is worth shows in other episodes only."""


@dataclass(frozen=True)
class Fork:
    """What one call was worth. `rollout` is the episode, `step` the number of its step."""

    rollout: Rollout
    step: int
    verb: str
    entries: tuple[int, ...]
    value: float
    """In units of reward."""
    success: float
    """How much more often the episode was won with the call, from -1 to 1."""


def choose_call(rollout: Rollout, seed: int) -> int | None:
    """Return the number of a step of an episode that calls the harness, drawn by a seed; None where none does."""
    calls = [step.number for step in rollout.steps if step.kind in _WORTH_FORKING]
    if not calls:
        return None
    return random.Random(f"fork {seed} {rollout.game} {rollout.sample}").choice(calls)


def fork_calls(
    stage: Stage,
    rollouts: Sequence[Rollout],
    tasks: Sequence[Task],
    settings: RunSettings,
    branches: int,
    seed: int,
    worth: Callable[[Rollout], float],
) -> list[Fork]:
    """Fork one call of each episode that has one, and play `branches` episodes on with and as many without it.

    The episode itself is one of those with it. `worth` is the reward of an episode; `tasks` are the update's. Raises
    what `Stage.episodes` raises.
    """
    calls = [(each, step) for each in rollouts if (step := choose_call(each, seed)) is not None]
    if not calls:
        return []
    seeds = [seed + 1 + branch for branch in range(2 * branches - 1)]
    with closing(Store.open(stage.path)) as store:
        runs = stage.start(store, FORKS, [tasks[each.game] for each, _ in calls], settings, seeds)
        for place, (rollout, step) in enumerate(calls):
            for branch, run in enumerate(runs):
                _copy_beginning(store, run, place, rollout, step - (branch < branches))
    jobs = [
        Job(run, place, _Forking(stage.model, rollout.session, _call(rollout, step) if branch < branches else None))
        for place, (rollout, step) in enumerate(calls)
        for branch, run in enumerate(runs)
    ]
    played = stage.episodes(jobs)
    found = []
    for place, (rollout, step) in enumerate(calls):
        own = played[place * len(runs) : (place + 1) * len(runs)]
        without, after = own[:branches], [rollout, *own[branches:]]
        found.append(
            Fork(
                rollout=rollout,
                step=step,
                verb=rollout.steps[step].kind,
                entries=rollout.steps[step].recalled,
                value=_mean(map(worth, after)) - _mean(map(worth, without)),
                success=_mean(each.won for each in after) - _mean(each.won for each in without),
            )
        )
    return found


def record_forks(store: Store, forks: Sequence[Fork], update: int) -> None:
    """Write down with each entry that was recalled what its recalls were worth, this time and so far, as events.

    Entries that are gone are left out.
    """
    with store.transaction():
        for fork in forks:
            for entry in fork.entries:
                if store.row("SELECT 1 FROM entries WHERE id = ?", [entry]):
                    mean, count = _so_far(store, entry)
                    mean, count = (mean * count + fork.success) / (count + 1), count + 1
                    record_event(
                        store,
                        FORKED,
                        entry,
                        fork.rollout.episode,
                        fork.step,
                        update=update,
                        value=round(fork.value, 4),
                        success=round(fork.success, 4),
                        so_far=f"{mean:+.2f} success over {count} fork{'s' * (count > 1)}",
                        mean=mean,
                        forks=count,
                    )


def _call(rollout: Rollout, step: int) -> tuple[int, str]:
    return step, rollout.steps[step].kind


def _so_far(store: Store, entry: int) -> tuple[float, int]:
    row = store.row("SELECT detail FROM events WHERE entry = ? AND kind = ? ORDER BY id DESC LIMIT 1", [entry, FORKED])
    detail = json.loads(row["detail"]) if row else {"mean": 0.0, "forks": 0}
    return float(detail["mean"]), int(detail["forks"])


def _copy_beginning(store: Store, run: int, number: int, rollout: Rollout, last: int) -> None:
    """Begin an episode as a copy of another one up to a step, unless that was done."""
    with store.transaction():
        if store.row("SELECT 1 FROM episodes WHERE run = ? AND number = ?", [run, number]):
            return
        seed = journal.run(store, run).settings["seed"]
        episode = journal.copy_beginning(store, rollout.episode, last, run, number, {"seed": seed})
        store.write(
            "INSERT INTO turns SELECT ?, step, turn FROM turns WHERE episode = ? AND step <= ?",
            [episode, rollout.episode, last],
        )


class _Forking(Recorder):
    """Goes on from where a session is; `without` is the call that is left out where it is to be."""

    def __init__(self, model: Sampler, origin: SamplerSession | None, without: tuple[int, str] | None) -> None:
        super().__init__(model)
        self._origin, self._without = origin, without

    def session(self, task: str) -> Recording:
        """Return a copy of the session."""
        session = self._origin.fork() if self._origin else self.model.session(task)
        return Recording(session, self._without)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
