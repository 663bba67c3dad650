"""A store of before keeps its entries, their index and its prunings when it learns what the life of entries needs."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from evoharness_cli.experience import journal, schema
from evoharness_cli.experience.entries import entry
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep import prune
from evoharness_cli.harness import Brief

ADD = (
    "INSERT INTO entries (kind, scope, text, trust, status, created, confirmed, because, normal, words) "
    "VALUES ('note', 'alfworld', ?, 'person', ?, '2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00+00:00', '', ?, ?)"
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store of schema 5, with two entries of which one was pruned and a higher one deleted."""
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path, isolation_level=None)
    database = Database(connection)
    database.enable_wal()
    schema.migrations.apply(database, stop_before="m006_recall")
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 5")
    for text, status in (("kettles whistle", "active"), ("kettles hum", "pruned"), ("gone", "active")):
        connection.execute(ADD, [text, status, text, text])
    connection.execute("DELETE FROM entries WHERE id = 3")
    connection.execute("INSERT INTO sources (entry, because) VALUES (1, 'heard')")
    connection.execute("INSERT INTO prunings (id, at, policy) VALUES (7, '2026-01-02', '{}')")
    connection.execute("INSERT INTO pruned_entries VALUES (7, 2, 'active', '[\"old\"]')")
    connection.close()
    return path


def test_entries_index_and_numbering_stay(old: Path) -> None:
    with Store.open(old) as store:
        assert [each.entry.id for each in search(store, "kettle", "alfworld").entries] == [1]
        assert health(store).sound
        assert store.number("SELECT count(*) FROM sources WHERE entry = 1") == 1
        assert add_entry(store, "note", "mugs clink", "alfworld")[0].id == 4
        assert [each.entry.id for each in search(store, "mugs", "alfworld").entries] == [4]


def test_a_pruning_of_before_is_undone(old: Path) -> None:
    with Store.open(old) as store:
        assert prune.undo(store) == (7, 1)
        assert entry(store, 2).status == "active"
        assert {each.entry.id for each in search(store, "kettles hum", "alfworld").entries} >= {2}


def test_the_new_words_are_allowed_and_others_refused(old: Path) -> None:
    with Store.open(old) as store:
        for trust in ("distilled", "imported"):
            store.write("UPDATE entries SET trust = ?, status = 'dormant' WHERE id = 1", [trust])
        with pytest.raises(sqlite3.IntegrityError):
            store.write("UPDATE entries SET trust = 'hearsay' WHERE id = 1")
        assert search(store, "kettles whistle", "alfworld").entries == ()


def test_settings_that_episodes_share_are_kept_once(old: Path) -> None:
    """In a store of before too, where each episode had its own."""
    connection = sqlite3.connect(old)
    connection.execute("INSERT INTO runs (id, settings, version, pid, started) VALUES (1, '{}', '0', 1, '')")
    for number, settings in enumerate(('{"seed": 1}', '{"seed": 1}', '{"seed": 2}')):
        connection.execute(
            "INSERT INTO episodes (run, number, task, source, environment, goal, kind, world, scope, settings, started)"
            " VALUES (1, ?, '', '', 'alfworld', '', '', '', '', ?, '')",
            [number, settings],
        )
    connection.commit()
    connection.close()

    with Store.open(old) as store:
        assert [each.settings["seed"] for each in journal.episodes(store, 1)] == [1, 1, 2]
        brief = Brief("", "", "")
        journal.begin_episode(store, 1, 3, "", "", "alfworld", brief, "alfworld", {"seed": 2})
        assert journal.episodes(store, 1)[3].settings == {"seed": 2}
        assert store.number("SELECT count(*) FROM episode_settings") == 2
        assert health(store).sound
