"""The plan of every step comes from the record alone, and is the one that the harness had."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from report_making import ORACLE

from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Episode, Part, Step
from evoharness_cli.models import load_model
from evoharness_cli.report.plans import Replay, Subgoals
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.play import Run, Unwatched, start
from evoharness_cli.runs.settings import RunSettings
from evoharness_cli.runs.task import Task


class Looking(Unwatched):
    """Keeps the plan after each step of the episode that is played."""

    def __init__(self) -> None:
        self.plans: list[list[tuple[str, str, bool]]] = []

    def began(self, number: int, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        """Keep what to look at."""
        del number, task, recorded
        self._progress = episode.workspace.progress

    def stepped(self, step: Step) -> None:
        """Look."""
        del step
        now = self._progress
        self.plans.append([(each.name, each.status.value, each is now.current) for each in now.plan])


def test_the_plan_is_the_one_that_the_harness_had(tmp_path: Path) -> None:
    (task,) = (each.settled({}) for each in find_tasks(["heat-egg"]))
    watcher, settings = Looking(), RunSettings(ORACLE)
    with closing(Store.open(tmp_path / "played.db")) as store, closing(load_model(ORACLE)) as model:
        run = start(store, [task], settings, model.fingerprint)
        Run(store, run, settings, model, watcher).play([task])
        (episode,) = journal.episodes(store, run)
        steps = journal.steps(store, episode.id)
    replay = Replay(episode.goal, tuple(Part))
    replayed: list[Subgoals] = []
    for step in steps:
        if step.kind == "commit":
            replay.apply(step.number, step.action, step.observation)
        replayed.append(replay.plan())

    assert [[(name, status, now) for name, status, _, now in plan] for plan in replayed] == watcher.plans
    assert [status for _, status, _, _ in replayed[-1]].count("done") == 3


def test_evidence_is_read_from_the_answers() -> None:
    replay = Replay("tea", tuple(Part))
    replay.apply(1, "commit [find kettle | boil water needs find kettle | pour]", "plan: … now: find kettle")
    replay.apply(2, "commit [done]", "not yet: no kettle was seen. now: find kettle")
    assert [status for _, status, _, _ in replay.plan()] == ["open", "open", "open"]
    replay.apply(3, "commit [done]", "done: find kettle. now: boil water")
    replay.apply(4, "commit [done]", "done on your word: boil water. now: pour")
    replay.apply(5, "commit [blocked: no cup]", "blocked: pour. …")

    assert replay.plan() == [
        ("find kettle", "done", "done", False),
        ("boil water", "done", "done on your word; needs find kettle", False),
        ("pour", "blocked", "blocked: no cup", False),
    ]


def test_what_one_call_closed_is_closed_and_no_more() -> None:
    replay = Replay("tea", tuple(Part))
    replay.apply(1, "commit [fill kettle | boil | boil water | pour]", "plan: … now: fill kettle")
    replay.apply(2, "commit [done]", "done on your word: fill kettle; done: boil. now: boil water")

    assert [status for _, status, _, _ in replay.plan()] == ["done", "done", "open", "open"]
    assert [said for _, _, said, _ in replay.plan()][:2] == ["done on your word", "done"]


def test_noted_facts_stand_at_the_step_that_noted_them() -> None:
    replay = Replay("tea", tuple(Part))
    replay.apply(2, "note [fact: kettle | at | shelf 1]", "noted: kettle at shelf 1")
    replay.apply(3, "note [kettles are on shelves]", "noted as [1]")

    assert replay.noted(2) == [("kettle", "at", "shelf 1")]
    assert replay.noted(3) == []


def test_a_part_that_is_off_plans_nothing() -> None:
    replay = Replay("tea", ())
    replay.apply(1, "commit [a | b]", "commit is off in this run")
    assert replay.plan() == []
