"""Episodes with the tokens of their replies, and what a call of the harness was worth, on the embedded model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from evoharness_cli.environments.alfworld.generate import make_games  # noqa: E402
from evoharness_cli.experience import journal  # noqa: E402
from evoharness_cli.experience.entries import events  # noqa: E402
from evoharness_cli.experience.noting import add_entry  # noqa: E402
from evoharness_cli.experience.store import Store  # noqa: E402
from evoharness_cli.harness import Constraint, Decode, FreeText, OneOf, Step, Transcript  # noqa: E402
from evoharness_cli.models import resolve  # noqa: E402
from evoharness_cli.models.llama import LlamaModel  # noqa: E402
from evoharness_cli.models.writing import Written  # noqa: E402
from evoharness_cli.runs.find import find_tasks  # noqa: E402
from evoharness_cli.runs.settings import RunSettings  # noqa: E402
from evoharness_cli.runs.task import Task  # noqa: E402
from evoharness_cli.training.counterfactual import FORKED, Fork, choose_call, fork_calls, record_forks  # noqa: E402
from evoharness_cli.training.recording import Recording, Turn, add_turn, make_table, read_turns  # noqa: E402
from evoharness_cli.training.rollouts import Rollout, Stage, Stopped  # noqa: E402
from evoharness_cli.training.trajectories import Allowed, trajectories  # noqa: E402

SETTINGS = RunSettings(model="smollm2-135m", temperature=1.0, context=1536, learn=False)
CALLS = Constraint((("recall [", FreeText(0, 20), "]"), ("take ", OneOf(("mug 1", "cup 2")))))


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    with LlamaModel(resolve("smollm2-135m"), context=1536, slots=2, temperature=1.0) as model:
        yield model


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    games = tmp_path_factory.mktemp("games")
    make_games(1, 7, games)
    (found,) = find_tasks([str(games)])
    return found.settled({"steps": 3}, Decode.GRAMMAR)


@pytest.fixture(scope="module")
def stage(model: LlamaModel, task: Task, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A group of two episodes that was begun, in a bank with one entry."""
    path = tmp_path_factory.mktemp("stage") / "rollouts.db"
    with Store.open(path) as store:
        add_entry(store, "note", "mugs are on shelves", task.scope)
    stage = Stage(path, 1, model, 2, lambda: False)
    stage.begin([task], SETTINGS, [11, 12])
    return stage


def test_a_turn_comes_back_as_it_was(tmp_path: Path, stage: Stage) -> None:
    del tmp_path
    turn = Turn((1, 2, 3), (Written(7, -0.1234567890123, False), Written(8, 0.0, True)), Written(2, -1.5), CALLS)
    cut = Turn((1, 2), (Written(7, -2.0),), None, None)
    with closing(Store.open(stage.path)) as store:
        make_table(store)
        with store.transaction():
            store.write("PRAGMA defer_foreign_keys = ON")
            add_turn(store, 999, 1, turn)
            add_turn(store, 999, 2, cut)
            assert read_turns(store, 999) == [turn, cut]
            store.write("DELETE FROM turns")


def test_a_group_is_recorded_with_its_tokens(stage: Stage, model: LlamaModel) -> None:
    ((one, other),) = stage.play([0])
    assert (one.sample, other.sample, one.budget) == (0, 1, 3)
    for rollout in (one, other):
        assert len(rollout.turns) == len(rollout.steps) - 1 == 3
        for step, turn in zip(rollout.steps[1:], rollout.turns, strict=True):
            assert (step.prompt_tokens, step.completion_tokens) == (len(turn.prompt), len(turn.written))
        for trajectory in trajectories(rollout.turns, model.ends):
            mask = Allowed(model).mask(Allowed(model).bits(rollout.turns, trajectory.chosen))
            # Each token that was chosen was allowed, and never the only one.
            assert mask[range(len(mask)), trajectory.example.labels].all()
            assert (mask.sum(-1) > 1).all()
    # What was played already is not played again.
    assert stage.play([0]) == [[one, other]]


