"""Old steps are thinned to their sums; what is final is forgotten; what can be undone is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playing import Play, insert

from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import entries, entry, events
from evoharness_cli.experience.errors import NotFound
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep import consolidate, prune
from evoharness_cli.experience.upkeep.prune import Policy
from evoharness_cli.experience.upkeep.thinning import UNDOABLE, empty_bin, forget_worlds, thin, thinnable


def played(store: Store, number: int) -> list[int]:
    ids = []
    for _ in range(number):
        play = Play(store)
        play.recall("fridge")
        play.see("open fridge 1", observation="It is open.")
        play.note("the drawer is stuck", because="It is open.")
        ids.append(play.win().id)
    return ids


def test_a_thinned_episode_keeps_its_sums_and_what_it_taught(store: Store) -> None:
    first, second = played(store, 2)
    before = journal.episode(store, first)
    (found,) = thinnable(store, keep=1)
    assert (found.episode, found.steps, found.reason) == (first, 4, "It is not among the newest 1 closed episodes.")

    assert thin(store, [found]) == 1

    assert journal.steps(store, first) == []
    assert len(journal.steps(store, second)) == 4
    assert journal.episode(store, first) == before
    assert before.calls == {"environment": 1, "recall": 1, "note": 1}
    rows = store.rows("SELECT because FROM sources WHERE episode = ?", [first])
    assert [row["because"] for row in rows] == ["It is open."]
    assert thinnable(store, keep=1) == []


def test_an_open_episode_is_never_thinned(store: Store) -> None:
    Play(store).see("look")
    assert thinnable(store, keep=0) == []
    assert thinnable(store, older_than_days=0) == []


def test_age_is_counted_from_the_close(store: Store) -> None:
    (number,) = played(store, 1)
    later = datetime.now(UTC) + timedelta(days=10)

    assert [each.episode for each in thinnable(store, older_than_days=9, now=later)] == [number]
    assert thinnable(store, older_than_days=11, now=later) == []
    assert thinnable(store, older_than_days=10**9, now=later) == []


def test_the_history_of_old_episodes_is_summed_up_once_and_again(store: Store) -> None:
    advice, _ = add_entry(store, "skill", "open the fridge first", "alfworld")
    played(store, 3)
    thin(store, thinnable(store, keep=1))
    history = events(store, advice.id)
    assert [each.kind for each in history] == ["noted", "condensed", "recalled", "tested", "helped"]
    assert history[1].detail == {"recalled": 2, "tested": 2, "helped": 2}

    thin(store, thinnable(store, keep=0))
    (_, summed) = events(store, advice.id)
    assert summed.detail == {"recalled": 3, "tested": 3, "helped": 3}
    assert entry(store, advice.id).recalled == 3


def test_what_can_be_undone_is_not_forgotten(store: Store) -> None:
    number = insert(store, "open the fridge first")
    prune.apply(store, prune.plan(store, Policy(max_entries=0)), Policy())

    assert consolidate.tend(store).forgotten == 0
    assert prune.undo(store)[1] == 1
    assert entry(store, number).status == "active"


def test_what_is_final_is_forgotten(store: Store) -> None:
    numbers = []
    for turn in range(UNDOABLE + 3):
        numbers.append(insert(store, f"open box {turn} first"))
        prune.apply(store, prune.plan(store, Policy(max_entries=0)), Policy())
    store.write("UPDATE events SET at = '2020' WHERE entry <= 3")

    assert consolidate.tend(store).forgotten == 3

    assert [each.id for each in entries(store, limit=-1)] == numbers[:2:-1]
    with pytest.raises(NotFound):
        entry(store, numbers[0])
    assert health(store).sound
    assert prune.undo(store)[1] == 1


def test_emptying_the_bin_erases_what_was_put_aside_and_shrinks_the_file(store: Store) -> None:
    kept = insert(store, "wash the plates")
    for number in range(300):
        insert(store, f"open box {number} first, then look behind the curtain" * 3, helped=0, hurt=1)
    prune.apply(store, prune.plan(store, Policy(min_helped_rate=0.5)), Policy())
    size = store.path.stat().st_size

    assert empty_bin(store) == 300

    assert [each.id for each in entries(store)] == [kept]
    assert store.path.stat().st_size < size
    assert health(store).sound
    with pytest.raises(prune.NothingToUndo):
        prune.undo(store)


def test_where_things_were_is_kept_of_the_worlds_seen_last(store: Store) -> None:
    for world in ("house-a", "house-b", "house-c", "house-a"):
        play = Play(store, world=world)
        play.search("shelf 1", "mug 1")
        play.win()
    store.write("UPDATE sightings SET at = '2026-01-0' || unicode(substr(world, 7)) % 9 WHERE world != 'house-a'")

    assert forget_worlds(store, 1) == 2

    assert {row["world"] for row in store.rows("SELECT world FROM sightings")} == {"house-a"}
    assert store.number("SELECT found FROM place_finds WHERE object = 'mug'") == 4


def test_what_is_summed_up_goes_by_the_episode_and_not_by_the_clock(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a fast machine several episodes have the same millisecond."""
    for module in ("entries", "evolve", "journal"):
        monkeypatch.setattr(f"evoharness_cli.experience.{module}.utc_now", lambda: "2026-01-01T00:00:00.000+00:00")
    advice, _ = add_entry(store, "skill", "open the fridge first", "alfworld")
    played(store, 2)
    thin(store, thinnable(store, keep=1))

    assert [each.kind for each in events(store, advice.id)] == ["noted", "condensed", "recalled", "tested", "helped"]
