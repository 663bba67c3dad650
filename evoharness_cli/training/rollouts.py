"""Groups of episodes of the same games, played at once by the policy that is trained, and recorded like any run.

The store of an update's rollouts begins as a copy of the bank. Each of a group's episodes belongs to a run of its own,
with a seed of its own, so that the first run has one episode of every game. No episode sees what another one notes. An
episode is a function of the policy, the bank and the seed, so one that was interrupted is played on to the same end.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..cluster.places import HERE, Place, Sampler, SamplerSession
from ..environments import Adapter
from ..evaluation.alone import Alone
from ..experience import journal
from ..experience.journal import EpisodeRecord
from ..experience.policies import load_policy
from ..experience.store import Store
from ..experience.vocabulary import RunStatus
from ..harness import Brief, Episode, Model, OutsideFault, Step
from ..runs.play import Run, Unwatched, recorded_run, start
from ..runs.settings import RunSettings
from ..runs.task import Task
from .recording import Recorder, Recording, Turn, add_turn, drop_turns, make_table, read_turns

ROLLOUTS = "rollouts"
"""What the runs of an update's groups are called in their settings."""


class Stopped(Exception):
    """Training is to end; raised between two steps of an episode, which stays unfinished."""


@dataclass(frozen=True)
class Rollout:
    """One episode. `game` is its number among the update's, `sample` its place in the group, from 0."""

    game: int
    sample: int
    episode: int
    steps: tuple[Step, ...]
    turns: tuple[Turn, ...]
    """The replies, of which the first made step 1."""
    won: bool
    budget: int
    """Charged steps that it might have taken."""
    session: SamplerSession | None = None
    """What played it, where it was kept to be forked."""


@dataclass(frozen=True)
class Job:
    """An episode to play: of which run, which of its tasks, and on which model; `keep` its session, to fork it."""

    run: int
    game: int
    model: Model
    keep: bool = False


@dataclass
class Stage:
    """Plays the episodes of one update, `parallel` at once, in a store at `path` that began as a copy of the bank.

    `stop` is asked between steps, and then Stopped raised.
    """

    path: Path
    update: int
    model: Sampler
    parallel: int
    stop: Callable[[], bool]
    told: Callable[[], None] = lambda: None
    """Called, by any thread, when an episode has ended."""
    place: Place = HERE
    """What opens the environments."""
    runs: list[int] = field(default_factory=list)
    """One for each place in a group."""
    bank: int = 0
    """The number of the bank's newest entry."""
    environments: frozenset[str] = frozenset()
    """Those of the tasks."""

    def begin(self, tasks: Sequence[Task], settings: RunSettings, seeds: Sequence[int]) -> None:
        """Record a run of the tasks for each seed, unless that was done."""
        self.environments = frozenset(task.environment for task in tasks)
        with closing(Store.open(self.path)) as store:
            make_table(store)
            self.runs = self.start(store, ROLLOUTS, tasks, settings, seeds)
            self.bank = store.number(
                "SELECT max(id) FROM entries WHERE episode IS NULL "
                "OR episode IN (SELECT id FROM episodes WHERE run < ?)",
                [self.runs[0]],
            )

    def start(
        self, store: Store, part: str, tasks: Sequence[Task], settings: RunSettings, seeds: Sequence[int]
    ) -> list[int]:
        """Return the runs of a part of this update, one for each seed; they are recorded unless they were."""
        said = {"update": self.update, "part": part}
        where = " AND ".join(f"json_extract(settings, '$.evaluation.{key}') = ?" for key in said)
        with store.transaction():
            rows = store.rows(f"SELECT id FROM runs WHERE {where} ORDER BY id", [*said.values()])
            settings = replace(settings, evaluation=said)
            return [row["id"] for row in rows] or [
                start(store, tasks, replace(settings, seed=seed), self.model.fingerprint) for seed in seeds
            ]

    def play(self, games: Sequence[int], keep: Collection[int] = ()) -> list[list[Rollout]]:
        """Return a group of episodes for each game, by number; what was played already isn't played again.

        The session of the first episode of each game in `keep` is kept. Raises OutsideFault where an episode can't be
        played to its end, and Stopped.
        """
        recorder = Recorder(self.model)
        jobs = [
            Job(run, game, recorder, keep=game in keep and not place)
            for game in games
            for place, run in enumerate(self.runs)
        ]
        played = iter(self.episodes(jobs))
        return [[replace(next(played), sample=sample) for sample in range(len(self.runs))] for _ in games]

    def episodes(self, jobs: Sequence[Job]) -> list[Rollout]:
        """Return the episodes of jobs, in their order; raises as `play`."""
        with _players(self) as players, ThreadPoolExecutor(self.parallel) as pool:
            futures: list[Future[Rollout]] = []

            def play_one(job: Job) -> Rollout:
                player = players.get()
                try:
                    played = player.play(job)
                finally:
                    players.put(player)
                self.told()
                return played

            try:
                futures += [pool.submit(play_one, job) for job in jobs]
                return [future.result() for future in futures]
            except BaseException:
                for future in futures:
                    future.cancel()
                raise

    def end(self) -> None:
        """Record that the update's runs are finished."""
        with closing(Store.open(self.path)) as store:
            for row in store.rows("SELECT id FROM runs WHERE finished IS NULL"):
                journal.finish_run(store, row["id"], RunStatus.FINISHED)


