"""Entries that say the same become one that loses nothing; a consolidation is undone as a whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playing import Play, insert

from evoharness_cli.experience.drafts import read_note
from evoharness_cli.experience.entries import Entry, entries, entry, events
from evoharness_cli.experience.noting import insert as insert_draft
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep import consolidate
from evoharness_cli.experience.upkeep.changes import NothingToUndo
from evoharness_cli.experience.upkeep.schedule import Schedule, schedule, set_schedule


def sources(store: Store, number: int) -> list[int | None]:
    return [row["episode"] for row in store.rows("SELECT episode FROM sources WHERE entry = ? ORDER BY id", [number])]


def noted_by(store: Store, play: Play, text: str) -> int:
    """Note in an episode that is closed then, without looking at what is there."""
    draft = replace(read_note(text, "alfworld", play.world), episode=play.id, step=1, because=f"seen by {play.id}")
    number = insert_draft(store, draft)
    store.write("UPDATE entries SET status = 'active' WHERE id = ?", [number])
    return number


def three(store: Store) -> tuple[int, int, int]:
    """Three that say the same, by two episodes, and what is at stake on each."""
    one, two = Play(store), Play(store)
    first = noted_by(store, one, "skill: open the fridge first")
    second = noted_by(store, two, "skill: open fridge first")
    third = noted_by(store, one, "skill: Open the fridge first!")
    for number, (helped, hurt, recalled) in zip(
        (first, second, third), ((1, 0, 3), (0.5, 1, 2), (0, 0, 1)), strict=True
    ):
        store.write(
            "UPDATE entries SET helped = ?, hurt = ?, recalled = ?, created = ?, confirmed = ? WHERE id = ?",
            [
                helped,
                hurt,
                recalled,
                f"2026-01-0{4 - number}T00:00:00+00:00",
                f"2026-02-0{number}T00:00:00+00:00",
                number,
            ],
        )
    return first, second, third


def test_merging_adds_votes_recalls_and_provenance(store: Store) -> None:
    first, second, third = three(store)

    done = consolidate.consolidate(store)

    assert (done.change_set, done.merged) == (1, 2)
    kept = entry(store, first)
    assert (kept.helped, kept.hurt, kept.recalled, kept.strength) == (1.5, 1, 6, 2)
    assert (kept.created[:10], kept.confirmed[:10]) == ("2026-01-01", "2026-02-03")
    assert sources(store, first) == [1, 2]
    assert [(entry(store, each).status, entry(store, each).superseded_by) for each in (second, third)] == [
        ("superseded", first)
    ] * 2
    assert [each.entry.id for each in search(store, "fridge", "alfworld").entries] == [first]
    assert (events(store, first)[-1].kind, events(store, first)[-1].detail["entries"]) == ("merged", [second, third])
    assert (events(store, second)[-1].kind, events(store, second)[-1].detail["into"]) == ("merged", first)


def test_undoing_brings_every_entry_back_as_it_was(store: Store) -> None:
    numbers = three(store)
    before = [entry(store, number) for number in numbers]
    consolidate.consolidate(store)

    assert consolidate.undo(store) == (1, 2)

    assert [entry(store, number) for number in numbers] == before
    assert [sources(store, number) for number in numbers] == [[1], [2], [1]]
    assert len(search(store, "fridge", "alfworld").left_out) == 2  # all three are found, and one is shown
    with pytest.raises(NothingToUndo, match="There is no consolidation to undo"):
        consolidate.undo(store)


def test_what_an_entry_went_through_since_stays_when_the_merge_is_undone(store: Store) -> None:
    first, _, _ = three(store)
    consolidate.consolidate(store)
    store.write("UPDATE entries SET helped = helped + 2, recalled = recalled + 1 WHERE id = ?", [first])

    consolidate.undo(store)

    assert (entry(store, first).helped, entry(store, first).recalled) == (3, 4)


def test_an_entry_that_changed_since_the_plan_is_left_for_the_next_time(store: Store) -> None:
    first, _, third = three(store)
    planned = consolidate.plan_merges(store)
    store.write("UPDATE entries SET helped = helped + 1 WHERE id = ?", [third])

    assert consolidate.consolidate(store, merges=planned).merged == 0

    assert entry(store, first).status == entry(store, third).status == "active"
    assert store.number("SELECT count(*) FROM changes") == 0
    assert consolidate.consolidate(store).merged == 2


def test_nothing_to_do_leaves_no_trace(store: Store) -> None:
    insert(store, "open the fridge first")

    assert consolidate.consolidate(store).change_set is None
    assert store.number("SELECT count(*) FROM change_sets") == 0


def test_a_scope_is_consolidated_alone(store: Store) -> None:
    for scope in ("alfworld/kitchen", "software"):
        insert(store, "open the fridge first", scope=scope)
        insert(store, "open fridge first", scope=scope)

    assert consolidate.consolidate(store, "alfworld").merged == 1
    assert {each.scope for each in entries(store, status="superseded")} == {"alfworld/kitchen"}


def test_claims_that_contradict_stay_apart(store: Store) -> None:
    for place in ("stoveburner 1", "stoveburner 2", "countertop 1"):
        insert(store, f"the kettle is on the {place}", world="house-a")

    assert consolidate.consolidate(store).merged == 0


def test_a_store_tends_itself_after_so_many_episodes(store: Store) -> None:
    set_schedule(store, every=3)
    insert(store, "open the fridge first")
    insert(store, "open fridge first")
    merged = []
    for _ in range(3):
        Play(store).win()
        merged.append(len(entries(store, status="superseded")))

    assert merged == [0, 0, 1]


def test_tending_keeps_the_most_useful_and_not_the_oldest(store: Store) -> None:
    set_schedule(store, every=1, capacity=2)
    old = insert(store, "open the fridge first", created="2020-01-01", confirmed="2020-01-01")
    hurt = insert(store, "open the safe first", hurt=1)
    useful = insert(store, "wash the plates", helped=2, created="2020-01-02", confirmed="2020-01-02")
    new = insert(store, "wipe the table")

    done = consolidate.tend(store)

    assert done.pruned == 2
    assert [each.id for each in entries(store, status="active")] == [new, useful]
    assert [entry(store, each).status for each in (old, hurt)] == ["pruned", "pruned"]
    assert consolidate.undo(store)[1] == 2


def test_tending_leaves_what_a_person_kept(store: Store) -> None:
    set_schedule(store, every=1, capacity=1)
    kept = insert(store, "open the safe first", trust="person", hurt=1)
    insert(store, "wipe the table")
    insert(store, "wash the plates", helped=2)

    assert consolidate.tend(store).pruned == 1
    assert entry(store, kept).status == "active"


def test_an_episode_that_is_not_to_learn_doesnt_count(store: Store) -> None:
    from evoharness_cli.experience.evolve import close_episode

    set_schedule(store, every=1)
    insert(store, "open the fridge first")
    insert(store, "open fridge first")
    play = Play(store)
    close_episode(store, play.id, "won", True, play.belief, learn=False)

    assert len(entries(store, status="active")) == 2


def test_the_schedule_lies_in_the_store_and_can_be_turned_off(store: Store) -> None:
    assert schedule(store) == Schedule()
    assert set_schedule(store, every=0) == replace(Schedule(), every=0)
    insert(store, "open the fridge first")
    insert(store, "open fridge first")
    for _ in range(4):
        Play(store).win()
    with Store.open(store.path) as other:
        assert schedule(other).every == 0
        assert len(entries(other, status="active")) == 2


def test_many_entries_of_few_words_lose_none_that_differs(store: Store) -> None:
    def texts(active: list[Entry]) -> set[str]:
        return {each.text for each in active}

    wanted = {f"wash plate {number} before cooking" for number in range(150)}
    with store.transaction():
        for text in sorted(wanted):
            insert(store, text)
            insert(store, text.replace("wash", "Wash the"))

    done = consolidate.consolidate(store)

    assert done.merged == 150
    assert texts(entries(store, status="active", limit=-1)) == wanted
    assert health(store).sound
