"""The index of words: made of an older store, and kept in step from then on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from sqlite_utils import Database

from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.schema import APPLICATION_ID, migrations
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.word_index import candidates, statistics

TEXTS = (
    ("the kettles whistle", "alfworld", None, "active"),
    ("kettle here", "alfworld", "house-a", "pending"),
    ("kettle gone", "alfworld", None, "pruned"),
    ("kettle of the office", "software", None, "active"),
)


def old_store(path: Path) -> None:
    """Write a store as it was before the index told scopes apart."""
    database = Database(path)
    with closing(database.conn):
        database.enable_wal()
        migrations.apply(database, stop_before="m006_recall")
        database.conn.executemany(
            "INSERT INTO entries (kind, text, scope, world, status, trust, created, confirmed, because, normal, words) "
            "VALUES ('note', ?1, ?2, ?3, ?4, 'agent', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '', ?1, ?1)",
            TEXTS,
        )
        database.conn.commit()
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute("PRAGMA user_version = 5")


def test_an_older_store_is_indexed_anew(tmp_path: Path) -> None:
    old_store(tmp_path / "old.db")

    with Store.open(tmp_path / "old.db") as store:
        known = statistics(store, ["kettl", "whistl", "gone"], ["", "alfworld"], "house-a")
        assert (known.entries, known.count("kettl"), known.count("whistl"), known.count("gone")) == (2, 2, 1, 0)
        assert sorted(candidates(store, known)) == [1, 2]
        assert [each.entry.id for each in search(store, "a kettle whistling", "alfworld").entries] == [1]
        store.write("INSERT INTO entries_fts (entries_fts) VALUES ('integrity-check')")


def test_words_of_other_alphabets_are_found_whole(store: Store) -> None:
    number = add_entry(store, "note", "der Wasserhahn tropft, 水道 läuft, l'été dernier", "alfworld")[0].id

    for query in ("wasserhahn", "水道", "LÄUFT", "l'été"):
        assert [each.entry.id for each in search(store, query, "alfworld").entries] == [number], query
