"""Runs, episodes and steps are recorded as they happen and read back as they were."""

from __future__ import annotations

from dataclasses import fields

import pytest
from playing import Play

from evoharness_cli import __version__
from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import entries, entry, events
from evoharness_cli.experience.errors import NotFound
from evoharness_cli.experience.evolve import close_episode
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Belief, Brief, Fact, Step

FULL = Step(
    number=3,
    kind="recall",
    observation='[1] note: "é\n\x00\U0001f375"',
    reply="<think>hm</think><action>recall [é]</action>",
    thought="hm",
    remark="so so",
    action="recall [é]",
    charged=True,
    invalid=True,
    compacted=2,
    facts=(Fact("kettle 1", "at", "stoveburner 1"), Fact("fridge 1", "open", "no")),
    recalled=(1, 7),
    prompt_tokens=900,
    completion_tokens=12,
    evaluated_tokens=40,
    model_seconds=0.125,
    environment_seconds=0.5,
    harness_seconds=0.25,
)
OLD, NEW = Brief("heat some water", "heat", "house-a"), Brief("cool the tea", "cool", "house-z")


def test_every_field_of_a_step_comes_back(store: Store) -> None:
    episode = Play(store).id

    journal.add_step(store, episode, FULL)

    assert journal.steps(store, episode)[1] == FULL
    assert all(getattr(FULL, each.name) != each.default for each in fields(Step))


def test_a_step_is_recorded_once(store: Store) -> None:
    play = Play(store)

    with pytest.raises(journal.DuplicateStep, match="Step 0"):
        journal.add_step(store, play.id, Step(0, "environment", "something else"))

    assert [step.observation for step in journal.steps(store, play.id)] == ["You see something."]


def test_a_run_records_its_settings_and_how_it_ended(store: Store) -> None:
    run = journal.begin_run(store, {"model": "smol", "seed": 3})
    assert journal.run(store, run).status is None

    journal.finish_run(store, run, "interrupted")

    latest = journal.latest_run(store)
    assert latest == journal.run(store, run)
    assert latest is not None and latest.settings == {"model": "smol", "seed": 3}
    assert (latest.status, latest.version) == ("interrupted", __version__)
    assert latest.started <= (latest.finished or "")
    with pytest.raises(ValueError, match="finished, interrupted, fault"):
        journal.finish_run(store, run, "unfinished")


def test_a_run_counts_its_episodes(store: Store) -> None:
    won = Play(store).win()
    Play(store, run=won.run).lose()
    Play(store, run=won.run)

    record = journal.run(store, won.run)

    assert (record.episodes, record.closed, record.won) == (3, 2, 1)
    assert [each.number for each in journal.episodes(store, won.run)] == [0, 1, 2]
    assert [each.id for each in journal.runs(store, 5)] == [won.run]


def test_an_episode_sums_up_its_steps(store: Store) -> None:
    play = Play(store, world="house-b", scope="alfworld/kitchen/")
    play.see("go to fridge 1")
    journal.add_step(store, play.id, FULL)
    play.win()

    record = journal.episode(store, play.id)

    assert (record.steps, record.calls) == (2, {"environment": 1, "recall": 1})
    assert (record.prompt_tokens, record.completion_tokens, record.evaluated_tokens) == (900, 12, 40)
    assert (record.seconds, record.harness_seconds, record.invalid) == (0.875, 0.25, 1)
    assert (record.world, record.scope, record.kind) == ("house-b", "alfworld/kitchen", "heat")
    assert (record.outcome, record.success) == ("won", True)
    assert record.settings == {"seed": 3}


def test_an_episode_number_is_used_once_in_a_run(store: Store) -> None:
    play = Play(store)
    record = journal.episode(store, play.id)

    with pytest.raises(journal.DuplicateEpisode, match="number 0"):
        brief = Brief("again", "heat", "house-a")
        journal.begin_episode(store, record.run, 0, "task", "games/1", "alfworld", brief, "alfworld", {})


def test_a_closed_episode_takes_nothing_more(store: Store) -> None:
    play = Play(store).win()

    with pytest.raises(journal.EpisodeClosed, match="was closed at"):
        journal.add_step(store, play.id, Step(9, "environment", "late"))
    with pytest.raises(journal.EpisodeClosed):
        journal.restart_episode(store, play.id, NEW, "late")
    with pytest.raises(journal.EpisodeClosed):
        journal.fail_episode(store, play.id, "late")
    with pytest.raises(journal.EpisodeClosed):
        close_episode(store, play.id, "lost", False, Belief())

    assert journal.episode(store, play.id).success is True