@dataclass
class _Player:
    """Plays one episode at a time, with a store and engines of its own."""

    stage: Stage
    store: Store
    adapters: dict[str, Adapter]

    def play(self, job: Job) -> Rollout:
        if self.stage.stop():
            raise Stopped
        tasks, settings, _ = recorded_run(self.store, job.run)
        found = self.store.row("SELECT id FROM episodes WHERE run = ? AND number = ?", [job.run, job.game])
        before = journal.episode(self.store, found["id"]) if found else None
        if before and before.outcome is None:
            self._complete(before)
        watch = _Watch(self.stage, self.store, job)
        memory = Alone(load_policy(settings.experience), lambda _: self.stage.bank)
        run = Run(self.store, job.run, settings, job.model, watch, self.adapters, memory)
        result = run.play_task(job.game, tasks[job.game], before)
        if result.fault or result.episode is None:
            raise OutsideFault(f"The task {result.task} couldn't be played: {result.fault}")
        return Rollout(
            game=job.game,
            sample=0,
            episode=result.episode,
            steps=tuple(journal.steps(self.store, result.episode)),
            turns=tuple(read_turns(self.store, result.episode)),
            won=result.success,
            budget=int(tasks[job.game].limits["steps"]),
            session=watch.session,
        )

    def _complete(self, before: EpisodeRecord) -> None:
        """Begin an episode anew where a step's reply was lost, as when the process died between the two."""
        steps = self.store.number("SELECT count(*) FROM steps WHERE episode = ? AND number > 0", [before.id])
        if steps != self.store.number("SELECT count(*) FROM turns WHERE episode = ?", [before.id]):
            brief = Brief(before.goal, before.kind, before.world)
            with self.store.transaction():
                drop_turns(self.store, before.id)
                journal.restart_episode(self.store, before.id, brief, "the tokens of a reply were lost")

    def close(self) -> None:
        for adapter in self.adapters.values():
            adapter.close()
        self.store.close()


@contextmanager
def _players(stage: Stage) -> Iterator[queue.Queue[_Player]]:
    with ExitStack() as opened:
        free: queue.Queue[_Player] = queue.Queue()
        for _ in range(stage.parallel):
            player = _Player(stage, Store.open(stage.path), stage.place.adapters(stage.environments))
            opened.callback(player.close)
            free.put(player)
        yield free


class _Watch(Unwatched):
    """Keeps the tokens of each step's reply as soon as the step is recorded."""

    def __init__(self, stage: Stage, store: Store, job: Job) -> None:
        self._stage, self._store, self._job = stage, store, job
        self._recording: Recording | None = None
        self._episode = 0
        self.session: SamplerSession | None = None

    def began(self, number: int, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        """Find out which episode it is."""
        del task
        assert isinstance(episode.model, Recording)
        self._recording = episode.model
        self.session = episode.model.sampler if self._job.keep else None
        self._episode = self._store.number(
            "SELECT id FROM episodes WHERE run = ? AND number = ?", [self._job.run, number]
        )
        if not recorded:
            drop_turns(self._store, self._episode)

    def stepped(self, step: Step) -> None:
        """Keep the tokens, and end here where training is to end."""
        assert self._recording is not None
        if step.number:
            add_turn(self._store, self._episode, step.number, self._recording.turns[-1])
        if self._stage.stop():
            raise Stopped
