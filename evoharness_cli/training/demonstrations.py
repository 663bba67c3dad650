"""Demonstrations: episodes that a teacher wins under the very harness that a policy is evaluated in.

They are made in chapters. A chapter is one life of a bank: it begins empty, and each of its episodes recalls what the
earlier ones taught, so that demonstrations have banks of many sizes. Some episodes are shown with no bank at all, some
in a world that was played before, and some after someone mistaken noted where a thing is. A chapter depends on
its number, its tasks and the seed only.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from ..environments import Adapter, Teaches
from ..experience.noting import add_entry
from ..experience.recall import RECALL_FORMAT
from ..experience.store import Store
from ..harness import VERBS, Episode, Model, OutsideFault, Step, WrongUsage
from ..runs.play import Result, Run, Unwatched, start
from ..runs.settings import RunSettings
from ..runs.task import Task

CHAPTERS = (50, 150, 400)
"""Episodes of the chapters, which take turns in this order: so many episodes has a bank learnt at most."""
_WITHOUT, _AGAIN, _MISTAKEN = 0.15, 0.1, 0.15
"""The shares of episodes shown without a bank, in a world that was played before, and after a mistaken note."""


Item = TypeVar("Item")


class Bank(StrEnum):
    """What an episode recalls from."""

    EMPTY = "empty"
    GROWING = "growing"
    PLAYED_BEFORE = "played before"
    MISTAKEN = "mistaken"
    EVALUATED = "evaluated"
    """What an evaluation was played with."""


@dataclass(frozen=True)
class Turn:
    """A message of the transcript; `loss` tells whether the reply is to be learnt, None where it is no reply."""

    role: str
    text: str
    loss: bool | None = None


@dataclass(frozen=True)
class Demonstration:
    """One episode, as a line of the file holds it."""

    task: str
    kind: str
    goal: str
    success: bool
    steps: int
    verbs: Mapping[str, int]
    """Meta-actions by verb."""
    slips: Mapping[str, str]
    """Replies that are wrong on purpose: the kind of mistake by step number."""
    after: int
    """How many steps of it another had played before; none of these is to be learnt."""
    bank: str
    learnt: int
    """Episodes that the bank had learnt."""
    seed: int
    recall_format: str
    format: str
    """See `transcript_format`."""
    labels: Mapping[str, str]
    """What the environment says of the task."""
    messages: tuple[Turn, ...]

    def line(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        turns = [{key: value for key, value in asdict(turn).items() if value is not None} for turn in self.messages]
        return {**asdict(self), "messages": turns}


class HeldOut(WrongUsage):
    """A task that is kept for evaluation was to be demonstrated."""


def check_not_held_out(adapter: Adapter, tasks: Sequence[Task]) -> None:
    """Raise HeldOut where a task is kept for evaluation."""
    if not isinstance(adapter, Teaches):
        return
    kept = [task for task in tasks if adapter.is_held_out(adapter.needs.model_validate(task.needs))]
    if kept:
        raise HeldOut(
            f"Expected tasks to train on, found {len(kept)} of {len(tasks)} that are kept for evaluation, such as "
            f"{kept[0].name}. For ALFWorld name alfworld:training."
        )


def draw(tasks: Sequence[Task], seed: int, count: int | None = None) -> list[Task]:
    """Return the tasks in a random order, the first `count` of them where that is given."""
    shuffled = list(tasks)
    random.Random(f"demonstrations {seed}").shuffle(shuffled)
    return shuffled[:count]


def chapters(items: Sequence[Item]) -> list[list[Item]]:
    """Return tasks, or whatever is demonstrated, cut into chapters."""
    left, cut = list(items), list[list[Item]]()
    while left:
        size = CHAPTERS[len(cut) % len(CHAPTERS)]
        cut.append(left[:size])
        del left[:size]
    return cut


@dataclass
class Workshop:
    """Makes demonstrations of settled tasks of one environment. `teacher` is a `Teacher` or any other model."""

    adapter: Adapter
    teacher: Model
    seed: int
    transcript_format: str
    adapters: dict[str, Adapter] = field(default_factory=dict)

    def chapter(self, number: int, tasks: Sequence[Task]) -> Iterator[Demonstration]:
        """Yield what came of each task of a chapter, lost ones too. Raises OutsideFault."""
        rng = random.Random(f"chapter {self.seed} {number}")
        with scratch() as folder, scratch_store(folder / "bank.db") as bank, scratch_store(folder / "none.db") as none:
            growing, empty = self._run(bank, tasks, learn=True), self._run(none, tasks, learn=False)
            played = 0
            for index, task in enumerate(tasks):
                kind = self._draw(rng)
                if kind is Bank.PLAYED_BEFORE:
                    growing.play_task(len(tasks) + index, task, None)
                    played += 1
                run = empty if kind is Bank.EMPTY else growing
                watch = _Watch(self.adapter, run.store, task, rng if kind is Bank.MISTAKEN else None)
                run.watcher = watch
                result = run.play_task(index, task, None)
                if watch.episode is None or result.fault:
                    raise OutsideFault(result.fault or f"The task {task.name} could not be begun.")
                yield self._shown(task, watch.episode, result, kind, played if run is growing else 0)
                played += run is growing

    def _draw(self, rng: random.Random) -> Bank:
        shares = {Bank.EMPTY: _WITHOUT, Bank.PLAYED_BEFORE: _AGAIN, Bank.MISTAKEN: _MISTAKEN}
        drawn = rng.choices([*shares, Bank.GROWING], [*shares.values(), 1 - sum(shares.values())])[0]
        can_mislead = isinstance(self.adapter, Teaches)
        return drawn if drawn is not Bank.MISTAKEN or can_mislead else Bank.GROWING

    def _run(self, store: Store, tasks: Sequence[Task], learn: bool) -> Run:
        settings = RunSettings(model=self.teacher.name, seed=self.seed, learn=learn)
        number = start(store, tasks, settings, self.teacher.fingerprint)
        return Run(store, number, settings, self.teacher, Unwatched(), self.adapters)

    def _shown(self, task: Task, episode: Episode, result: Result, bank: Bank, learnt: int) -> Demonstration:
        return shown(self.adapter, task, episode, result, self.seed, self.transcript_format, bank, learnt)


def shown(
    adapter: Adapter,
    task: Task,
    episode: Episode,
    result: Result,
    seed: int,
    transcript_format: str,
    bank: Bank,
    learnt: int = 0,
    after: int = 0,
) -> Demonstration:
    """Return an episode that has ended as a demonstration of what its model did after a step."""
    assert episode.transcript is not None
    slips: Mapping[int, str] = getattr(episode.model, "slips", {})
    labels: Mapping[str, str] = {}
    if isinstance(adapter, Teaches):
        labels = adapter.labels(adapter.needs.model_validate(task.needs))
    return Demonstration(
        task=f"{task.environment}:{task.name}",
        kind=episode.environment.brief.kind,
        goal=episode.environment.brief.goal,
        success=result.success,
        steps=result.steps,
        verbs={verb: result.calls[verb] for verb in VERBS if verb in result.calls},
        slips={str(number): kind for number, kind in slips.items()},
        after=after,
        bank=bank.value,
        learnt=learnt,
        seed=seed,
        recall_format=RECALL_FORMAT,
        format=transcript_format,
        labels=dict(labels),
        messages=tuple(_turns(episode, slips, after)),
    )


def _turns(episode: Episode, slips: Mapping[int, str], after: int) -> Iterator[Turn]:
    """Yield the transcript; what was wrong on purpose, or turned out not to be possible, is not to be learnt."""
    assert episode.transcript is not None
    number = 0
    for message in episode.transcript.messages:
        if message.role != "assistant":
            yield Turn(message.role, message.text)
            continue
        number += 1
        learnt = number > after and number not in slips and not episode.steps[number].invalid
        yield Turn(message.role, message.text, learnt)


class Holding(Unwatched):
    """Keeps hold of the episode that is played."""

    episode: Episode | None = None

    def began(self, number: int, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        """Keep hold of it."""
        del number, task, recorded
        self.episode = episode


class _Watch(Holding):
    """Has someone mistaken note something, too, once the episode has begun."""

    def __init__(self, adapter: Adapter, store: Store, task: Task, rng: random.Random | None) -> None:
        self._adapter, self._store, self._task, self._rng = adapter, store, task, rng

    def stepped(self, step: Step) -> None:
        """Note what is wrong about the world after its first observation."""
        if step.number or self._rng is None or self.episode is None or not isinstance(self._adapter, Teaches):
            return
        environment = self.episode.environment
        if said := self._adapter.hearsay(environment, self._rng):
            add_entry(self._store, "note", said, self._task.scope, world=environment.brief.world)


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="evoharness-demonstrations-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def scratch_store(path: Path) -> Iterator[Store]:
    """Yield a store that doesn't last."""
    with Store.open(path) as store:
        # The bank is thrown away afterwards: nothing of it has to survive a loss of power.
        store.database.execute("PRAGMA synchronous = OFF")
        yield store
