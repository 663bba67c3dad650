"""The tables that the life of entries needs: kinds of trust and status, changes that can be undone, upkeep."""

from __future__ import annotations

from sqlite_utils import Database

from .script import run_script

_OLD_CHECKS = (
    ("('agent', 'person')", "('agent', 'person', 'distilled', 'imported')"),
    (
        "('pending', 'active', 'superseded', 'pruned', 'dropped')",
        "('pending', 'active', 'superseded', 'dormant', 'pruned', 'dropped')",
    ),
)


def build(database: Database) -> None:
    """Make the tables, in the caller's transaction; prunings recorded before become sets of changes."""
    _rebuild_entries(database)
    run_script(
        database,
        """
        CREATE INDEX entries_by_world ON entries (world) WHERE world IS NOT NULL AND subject IS NOT NULL;
        CREATE TABLE change_sets (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('pruning', 'consolidation')),
            about TEXT NOT NULL,
            undone TEXT
        );
        CREATE TABLE changes (
            id INTEGER PRIMARY KEY,
            change_set INTEGER NOT NULL REFERENCES change_sets (id),
            entry INTEGER NOT NULL REFERENCES entries (id),
            before TEXT NOT NULL,
            after TEXT NOT NULL,
            moved TEXT NOT NULL,
            reasons TEXT NOT NULL
        );
        CREATE INDEX changes_by_set ON changes (change_set);
        CREATE INDEX changes_by_entry ON changes (entry);
        INSERT INTO change_sets (id, at, kind, about, undone)
            SELECT id, at, 'pruning', policy, undone FROM prunings;
        INSERT INTO changes (change_set, entry, before, after, moved, reasons)
            SELECT pruning, entry,
                json_object('status', previous), json_object('status', 'pruned'), '[]', reasons FROM pruned_entries;
        DROP TABLE pruned_entries;
        DROP TABLE prunings;
        CREATE TABLE step_sums (
            episode INTEGER NOT NULL REFERENCES episodes (id),
            kind TEXT NOT NULL,
            count INTEGER NOT NULL,
            invalid INTEGER NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            evaluated_tokens INTEGER NOT NULL,
            model_seconds REAL NOT NULL,
            environment_seconds REAL NOT NULL,
            harness_seconds REAL NOT NULL,
            PRIMARY KEY (episode, kind)
        ) WITHOUT ROWID;
        CREATE TABLE upkeep (
            name TEXT PRIMARY KEY,
            value INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX recalls_by_entry ON recalls (entry);
        CREATE INDEX entries_by_successor ON entries (superseded_by) WHERE superseded_by IS NOT NULL;
        """,
    )


def _rebuild_entries(database: Database) -> None:
    """Make the table of entries anew with wider checks, as SQLite has no other portable way to change a check.

    Its rows, columns, indexes and triggers stay; the index of words refers to it by name and isn't touched.
    """
    made = database.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'entries'").fetchone()[0]
    belongings = database.execute(
        "SELECT sql FROM sqlite_master WHERE tbl_name = 'entries' AND type IN ('index', 'trigger') AND sql IS NOT NULL"
    ).fetchall()
    for old, new in _OLD_CHECKS:
        made = made.replace(old, new)
    last = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone()
    database.execute("CREATE TEMP TABLE entries_before AS SELECT * FROM entries")
    # Other tables keep their references by name, since foreign keys are off while a file is prepared.
    database.execute("DROP TABLE entries")
    database.execute(made)
    database.execute("INSERT INTO entries SELECT * FROM entries_before")
    database.execute("DROP TABLE entries_before")
    if last:
        database.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'entries'", last)
    for (statement,) in belongings:
        database.execute(statement)
