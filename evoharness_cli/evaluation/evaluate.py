"""Plays tasks by methods by seeds, several episodes at once, into one store that holds the whole evaluation.

The store begins as a copy of the experience that is evaluated, or empty, and none of its episodes teach it anything,
unless a live bank is evaluated, which evolves block by block (`evolving`). Each method with a seed is a run in it, so
that it can be inspected like any other, and be resumed.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from ..cluster.places import HERE, Place
from ..experience import journal
from ..experience.journal import EpisodeRecord
from ..experience.policies import MemoryPolicy
from ..experience.store import Store
from ..experience.vocabulary import RunStatus
from ..harness import Model, Step, WrongUsage
from ..runs.memory import opened_memory
from ..runs.play import Result, Run, Unwatched, check_fingerprint, recorded_run, start
from ..runs.settings import RunSettings
from ..runs.spending import Budget, LimitedModel, read_price
from ..runs.task import Task
from .alone import Alone, newest
from .contenders import Contender
from .evolving import blocks, is_learnt, learn
from .fingerprints import shared_needs, tasks_sha256

_GLANCE = 0.2
"""Seconds between two looks at whether the person wants to stop."""


class Watcher(Protocol):
    """Is told of the progress."""

    def began(self, label: str, seed: int, done: int, won: int, of: int) -> None:
        """A method with a seed begins, with so many episodes done and won before."""
        ...

    def ended(self, result: Result) -> None:
        """An episode ended."""
        ...


@dataclass(frozen=True)
class _Planned:
    """One run of an evaluation: a method with a seed."""

    run: int
    tasks: list[Task]
    settings: RunSettings

    @property
    def evolves(self) -> int:
        """How many games are learnt at a time, 0 where none are."""
        return int(self.settings.evaluation.get("evolve_every") or 0)

    @property
    def blocks(self) -> list[range]:
        """The numbers of the games that are played before anything is learnt from them."""
        return blocks(len(self.tasks), self.evolves)


def begin(
    out: Path,
    tasks: Sequence[Task],
    contenders: Sequence[Contender],
    seeds: Sequence[int],
    needs: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
    place: Place = HERE,
) -> None:
    """Record in a store what is to be played; `needs` go over those of the tasks, `evaluation` is stated by results.

    Each contender's model is loaded once at the place, to record what it is.
    """
    with closing(Store.open(out)) as store:
        for contender in contenders:
            with closing(_load(place, contender.settings, 1)) as model, opened_memory(contender.settings) as memory:
                fingerprint = {**model.fingerprint, **memory.fingerprint}
            for seed in seeds:
                settled = [contender.settled(task, needs) for task in tasks]
                said = {**(evaluation or {}), "tasks_sha256": tasks_sha256(settled), "needs": shared_needs(settled)}
                run = start(store, settled, contender.seeded(seed, said), fingerprint)
                journal.finish_run(store, run, RunStatus.INTERRUPTED)


def play(out: Path, parallel: int, watcher: Watcher, max_cost: float | None = None, place: Place = HERE) -> None:
    """Play what an evaluation has not played yet at a place, `parallel` episodes at once; all is written from here.

    `max_cost` goes over what all of it may cost by its settings. Raises KeyboardInterrupt where the person stops it,
    and LimitReached where that is spent, after the steps in flight; it can be played on later.
    """
    with closing(Store.open(out)) as store:
        runs = evaluation_runs(store)
        budget = _budget(store, runs, max_cost)
        for planned in runs:
            before = [each for each in journal.episodes(store, planned.run) if _ended(each)]
            done, won = len(before), sum(bool(each.success) for each in before)
            watcher.began(planned.settings.label, planned.settings.seed, done, won, len(planned.tasks))
            unlearnt = planned.evolves and not all(is_learnt(store, planned.run, each) for each in planned.blocks)
            if done < len(planned.tasks) or unlearnt:
                _check_tasks(planned)
                _play_run(store, planned, min(parallel, len(planned.tasks)), watcher, budget, place)


def evaluation_runs(store: Store) -> list[_Planned]:
    """Return the runs of the evaluation that a store holds, in their order."""
    planned = []
    for record in reversed(journal.runs(store, limit=-1)):
        tasks, settings, _ = recorded_run(store, record.id)
        if settings.label:
            planned.append(_Planned(record.id, tasks, settings))
    return planned


def _budget(store: Store, runs: Sequence[_Planned], max_cost: float | None) -> Budget | None:
    """Return what is left to be spent on all runs together, None where there is no limit."""
    priced = [planned for planned in runs if planned.settings.price]
    price = next((planned.settings.price for planned in priced), None)
    if price is None:
        if max_cost is None:
            return None
        raise WrongUsage("No --price was given when the evaluation began, so that --max-cost can't be kept.")
    limit = priced[0].settings.max_cost if max_cost is None else max_cost
    if limit is None:
        return None
    paid = [episode for planned in priced for episode in journal.episodes(store, planned.run)]
    return Budget(read_price(price), limit, paid)


def _play_run(
    store: Store, planned: _Planned, parallel: int, watcher: Watcher, budget: Budget | None, place: Place
) -> None:
    """Play what is left of a run, and learn each block that has ended before the next one, where it evolves.

    A block in which a game couldn't be played to its end holds back those after it.
    """
    _, _, fingerprint = recorded_run(store, planned.run)
    status, stop = RunStatus.INTERRUPTED, threading.Event()
    with (
        closing(_load(place, planned.settings, parallel)) as model,
        opened_memory(planned.settings) as memory,
        journal.playing(store, planned.run),
    ):
        check_fingerprint(planned.run, fingerprint, {**model.fingerprint, **memory.fingerprint})
        try:
            asked = LimitedModel(model, budget) if budget and planned.settings.price else model
            with _players(store.path, planned, asked, memory.policy, parallel, stop, place) as players:
                for block in planned.blocks:
                    before = {episode.number: episode for episode in journal.episodes(store, planned.run)}
                    left = [(number, planned.tasks[number]) for number in block if not _ended(before.get(number))]
                    faults = 0
                    for result in _in_parallel(left, before, players, stop):
                        watcher.ended(result)
                        faults += result.fault is not None
                    if planned.evolves and faults:
                        break
                    if planned.evolves:
                        learn(store, planned.run, block, planned.settings.method.parts, memory.policy)
                else:
                    status = RunStatus.FINISHED
        finally:
            journal.finish_run(store, planned.run, status)


def _ended(episode: EpisodeRecord | None) -> bool:
    return episode is not None and episode.outcome is not None


def _check_tasks(planned: _Planned) -> None:
    """Raise WrongUsage where the files of the tasks aren't what they were."""
    recorded, found = planned.settings.evaluation.get("tasks_sha256"), tasks_sha256(planned.tasks)
    if recorded not in (None, found):
        raise WrongUsage(
            f"The files of the tasks have changed since the evaluation began (expected {recorded[:12]}, found "
            f"{found[:12]}). Bring them back, or begin another evaluation."
        )