def test_a_fault_leaves_the_episode_open(store: Store) -> None:
    play = Play(store)

    journal.fail_episode(store, play.id, "The model ran out of memory.")
    assert journal.episode(store, play.id).fault == "The model ran out of memory."
    assert journal.episode(store, play.id).finished is None

    play.win()
    assert journal.episode(store, play.id).fault is None


def test_starting_over_takes_back_what_the_episode_left(store: Store) -> None:
    known, _ = add_entry(store, "skill", "open the fridge before looking inside it", "alfworld")
    play = Play(store)
    play.recall("fridge")
    play.note("skill: open the fridge before looking inside it")
    play.note("the kettle is at stoveburner 1")
    assert entry(store, known.id).strength == 2

    journal.restart_episode(store, play.id, NEW, "the world answered differently")

    after = entry(store, known.id)
    assert (after.strength, after.recalled, after.status) == (1, 0, "active")
    assert [each.kind for each in events(store, known.id)] == [
        "noted",
        "recalled",
        "recurred",
        "withdrawn",
        "unrecalled",
    ]
    dropped = entries(store, query="kettle")[0]
    assert dropped.status == "dropped"
    assert events(store, dropped.id)[-1].detail == {"why": "the world answered differently"}
    assert journal.steps(store, play.id) == []
    record = journal.episode(store, play.id)
    assert (record.goal, record.kind, record.world) == (NEW.goal, NEW.kind, NEW.world)


def test_an_episode_without_steps_is_brought_up_to_date(store: Store) -> None:
    played = Play(store)
    begun = journal.begin_episode(store, played.run, 9, "task", "games/1", "alfworld", OLD, "alfworld", {})

    journal.refresh_episode(store, begun, NEW)

    record = journal.episode(store, begun)
    assert (record.goal, record.kind, record.world) == (NEW.goal, NEW.kind, NEW.world)
    with pytest.raises(journal.EpisodeBegun, match=f"Episode {played.id} has recorded steps"):
        journal.refresh_episode(store, played.id, NEW)
    assert journal.episode(store, played.id).world == "house-a"
    with pytest.raises(journal.EpisodeClosed):
        journal.refresh_episode(store, played.win().id, NEW)


def test_runs_are_found_by_status_method_and_task(store: Store) -> None:
    apple = journal.begin_run(store, {"method": "bpe", "tasks": [{"name": "mug"}, {"name": "apple"}]})
    react = journal.begin_run(store, {"method": "react", "tasks": [{"name": "mug"}]})
    bare = journal.begin_run(store, {})
    journal.finish_run(store, apple, "finished")
    journal.finish_run(store, react, "fault")

    def found(**asked: object) -> list[int]:
        return [each.id for each in journal.runs(store, **asked)]  # type: ignore[arg-type]

    assert found() == [bare, react, apple]
    assert found(limit=1, task="mug") == [react]
    assert found(task="mug") == [react, apple]
    assert found(task="apple") == [apple]
    assert found(method="bpe") == [apple]
    assert found(status="fault") == [react]
    assert found(status="unfinished") == [bare]
    assert found(status="finished", method="react") == []
    with pytest.raises(ValueError, match="done"):
        found(status="done")


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**40])
def test_a_number_that_no_row_can_have_is_not_found(store: Store, number: int) -> None:
    for read in (journal.run, journal.episode, journal.steps, entry, events):
        with pytest.raises(NotFound, match=r"numbers in .*experience\.db go up to 9223372036854775807"):
            read(store, number)


def test_what_is_not_there_is_told(store: Store) -> None:
    assert journal.latest_run(store) is None
    with pytest.raises(NotFound, match=r"no run 4 in .*experience\.db"):
        journal.run(store, 4)
    with pytest.raises(NotFound, match="no episode 5"):
        journal.episode(store, 5)
    with pytest.raises(NotFound, match="no episode 6"):
        journal.add_step(store, 6, FULL)
    with pytest.raises(NotFound, match="no entry 7"):
        entry(store, 7)
