"""The store opens or says in a sentence why not, and a transaction is kept whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from filelock import FileLock

from evoharness_cli.experience import schema
from evoharness_cli.experience.errors import NotAStore, SchemaTooNew, StoreError
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.store import Store, default_path, storable


def insert_run(store: Store) -> None:
    store.write("INSERT INTO runs (settings, version, pid, started) VALUES ('{}', '0', 1, '2026')")


def test_a_new_store_makes_its_folders_and_is_sound(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a" / "b" / "x.db") as store:
        sound = health(store)

        assert sound.sound
        assert (sound.journal_mode, sound.schema_version) == ("wal", schema.SCHEMA_VERSION)
        assert len(schema.migrations.applied(store.database)) == schema.SCHEMA_VERSION


def test_what_was_written_is_there_when_opened_again(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        insert_run(store)

    with Store.open(tmp_path / "x.db") as store:
        assert store.number("SELECT count(*) FROM runs") == 1


def test_an_up_to_date_store_opens_without_waiting_for_who_prepares_it(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    Store.open(path).close()
    assert not (tmp_path / "x.db.lock").exists()

    with FileLock(tmp_path / "x.db.lock"), Store.open(path) as store:
        assert health(store).sound


def test_a_store_that_lost_its_write_ahead_log_gets_it_back(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(path) as store:
        insert_run(store)
        store.database.disable_wal()

    with Store.open(path) as store:
        assert health(store).journal_mode == "wal"
        assert store.number("SELECT count(*) FROM runs") == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_a_transaction_undoes_all_of_it(store: Store, error: type[BaseException]) -> None:
    with pytest.raises(error), store.transaction():
        insert_run(store)
        with store.transaction():
            insert_run(store)
        raise error

    assert store.number("SELECT count(*) FROM runs") == 0
    insert_run(store)
    assert store.number("SELECT count(*) FROM runs") == 1


def test_a_writer_locks_at_once_so_that_its_reads_stay_true(store: Store) -> None:
    other = sqlite3.connect(store.path, timeout=0)
    with store.transaction():
        assert store.number("SELECT count(*) FROM runs") == 0
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        insert_run(store)
    other.close()


def test_an_unknown_reference_is_refused(store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        store.write("INSERT INTO sources (entry, because) VALUES (77, '')")


def test_a_folder_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="is a folder"):
        Store.open(tmp_path)


def test_a_text_file_is_not_a_store_and_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("milk, eggs\n" * 100)

    with pytest.raises(NotAStore, match="not an SQLite database"):
        Store.open(path)

    assert path.read_text() == "milk, eggs\n" * 100


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()

    with pytest.raises(NotAStore, match="of another program"):
        Store.open(path)

    other = sqlite3.connect(path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    assert other.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    other.close()


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        store.database.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")

    with pytest.raises(SchemaTooNew, match=f"has schema {schema.SCHEMA_VERSION + 1}.*up to {schema.SCHEMA_VERSION}"):
        Store.open(tmp_path / "x.db")


def test_a_parent_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match=r"cannot be opened: .*EVOHARNESS_DB"):
        Store.open(tmp_path / "file" / "x.db")


def test_a_full_disk_is_told_and_undoes_the_transaction(store: Store) -> None:
    pages = store.number("PRAGMA page_count")
    store.database.execute(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(StoreError, match="is full"), store.transaction():
        for _ in range(1000):
            insert_run(store)

    assert store.number("SELECT count(*) FROM runs") == 0


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(path) as store, store.transaction():
        for _ in range(2000):
            insert_run(store)
    damaged = bytearray(path.read_bytes())
    for start in range(8192, len(damaged), 4096):
        damaged[start : start + 64] = b"\xff" * 64
    path.write_bytes(damaged)

    with pytest.raises(StoreError, match="is damaged"), Store.open(path) as store:
        store.rows("SELECT * FROM runs")


def test_the_environment_names_the_default_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVOHARNESS_DB", str(tmp_path / "mine.db"))
    assert default_path() == tmp_path / "mine.db"

    monkeypatch.delenv("EVOHARNESS_DB")
    assert default_path().parts[-2:] == ("evoharness", "experience.db")


def test_lone_surrogates_become_question_marks() -> None:
    assert storable("a\ud83db") == "a?b"
    assert storable("café \U0001f375") == "café \U0001f375"
