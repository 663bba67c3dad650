"""The tables of the store, as numbered migrations; a released one is never edited, a change is a new one."""

from __future__ import annotations

from pathlib import Path

from sqlite_utils import Database, Migrations

from .errors import NotAStore, SchemaTooNew
from .life import build as build_life
from .script import run_script
from .word_index import build as build_word_index

SCHEMA_VERSION = 10
"""How many migrations there are; `PRAGMA user_version` of an up-to-date file."""
APPLICATION_ID = 0x65766F48
"""What marks an SQLite file as an experience store (`PRAGMA application_id`)."""

migrations = Migrations("evoharness")


def is_current(database: Database, path: Path) -> bool:
    """Tell whether a file is an up-to-date store in WAL mode.

    Raises NotAStore for another program's database and SchemaTooNew for a file that a newer version wrote.
    """
    with database.atomic():  # one look: another process may be creating the file
        version = int(database.execute("PRAGMA user_version").fetchone()[0])
        application = int(database.execute("PRAGMA application_id").fetchone()[0])
        empty = database.execute("SELECT 1 FROM sqlite_master").fetchone() is None
    if application != APPLICATION_ID and not empty:
        raise NotAStore(f"{path} is an SQLite database of another program. Name an experience store, or a new file.")
    if version > SCHEMA_VERSION:
        raise SchemaTooNew(
            f"{path} has schema {version}, but this version knows up to {SCHEMA_VERSION}. "
            "Upgrade evoharness-cli, or name another file."
        )
    return (application, version, database.journal_mode) == (APPLICATION_ID, SCHEMA_VERSION, "wal")


def is_frozen(database: Database, path: Path) -> bool:
    """Tell whether a file is a frozen bank. Raises as `is_current` does."""
    known = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'frozen'").fetchone()
    if known is None or database.execute("SELECT 1 FROM frozen").fetchone() is None:
        return False
    is_current(database, path)
    return True


def is_outdated(database: Database) -> bool:
    """Tell whether a store was written by an older version."""
    return int(database.execute("PRAGMA user_version").fetchone()[0]) < SCHEMA_VERSION


def migrate(database: Database) -> None:
    """Apply the migrations that a file lacks, in the caller's transaction."""
    migrations.apply(database)
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


@migrations()
def m001_journal(database: Database) -> None:
    """Runs, their episodes and the steps of each."""
    run_script(
        database,
        """
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            settings TEXT NOT NULL,
            version TEXT NOT NULL,
            pid INTEGER NOT NULL,
            started TEXT NOT NULL,
            finished TEXT,
            status TEXT CHECK (status IN ('finished', 'interrupted', 'fault'))
        );
        CREATE TABLE episodes (
            id INTEGER PRIMARY KEY,
            run INTEGER NOT NULL REFERENCES runs (id),
            number INTEGER NOT NULL,
            task TEXT NOT NULL,
            source TEXT NOT NULL,
            environment TEXT NOT NULL,
            goal TEXT NOT NULL,
            kind TEXT NOT NULL,
            world TEXT NOT NULL,
            scope TEXT NOT NULL,
            settings TEXT NOT NULL,
            started TEXT NOT NULL,
            finished TEXT,
            outcome TEXT,
            success INTEGER,
            fault TEXT,
            UNIQUE (run, number)
        );
        CREATE INDEX episodes_by_kind ON episodes (environment, kind, success);
        CREATE TABLE steps (
            episode INTEGER NOT NULL REFERENCES episodes (id),
            number INTEGER NOT NULL,
            kind TEXT NOT NULL,
            observation TEXT NOT NULL,
            reply TEXT NOT NULL,
            thought TEXT NOT NULL,
            remark TEXT NOT NULL,
            action TEXT NOT NULL,
            charged INTEGER NOT NULL,
            invalid INTEGER NOT NULL,
            compacted INTEGER NOT NULL,
            facts TEXT NOT NULL,
            recalled TEXT NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            evaluated_tokens INTEGER NOT NULL,
            model_seconds REAL NOT NULL,
            environment_seconds REAL NOT NULL,
            harness_seconds REAL NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (episode, number)
        );
        """,
    )


