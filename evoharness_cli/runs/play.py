"""Plays the tasks of a run one after another and records each step as it happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from ..environments import Adapter, load_adapter
from ..experience import journal
from ..experience.besides import add_besides, keep_besides
from ..experience.journal import EpisodeRecord
from ..experience.policies import STAND_IN, MemoryPolicy, load_policy
from ..experience.store import Store
from ..harness import (
    VERBS,
    Brief,
    Diverged,
    Environment,
    Episode,
    Model,
    Outcome,
    OutsideFault,
    Step,
    Workspace,
    WrongUsage,
)
from ..models.unanswered import Unanswered
from .settings import RunSettings, recorded_settings
from .spending import cost_of
from .task import Task

OUTSIDE = "outside"
"""What the fingerprint of a run has that another program's agent played: the name of that agent."""


@dataclass(frozen=True)
class Result:
    """What became of one task. `outcome` is `fault` where something outside failed, and `fault` says what."""

    task: str
    outcome: str
    success: bool
    steps: int
    calls: Mapping[str, int]
    """Meta-actions by verb."""
    run: int
    settings: Mapping[str, Any]
    """How it was played: method, model, decode, limits and the rest."""
    episode: int | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    fault: str | None = None
    cost: float | None = None
    """What it has cost by the price of the settings, None without one."""


