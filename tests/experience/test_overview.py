"""The store is summed up, its entries are found, and damage is told."""

from __future__ import annotations

from playing import Play

from evoharness_cli.experience.entries import entries
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.overview import health, overview
from evoharness_cli.experience.store import Store


def test_the_overview_counts_what_is_there(store: Store) -> None:
    useful, _ = add_entry(store, "skill", "open the fridge first", "alfworld")
    add_entry(store, "mistake", "took the wrong mug", "alfworld")
    play = Play(store)
    play.recall("fridge")
    play.see("open fridge 1")
    play.win()
    Play(store, run=play.run, kind="cool").lose()
    Play(store).note("mugs are often dirty")

    summary = overview(store)

    assert (summary.runs, summary.episodes, summary.closed, summary.won) == (2, 3, 2, 1)
    assert [(each.kind, each.closed, each.won, each.rate) for each in summary.by_kind] == [
        ("cool", 1, 0, 0.0),
        ("heat", 1, 1, 1.0),
    ]
    assert summary.entries == {("active", "skill"): 1, ("active", "mistake"): 1, ("pending", "note"): 1}
    assert [each.id for each in summary.most_useful] == [useful.id]
    assert summary.bytes >= store.path.stat().st_size > 0


def test_an_empty_store_has_an_overview(store: Store) -> None:
    assert overview(store).by_kind == ()


def test_entries_are_found_by_what_they_are(store: Store) -> None:
    add_entry(store, "skill", "open the fridge first", "alfworld")
    add_entry(store, "mistake", "took the 100% wrong mug", "alfworld/kitchen", when="in a Hurry")
    add_entry(store, "note", "read the file", "software")

    def found(**asked: object) -> list[int]:
        return [each.id for each in entries(store, **asked)]  # type: ignore[arg-type]

    assert found() == [3, 2, 1]
    assert found(limit=1) == [3]
    assert found(scope="alfworld") == [2, 1]
    assert found(kind="skill", status="active") == [1]
    assert found(status="dropped") == []
    assert found(query="hurry") == [2]
    assert found(query="%") == [2]


def test_a_row_that_refers_to_nothing_is_told(store: Store) -> None:
    store.database.execute("PRAGMA foreign_keys = OFF")
    store.write("INSERT INTO events (at, kind, entry, detail) VALUES ('', 'x', 99, '{}')")

    assert health(store).foreign_keys == ("row 1 of events refers to entries",)
    assert not health(store).sound