@migrations()
def m002_entries(database: Database) -> None:
    """What was learnt, where each entry came from, when it was recalled, and every change to it."""
    run_script(
        database,
        """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL CHECK (kind IN ('skill', 'mistake', 'note')),
            scope TEXT NOT NULL,
            world TEXT,
            text TEXT NOT NULL,
            applies TEXT,
            subject TEXT,
            relation TEXT,
            object TEXT,
            trust TEXT NOT NULL CHECK (trust IN ('agent', 'person')),
            status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'superseded', 'pruned', 'dropped')),
            strength INTEGER NOT NULL DEFAULT 1,
            recalled INTEGER NOT NULL DEFAULT 0,
            helped REAL NOT NULL DEFAULT 0,
            hurt REAL NOT NULL DEFAULT 0,
            created TEXT NOT NULL,
            confirmed TEXT NOT NULL,
            last_recalled TEXT,
            episode INTEGER REFERENCES episodes (id),
            step INTEGER,
            because TEXT NOT NULL,
            superseded_by INTEGER REFERENCES entries (id),
            normal TEXT NOT NULL,
            words TEXT NOT NULL
        );
        CREATE INDEX entries_by_normal ON entries (normal);
        CREATE INDEX entries_by_slots ON entries (subject, relation, world) WHERE subject IS NOT NULL;
        CREATE INDEX entries_by_status ON entries (status, kind);
        CREATE INDEX entries_pending ON entries (episode) WHERE status = 'pending';
        CREATE TABLE sources (
            id INTEGER PRIMARY KEY,
            entry INTEGER NOT NULL REFERENCES entries (id),
            episode INTEGER REFERENCES episodes (id),
            step INTEGER,
            because TEXT NOT NULL
        );
        CREATE UNIQUE INDEX sources_by_entry ON sources (entry, episode);
        CREATE INDEX sources_by_episode ON sources (episode, step);
        CREATE TABLE recalls (
            episode INTEGER NOT NULL REFERENCES episodes (id),
            step INTEGER NOT NULL,
            entry INTEGER NOT NULL REFERENCES entries (id),
            PRIMARY KEY (episode, step, entry)
        ) WITHOUT ROWID;
        CREATE TABLE events (
            id INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            kind TEXT NOT NULL,
            entry INTEGER REFERENCES entries (id),
            episode INTEGER REFERENCES episodes (id),
            step INTEGER,
            detail TEXT NOT NULL
        );
        CREATE INDEX events_by_entry ON events (entry);
        """,
    )


@migrations()
def m003_full_text(database: Database) -> None:
    """The words of what can be recalled (text and when it applies), kept in step by triggers."""
    run_script(
        database,
        """
        CREATE VIRTUAL TABLE entries_fts USING fts5 (
            words, content = 'entries', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0'
        );
        CREATE VIRTUAL TABLE entries_terms USING fts5vocab (entries_fts, row);
        CREATE TRIGGER entries_fts_insert AFTER INSERT ON entries
        WHEN new.status IN ('pending', 'active') BEGIN
            INSERT INTO entries_fts (rowid, words) VALUES (new.id, new.words);
        END;
        CREATE TRIGGER entries_fts_leave AFTER UPDATE OF status, words ON entries
        WHEN old.status IN ('pending', 'active') BEGIN
            INSERT INTO entries_fts (entries_fts, rowid, words) VALUES ('delete', old.id, old.words);
            INSERT INTO entries_fts (rowid, words)
                SELECT new.id, new.words WHERE new.status IN ('pending', 'active');
        END;
        CREATE TRIGGER entries_fts_return AFTER UPDATE OF status, words ON entries
        WHEN old.status NOT IN ('pending', 'active') AND new.status IN ('pending', 'active') BEGIN
            INSERT INTO entries_fts (rowid, words) VALUES (new.id, new.words);
        END;
        CREATE TRIGGER entries_fts_delete AFTER DELETE ON entries
        WHEN old.status IN ('pending', 'active') BEGIN
            INSERT INTO entries_fts (entries_fts, rowid, words) VALUES ('delete', old.id, old.words);
        END;
        """,
    )


