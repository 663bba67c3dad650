"""Plays the tasks of a run one after another and records each step as it happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Protocol

from ..environments import Adapter, load_adapter
from ..experience import journal
from ..experience.evolve import close_episode
from ..experience.journal import EpisodeRecord
from ..experience.session import EpisodeExperience
from ..experience.store import Store
from ..harness import VERBS, Decode, Diverged, Episode, Model, Outcome, OutsideFault, Step, Workspace
from .settings import Method, RunSettings
from .task import Task


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
    episode: int | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    fault: str | None = None


class Watcher(Protocol):
    """Is told what happens, as it happens."""

    def began(self, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        """An episode begins; `recorded` steps were played in an earlier session of the run."""
        ...

    def stepped(self, step: Step) -> None:
        """A step was played and recorded."""
        ...

    def ended(self, result: Result) -> None:
        """An episode ended."""
        ...


def start(store: Store, tasks: Sequence[Task], settings: RunSettings, fingerprint: Mapping[str, object]) -> int:
    """Record a new run of the tasks and return its id."""
    recorded = {
        **asdict(settings),
        "tasks": [asdict(task) for task in tasks],
        "fingerprint": dict(fingerprint),
    }
    return journal.begin_run(store, recorded)


def recorded_run(store: Store, run: int) -> tuple[list[Task], RunSettings]:
    """Return the tasks and settings with which a run was started."""
    recorded = dict(journal.run(store, run).settings)
    tasks = [Task(**task) for task in recorded.pop("tasks")]
    recorded.pop("fingerprint")
    decode = recorded.pop("decode")
    settings = RunSettings(
        **{**recorded, "method": Method(recorded["method"]), "decode": Decode(decode) if decode else None}
    )
    return tasks, settings


def play(
    store: Store, run: int, tasks: Sequence[Task], settings: RunSettings, model: Model, watcher: Watcher
) -> list[Result]:
    """Play what a run has not played yet and return the results of all its tasks, in their order.

    A fault outside ends its episode and the run goes on with the next task; KeyboardInterrupt ends the run, which can
    be played on later. Either way every step that happened is in the store.
    """
    played = {episode.number: episode for episode in journal.episodes(store, run)}
    adapters: dict[str, Adapter] = {}
    results: list[Result] = []
    status = "interrupted"
    journal.claim_run(store, run)
    try:
        for number, task in enumerate(tasks):
            before = played.get(number)
            if before and before.outcome is not None:
                result = _result(before)
            else:
                result = _play_task(store, run, number, task, before, settings, model, adapters, watcher)
            results.append(result)
        status = "fault" if any(result.fault for result in results) else "finished"
    finally:
        for adapter in adapters.values():
            adapter.close()
        journal.finish_run(store, run, status)
    return results


def _play_task(
    store: Store,
    run: int,
    number: int,
    task: Task,
    before: EpisodeRecord | None,
    settings: RunSettings,
    model: Model,
    adapters: dict[str, Adapter],
    watcher: Watcher,
) -> Result:
    episode = before.id if before else None
    try:
        if task.environment not in adapters:
            adapters[task.environment] = load_adapter(task.environment)
        adapter = adapters[task.environment]
        needs = adapter.needs.model_validate(task.needs)
        scope = task.scope if settings.scope is None else settings.scope
        finished = False
        while not finished:
            with closing(adapter.open(needs, task.goal)) as environment:
                brief = environment.brief
                if episode is None:
                    episode = journal.begin_episode(
                        store, run, number, task.name, task.source, task.environment, brief, scope
                    )
                experience = EpisodeExperience(store, episode, scope, brief.world)
                workspace = Workspace(brief.goal, environment.evidence, experience, settings.method.parts)
                playing = Episode(environment, model.session(task.name), workspace, settings.episode(task))
                finished = _play_episode(store, episode, playing, task, watcher)
    except OutsideFault as fault:
        if episode is None:
            result = Result(task.name, "fault", False, 0, {}, run, fault=str(fault))
        else:
            journal.fail_episode(store, episode, str(fault))
            result = _result(journal.episode(store, episode))
    else:
        assert episode is not None
        result = _result(journal.episode(store, episode))
    watcher.ended(result)
    return result


def _play_episode(store: Store, number: int, episode: Episode, task: Task, watcher: Watcher) -> bool:
    """Play an episode on to its end; False where the environment isn't the one that was recorded."""
    recorded = journal.steps(store, number)
    watcher.began(task, episode, recorded)
    try:
        for step in episode.play(recorded):
            journal.add_step(store, number, step)
            watcher.stepped(step)
    except Diverged as error:
        # What was played elsewhere says nothing about this environment.
        journal.restart_episode(store, number, str(error))
        return False
    assert episode.outcome is not None
    won = episode.outcome is Outcome.WON
    close_episode(store, number, episode.outcome.value, won, episode.workspace.belief)
    return True


def _result(record: EpisodeRecord) -> Result:
    calls = Counter({verb: count for verb, count in record.calls.items() if verb in VERBS})
    return Result(
        task=record.task,
        outcome=record.outcome or "fault",
        success=bool(record.success),
        steps=record.steps,
        calls=dict(calls),
        run=record.run,
        episode=record.id,
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        seconds=record.seconds,
        fault=record.fault if record.outcome is None else None,
    )
