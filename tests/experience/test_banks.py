"""Banks: frozen versions that never change, live ones that do, and what is carried from a store to either."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from playing import Play

from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import entry, events
from evoharness_cli.experience.errors import FrozenBank
from evoharness_cli.experience.exchange import banks
from evoharness_cli.experience.exchange.export import content_hash
from evoharness_cli.experience.exchange.origins import origins_of
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.places import whereabouts
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.store import Store


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the test's own banks."""
    monkeypatch.setenv("EVOHARNESS_DB", str(tmp_path / "experience.db"))
    return tmp_path / "banks"


def fill(store: Store) -> Play:
    play = Play(store, scope="alfworld/kitchen")
    play.search("stoveburner 2", "kettle 1")
    play.note("in this house the kettle is on the stoveburner 2", "On the stoveburner 2, you see a kettle.")
    play.note("skill: rinse things that smell")
    play.win()
    add_entry(store, "note", "ask before you buy", "shop")
    return play


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_a_frozen_bank_holds_what_is_active_and_where_it_comes_from(store: Store, folder: Path) -> None:
    fill(store)
    pending = Play(store, world="house-b")
    pending.note("skill: not to be kept yet, since it goes on")
    add_entry(store, "note", "put aside for good", "shop")
    store.write("UPDATE entries SET status = 'pruned' WHERE text LIKE 'put aside%'")
    made = banks.freeze(store, "kitchen")

    assert (made.bank.label, made.places, made.hash) == ("kitchen@1", 1, content_hash(store))
    assert files(folder) == ["kitchen@1.db"]
    with closing(Store.open(made.bank.path)) as bank:
        active = [
            (each.text, each.kind) for each in (entry(bank, row["id"]) for row in bank.rows("SELECT id FROM entries"))
        ]
        assert ("skill: not to be kept" in str(active), "put aside" in str(active)) == (False, False)
        assert ("in this house the kettle is on the stoveburner 2", "note") in active
        assert journal.runs(bank) == []
        (origin,) = origins_of(bank, 1)
        assert (origin["task"], origin["step"], origin["outcome"]) == ("task", 2, "won")
        assert origin["because"] == "On the stoveburner 2, you see a kettle."
        assert next(event.kind for event in events(bank, 1)) == "noted"
        assert bank.rows("PRAGMA foreign_key_check") == []
        known = search(bank, "where is the kettle", "alfworld/kitchen", "house-a")
        assert known.entries[0].entry.id == 1
        assert known.places == tuple(whereabouts(store, "where is the kettle", "alfworld/kitchen", "house-a"))


def test_a_scope_can_be_frozen_alone(store: Store) -> None:
    fill(store)
    add_entry(store, "skill", "open the lid first", "@expel/alfworld")
    made = banks.freeze(store, "kitchen", "alfworld")
    with closing(Store.open(made.bank.path)) as bank:
        scopes = {row["scope"] for row in bank.rows("SELECT scope FROM entries")}
    assert scopes == {"alfworld/kitchen", "@expel/alfworld"}
    assert made.hash == content_hash(store, "alfworld")


def test_a_frozen_bank_is_never_written_and_the_next_is_another_version(store: Store, folder: Path) -> None:
    fill(store)
    first = banks.freeze(store, "kitchen")
    before = first.bank.path.read_bytes()
    with closing(Store.open(first.bank.path)) as bank, pytest.raises(FrozenBank, match="banks copy kitchen@1 NAME"):
        add_entry(bank, "note", "something new", "shop")
    add_entry(store, "note", "something new", "shop")
    second = banks.freeze(store, "kitchen")

    assert first.bank.path.read_bytes() == before
    assert not first.bank.path.stat().st_mode & 0o222
    assert second.bank.label == "kitchen@2"
    assert second.hash != first.hash
    assert files(folder) == ["kitchen@1.db", "kitchen@2.db"]