@migrations()
def m004_places(database: Database) -> None:
    """Where things are: counts by type, and what was seen where in one world."""
    run_script(
        database,
        """
        CREATE TABLE place_finds (
            object TEXT NOT NULL,
            scope TEXT NOT NULL,
            place TEXT NOT NULL,
            found INTEGER NOT NULL,
            PRIMARY KEY (object, scope, place)
        ) WITHOUT ROWID;
        CREATE TABLE place_searches (
            place TEXT NOT NULL,
            scope TEXT NOT NULL,
            searched INTEGER NOT NULL,
            PRIMARY KEY (place, scope)
        ) WITHOUT ROWID;
        CREATE TABLE sightings (
            world TEXT NOT NULL,
            kind TEXT NOT NULL,
            scope TEXT NOT NULL,
            object TEXT NOT NULL,
            place TEXT NOT NULL,
            episode INTEGER NOT NULL REFERENCES episodes (id),
            step INTEGER NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (world, kind, scope, object)
        ) WITHOUT ROWID;
        """,
    )


@migrations()
def m005_prunings(database: Database) -> None:
    """What was pruned, why, and what it was before, so that it can be undone."""
    run_script(
        database,
        """
        CREATE TABLE prunings (
            id INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            policy TEXT NOT NULL,
            undone TEXT
        );
        CREATE TABLE pruned_entries (
            pruning INTEGER NOT NULL REFERENCES prunings (id),
            entry INTEGER NOT NULL REFERENCES entries (id),
            previous TEXT NOT NULL,
            reasons TEXT NOT NULL,
            PRIMARY KEY (pruning, entry)
        ) WITHOUT ROWID;
        """,
    )


@migrations()
def m006_recall(database: Database) -> None:
    """An index of words by scope and world, with how many entries hold each."""
    build_word_index(database)


@migrations()
def m007_life(database: Database) -> None:
    """More kinds of trust and status, one record of every change that can be undone, and what upkeep remembers."""
    build_life(database)


@migrations()
def m008_exchange(database: Database) -> None:
    """Where what was learnt elsewhere comes from, what a frozen bank says of itself, and which episodes were learnt."""
    made, *belongings = [
        row[0]
        for row in database.execute(
            "SELECT sql FROM sqlite_master WHERE tbl_name = 'sightings' AND sql IS NOT NULL ORDER BY type != 'table'"
        )
    ]
    # What was seen elsewhere has no episode here.
    for column in ("episode INTEGER", "step INTEGER"):
        made = made.replace(f"{column} NOT NULL", column)
    database.execute("CREATE TEMP TABLE sightings_before AS SELECT * FROM sightings")
    database.execute("DROP TABLE sightings")
    for statement in (made, "INSERT INTO sightings SELECT * FROM sightings_before", *belongings):
        database.execute(statement)
    database.execute("DROP TABLE sightings_before")
    run_script(
        database,
        """
        ALTER TABLE entries ADD COLUMN said_by TEXT;
        ALTER TABLE sources ADD COLUMN origin TEXT;
        CREATE TABLE identity (id TEXT NOT NULL);
        INSERT INTO identity (id) VALUES (lower(hex(randomblob(8))));
        CREATE TABLE place_origins (
            origin TEXT NOT NULL,
            scope TEXT NOT NULL,
            object TEXT NOT NULL,
            place TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (origin, scope, object, place)
        ) WITHOUT ROWID;
        CREATE TABLE place_priors (
            object TEXT NOT NULL,
            scope TEXT NOT NULL,
            place TEXT NOT NULL,
            rank INTEGER NOT NULL,
            PRIMARY KEY (object, scope, place)
        ) WITHOUT ROWID;
        CREATE TABLE frozen (at TEXT NOT NULL, hash TEXT NOT NULL);
        CREATE TABLE learnt (episode INTEGER PRIMARY KEY REFERENCES episodes (id));
        """,
    )


@migrations()
def m009_policies(database: Database) -> None:
    """What other memory policies know of their entries besides."""
    run_script(
        database,
        """
        CREATE TABLE policy_items (
            entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
            role TEXT NOT NULL,
            task_kind TEXT NOT NULL,
            title TEXT NOT NULL,
            importance INTEGER NOT NULL
        );
        """,
    )


@migrations()
def m010_shared_settings(database: Database) -> None:
    """Settings of episodes, which are mostly the same, once each."""
    run_script(
        database,
        """
        CREATE TABLE episode_settings (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE);
        INSERT INTO episode_settings (content) SELECT DISTINCT settings FROM episodes;
        ALTER TABLE episodes ADD COLUMN played INTEGER REFERENCES episode_settings (id);
        UPDATE episodes SET played = (SELECT id FROM episode_settings WHERE content = episodes.settings);
        ALTER TABLE episodes DROP COLUMN settings;
        """,
    )