def test_an_episode_that_was_stopped_is_played_on_to_the_same_end(
    stage: Stage, model: LlamaModel, task: Task, tmp_path: Path
) -> None:
    ((straight, _),) = stage.play([0])
    asked = iter(range(100))
    stopped = Stage(tmp_path / "rollouts.db", 1, model, 1, lambda: next(asked) > 2)
    stopped.begin([task], SETTINGS, [11])
    with pytest.raises(Stopped):
        stopped.play([0])
    with closing(Store.open(stopped.path)) as store:
        (episode,) = journal.episodes(store, stopped.runs[0])
        assert (episode.outcome, episode.steps) == (None, 2)
        # As if the process had died after it recorded a step, and before its tokens.
        store.write("DELETE FROM turns WHERE step = 2")
    again = Stage(stopped.path, 1, model, 1, lambda: False)
    again.begin([task], SETTINGS, [11])
    assert again.runs == stopped.runs
    ((resumed,),) = again.play([0])
    assert resumed.turns == straight.turns
    assert [step.reply for step in resumed.steps] == [step.reply for step in straight.steps]


def test_a_call_can_be_left_out_of_one_step(model: LlamaModel) -> None:
    transcript = Transcript("You are in a kitchen.", "You see a mug 1 and a cup 2.")
    recording = Recording(model.session(""), without=(1, "recall"))
    for seed in range(4):
        assert recording.reply(transcript, CALLS, 16, seed).text in ("take mug 1", "take cup 2")
        assert recording.turns[-1].constraint == Constraint(CALLS.patterns[1:])
    transcript.add("take mug 1", "You take the mug 1.")
    recording.reply(transcript, CALLS, 16, 0)
    assert recording.turns[-1].constraint == CALLS


@pytest.fixture(scope="module")
def called(stage: Stage, task: Task) -> Rollout:
    """The group's first episode as if its first step had recalled the bank's entry."""
    ((one, _),) = stage.play([0])
    call = Step(1, "recall", '[1] note: "mugs are on shelves"', "recall [mug]", action="recall [mug]", charged=True,
                recalled=(1,))  # fmt: skip
    with closing(Store.open(stage.path)) as store:
        (run,) = stage.start(store, "made up", [task], SETTINGS, [13])
        origin = journal.episode(store, one.episode)
        from evoharness_cli.harness import Brief

        brief = Brief(origin.goal, origin.kind, origin.world)
        episode = journal.begin_episode(
            store, run, 0, task.name, task.source, task.environment, brief, task.scope, origin.settings
        )
        for step in (one.steps[0], call):
            journal.add_step(store, episode, step)
        add_turn(store, episode, 1, one.turns[0])
    return replace(one, episode=episode, steps=(one.steps[0], call), turns=one.turns[:1], won=True)


def test_a_call_is_worth_what_episodes_with_it_get_more(stage: Stage, task: Task, called: Rollout) -> None:
    assert choose_call(called, 5) == 1
    assert choose_call(replace(called, steps=called.steps[:1]), 5) is None
    seen: list[Rollout] = []

    def worth(rollout: Rollout) -> float:
        seen.append(rollout)
        return 4.0 if rollout.steps[1].kind == "recall" else 1.5

    (fork,) = fork_calls(stage, [called], [task], SETTINGS, branches=2, seed=5, worth=worth)
    assert (fork.step, fork.verb, fork.entries, fork.value) == (1, "recall", (1,), 2.5)
    # The episode itself was won, the others ran out of steps: one of two with the call, none without.
    assert fork.success == 0.5
    after, without = [each for each in seen if each.steps[1].kind == "recall"], seen[2:]
    assert len(after) == len(without) == 2
    assert all(each.steps[1].kind != "recall" and len(each.steps) == 4 for each in without)
    assert after[1].steps[1].observation == called.steps[1].observation
    # The same is found when it is asked again, without anything being played.
    seen.clear()
    assert fork_calls(stage, [called], [task], SETTINGS, branches=2, seed=5, worth=worth) == [fork]


def test_what_an_entry_was_worth_is_written_down_with_it(stage: Stage, called: Rollout) -> None:
    better, worse = (Fork(called, 1, "recall", (1, 404), value, value / 10) for value in (8.0, -4.0))
    with closing(Store.open(stage.path)) as store:
        record_forks(store, [better], 3)
        record_forks(store, [worse], 4)
        first, second = (event for event in events(store, 1) if event.kind == FORKED)
        assert store.number("SELECT count(*) FROM events WHERE entry = 404") == 0
    assert (first.episode, first.step, first.detail["so_far"]) == (called.episode, 1, "+0.80 success over 1 fork")
    assert (second.detail["success"], second.detail["so_far"]) == (-0.4, "+0.20 success over 2 forks")
