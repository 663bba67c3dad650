"""What an episode cost besides its steps is added up, and outlives these."""

from __future__ import annotations

from playing import Play

from evoharness_cli.experience import journal
from evoharness_cli.experience.besides import add_besides, keep_besides
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Brief, Reply, Step

STEP = Step(1, "environment", "You see a mug.", "look", prompt_tokens=100, completion_tokens=5, evaluated_tokens=60)


def tokens(store: Store, episode: int) -> tuple[int, int, int]:
    record = journal.episode(store, episode)
    return record.prompt_tokens, record.completion_tokens, record.evaluated_tokens


def test_tokens_of_no_step_are_added_up_and_count_no_step(store: Store) -> None:
    episode = Play(store).id
    journal.add_step(store, episode, STEP)
    before = journal.episode(store, episode)

    add_besides(store, episode, Reply("", 50, 1, 50))
    add_besides(store, episode, Reply("", 7, 2, 0))

    assert tokens(store, episode) == (157, 8, 110)
    after = journal.episode(store, episode)
    assert (after.steps, after.calls, after.seconds) == (before.steps, before.calls, before.seconds)


def test_tokens_of_steps_that_are_dropped_are_kept(store: Store) -> None:
    episode = Play(store).id
    journal.add_step(store, episode, STEP)
    add_besides(store, episode, Reply("", 50, 1, 50))

    keep_besides(store, episode)
    journal.restart_episode(store, episode, Brief("again", "heat", "house-b"), "it was answered otherwise")

    assert journal.steps(store, episode) == []
    assert tokens(store, episode) == (150, 6, 110)