class _Stopped(BaseException):
    """The evaluation is to end; raised between the steps of an episode, which stays unfinished."""


class _Stopping(Unwatched):
    """Ends the episodes of a player once the evaluation is to end."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def stepped(self, step: Step) -> None:
        """Raise where this step is to be the last for now."""
        del step
        if self._stop.is_set():
            raise _Stopped


@contextmanager
def _players(
    path: Path,
    planned: _Planned,
    model: Model,
    memory: MemoryPolicy,
    count: int,
    stop: threading.Event,
    place: Place,
) -> Iterator[queue.Queue[Run]]:
    """Yield players that are free, each with a store and engines of its own."""
    with ExitStack() as opened:
        free: queue.Queue[Run] = queue.Queue()
        for _ in range(count):
            store = opened.enter_context(Store.open(path))
            adapters = place.adapters({task.environment for task in planned.tasks})
            alone = Alone(memory, newest)
            player = Run(store, planned.run, planned.settings, model, _Stopping(stop), adapters, alone)
            opened.callback(player.close)
            free.put(player)
        yield free


def _in_parallel(
    left: Sequence[tuple[int, Task]],
    before: dict[int, EpisodeRecord],
    players: queue.Queue[Run],
    stop: threading.Event,
) -> Iterator[Result]:
    """Yield results as they come, with every player busy; left early, it waits for the steps in flight only."""

    def play_one(number: int, task: Task) -> Result:
        player = players.get()
        try:
            return player.play_task(number, task, before.get(number))
        finally:
            players.put(player)

    parallel = players.qsize()
    waiting = iter(left)
    running: set[Future[Result]] = set()
    with ThreadPoolExecutor(parallel) as pool:
        try:
            while True:
                running |= {pool.submit(play_one, *each) for each in islice(waiting, parallel - len(running))}
                if not running:
                    return
                done, running = wait(running, timeout=_GLANCE, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BaseException:
            stop.set()
            raise


def _load(place: Place, settings: RunSettings, slots: int) -> Model:
    options = settings.model_options
    options["slots"] = slots
    return place.load(settings.model, **options)