class Watcher(Protocol):
    """Is told what happens, as it happens. Tasks are counted from 0, in the order of the run."""

    def began(self, number: int, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        """An episode begins; `recorded` steps were played before the run was interrupted."""
        ...

    def stepped(self, step: Step) -> None:
        """A step was played and recorded."""
        ...

    def began_anew(self, reason: str) -> None:
        """What was recorded of the episode was dropped, for a reason, and it begins again."""
        ...

    def ended(self, result: Result) -> None:
        """An episode ended, or had ended before the run was interrupted."""
        ...


class Unwatched:
    """A watcher that does nothing."""

    def began(self, number: int, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        """Do nothing."""

    def stepped(self, step: Step) -> None:
        """Do nothing."""

    def began_anew(self, reason: str) -> None:
        """Do nothing."""

    def ended(self, result: Result) -> None:
        """Do nothing."""


def start(store: Store, tasks: Sequence[Task], settings: RunSettings, fingerprint: Mapping[str, object]) -> int:
    """Record a new run of settled tasks and return its id."""
    recorded = {**asdict(settings), "tasks": [asdict(task) for task in tasks], "fingerprint": dict(fingerprint)}
    return journal.begin_run(store, recorded)


def recorded_run(store: Store, run: int) -> tuple[list[Task], RunSettings, dict[str, Any]]:
    """Return the tasks and settings with which a run was started, and the fingerprint of its model and memory.

    Raises NotFound, and WrongUsage for a run that was played by another program.
    """
    recorded = dict(journal.run(store, run).settings)
    tasks = [Task(**task) for task in recorded.pop("tasks")]
    fingerprint = recorded.pop("fingerprint")
    if OUTSIDE in fingerprint:
        raise WrongUsage(
            f"Run {run} was played by another program's agent ({fingerprint[OUTSIDE]}); only runs that were played "
            "here can be resumed."
        )
    return tasks, recorded_settings(recorded), fingerprint


def check_fingerprint(run: int, recorded: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Raise WrongUsage where a run would go on with another model, or curator, than it began with."""
    changed = [key for key in recorded if recorded[key] != now.get(key)]
    if changed:
        was = ", ".join(f"{key} {recorded[key]}" for key in changed)
        found = ", ".join(f"{key} {now.get(key)}" for key in changed)
        raise WrongUsage(f"Run {run} was played by another model: expected {was}; found {found}. Start a new run.")


@dataclass
class Run:
    """A recorded run that is being played."""

    store: Store
    id: int
    settings: RunSettings
    model: Model
    watcher: Watcher
    adapters: dict[str, Adapter] = field(default_factory=dict)
    memory: MemoryPolicy | None = None
    """What remembers; by default the policy of the settings with no curator model."""

    def __post_init__(self) -> None:
        self._memory = self.memory or load_policy(self.settings.experience)

    def play(self, tasks: Sequence[Task]) -> list[Result]:
        """Play what has not been played yet and return the results of all the tasks, in their order.

        A fault outside ends its episode and the run goes on with the next task; KeyboardInterrupt ends the run, which
        can be played on later. Either way every step that happened is in the store.
        """
        status = "interrupted"
        results: list[Result] = []
        with journal.playing(self.store, self.id):
            try:
                before = {episode.number: episode for episode in journal.episodes(self.store, self.id)}
                for number, task in enumerate(tasks):
                    results.append(self.play_task(number, task, before.get(number)))
                    self.watcher.ended(results[-1])
                status = "fault" if any(result.fault for result in results) else "finished"
            finally:
                self.close()
                journal.finish_run(self.store, self.id, status)
        return results

    def close(self) -> None:
        """End what the environments shared."""
        for adapter in self.adapters.values():
            adapter.close()
        self.adapters.clear()

    def play_task(self, number: int, task: Task, before: EpisodeRecord | None) -> Result:
        """Play a task, counted from 0, on from what was recorded `before`, and return what became of it."""
        if before and before.outcome is not None:
            return self._result(task, before)
        episode = before.id if before else None
        try:
            adapter = self._adapter(task.environment)
            needs = adapter.needs.model_validate(task.needs)
            finished = False
            while not finished:
                with closing(adapter.open(needs, task.goal)) as environment:
                    if episode is None:
                        episode = self._begin(number, task, environment.brief)
                    finished = self._play(number, task, episode, environment)
        except OutsideFault as fault:
            if episode is None:
                return Result(task.name, "fault", False, 0, {}, self.id, self._stated(task), fault=str(fault))
            with self.store.transaction():
                journal.fail_episode(self.store, episode, str(fault))
                if isinstance(fault, Unanswered):
                    add_besides(self.store, episode, fault.spent)
        assert episode is not None
        return self._result(task, journal.episode(self.store, episode))

    def _adapter(self, environment: str) -> Adapter:
        if environment not in self.adapters:
            self.adapters[environment] = load_adapter(environment)
        return self.adapters[environment]

    def _begin(self, number: int, task: Task, brief: Brief) -> int:
        return journal.begin_episode(
            self.store,
            self.id,
            number,
            task.name,
            task.source,
            task.environment,
            brief,
            task.scope,
            self._stated(task),
        )

    def _play(self, number: int, task: Task, record: int, environment: Environment) -> bool:
        """Play an episode on to its end; False where the environment isn't the one that was recorded."""
        brief, store = environment.brief, self.store
        recorded = journal.steps(store, record)
        if not recorded:
            journal.refresh_episode(store, record, brief)
        experience = self._memory.open(store, record, task.scope, brief.world, self.settings.learn)
        workspace = Workspace(brief.goal, environment.evidence, experience, self.settings.method.parts)
        episode = Episode(environment, self.model.session(task.name), workspace, self.settings.episode(task))
        self.watcher.began(number, task, episode, recorded)
        try:
            for step in episode.play(recorded):
                journal.add_step(store, record, step)
                self.watcher.stepped(step)
        except Diverged as error:
            # What was played elsewhere says nothing about this environment.
            with store.transaction():
                keep_besides(store, record)
                journal.restart_episode(store, record, brief, str(error))
            self.watcher.began_anew(str(error))
            return False
        assert episode.outcome is not None
        won = episode.outcome is Outcome.WON
        self._memory.close(store, record, episode.outcome.value, won, workspace.belief, self.settings.learn)
        return True

    def _stated(self, task: Task) -> dict[str, Any]:
        stand_in = self._memory.curated and self.settings.curator is None
        return {**self.settings.stated(task), **({"curator": STAND_IN} if stand_in else {})}

    def _result(self, task: Task, record: EpisodeRecord) -> Result:
        return Result(
            task=record.task,
            outcome=record.outcome or "fault",
            success=bool(record.success),
            steps=record.steps,
            calls={verb: count for verb, count in record.calls.items() if verb in VERBS},
            run=record.run,
            settings=self._stated(task),
            episode=record.id,
            prompt_tokens=record.prompt_tokens,
            completion_tokens=record.completion_tokens,
            seconds=record.seconds,
            fault=record.fault if record.outcome is None else None,
            cost=cost_of(record.settings, record),
        )