def test_a_frozen_bank_of_an_older_schema_is_read_without_being_changed(store: Store) -> None:
    fill(store)
    bank = banks.freeze(store, "kitchen").bank
    bank.path.chmod(0o644)
    with closing(sqlite3.connect(bank.path)) as old:
        old.execute("DELETE FROM _sqlite_migrations WHERE name = 'm009_policies'")
        old.execute("DROP TABLE policy_items")
        old.execute("PRAGMA user_version = 8")
        old.commit()
    before = bank.path.read_bytes()
    with closing(Store.open(bank.path)) as opened:
        assert opened.number("SELECT count(*) FROM policy_items") == 0
        assert entry(opened, 2).kind == "skill"
        with pytest.raises(FrozenBank):
            opened.write("DELETE FROM entries")
    assert bank.path.read_bytes() == before


def test_a_frozen_bank_that_was_tampered_with_is_found_out(store: Store) -> None:
    fill(store)
    bank = banks.freeze(store, "kitchen").bank
    bank.path.chmod(0o644)
    with closing(sqlite3.connect(bank.path)) as opened:
        opened.execute("UPDATE entries SET text = 'rinse nothing'")
        opened.commit()
    with pytest.raises(banks.DamagedBank, match="something else than was frozen"):
        banks.content(bank)


def test_a_copy_lives_and_what_both_count_adds_up(store: Store, folder: Path) -> None:
    fill(store)
    banks.freeze(store, "kitchen")
    live = banks.copy("kitchen@1", "trial")
    with closing(Store.open(live.path)) as copy:
        assert content_hash(copy) == banks.content(banks.existing("kitchen@1")).hash
        play = Play(copy, scope="alfworld/kitchen")
        play.search("stoveburner 1", "kettle 1")
        play.win()
        counted = copy.rows("SELECT origin, count FROM place_origins WHERE object = 'kettle'")
        assert [row["count"] for row in counted] == [1]
        assert copy.number("SELECT found FROM place_finds WHERE object = 'kettle'") == 2
    assert files(folder) == ["kitchen@1.db", "trial.db"]

    assert [bank.label for bank in banks.move("kitchen", "cellar")] == ["cellar@1"]
    banks.freeze(store, "trial")
    assert [bank.label for bank in banks.move("trial", "attic")] == ["attic", "attic@1"]
    banks.remove("attic")
    assert [bank.label for bank in banks.banks()] == ["attic@1", "cellar@1"]


def test_a_live_bank_gets_another_content_at_once_while_it_is_read(store: Store) -> None:
    fill(store)
    bank = banks.create("kitchen")
    with closing(Store.open(bank.path)) as reader:
        assert reader.number("SELECT count(*) FROM entries") == 0
        banks.replace_content(bank, store)
        assert entry(reader, 2).text == "rinse things that smell"
        assert content_hash(reader) == content_hash(store)
        add_entry(reader, "note", "it can be written as before", "")
        assert reader.row("PRAGMA integrity_check")[0] == "ok"  # type: ignore[index]


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda store: banks.freeze(store, "kitchen@3"), "Expected a bank's name to freeze"),
        (lambda store: banks.freeze(store, "../kitchen"), "Expected a bank's name of letters"),
        (lambda store: banks.freeze(store, "none"), "Expected a bank's name of letters"),
        (lambda _: banks.existing("kitchen@0"), "Expected a bank's name of letters"),
        (lambda _: banks.existing("kitchen@7"), "There is no bank kitchen@7; there are: there"),
        (lambda _: banks.create("there"), "There is a bank there already"),
        (lambda _: banks.copy("there", "there"), "There is a bank there already"),
        (lambda _: banks.copy("there", "there@1"), "A frozen bank is written by"),
        (lambda _: banks.move("there@1", "x"), "leave out the version"),
        (lambda _: banks.move("nosuch", "x"), "There is no bank nosuch"),
        (lambda _: banks.remove("nosuch"), "There is no bank nosuch"),
    ],
)
def test_what_cannot_be_done_is_said(store: Store, folder: Path, act: object, said: str) -> None:
    banks.create("there")
    with pytest.raises(banks.BankError, match=said):
        act(store)  # type: ignore[operator]
    assert files(folder) == ["there.db"]
