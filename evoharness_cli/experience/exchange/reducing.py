"""Reduces a copy of a store to what it taught: active entries and places, without the journal of episodes."""

from __future__ import annotations

from ..store import Store
from ..vocabulary import EntryStatus
from .origins import keep_origins
from .scopes import within

_JOURNAL = ("recalls", "changes", "change_sets", "learnt", "steps", "step_sums", "episodes", "runs")
"""What happened rather than what it taught, in the order in which nothing refers to what is gone."""
_BY_SCOPE = ("place_finds", "place_searches", "place_origins", "place_priors", "sightings")


def reduce(store: Store, scope: str | None = None) -> None:
    """Leave only what is active, of a scope and those below it, and of the journal the lines on where it comes from.

    Tables that are not known here are left, but for their rows that refer to what is gone: such a reference is
    emptied where it may be, else its row goes.
    """
    store.database.execute("PRAGMA foreign_keys = OFF")
    try:
        with store.transaction():
            keep_origins(store)
            store.write("DELETE FROM entries WHERE status != ?", [EntryStatus.ACTIVE])
            if scope:
                inside, values = within("scope", scope)
                for table in ("entries", *_BY_SCOPE):
                    store.write(f"DELETE FROM {table} WHERE NOT {inside}", values)
            for table in _JOURNAL:
                store.write(f"DELETE FROM {table}")
            store.write("DELETE FROM events WHERE entry IS NULL")
            drop_dangling(store)
    finally:
        store.database.execute("PRAGMA foreign_keys = ON")


def drop_dangling(store: Store) -> None:
    """Empty references to rows that are gone where they may be empty, and drop the rows where they may not."""
    again = True
    while again:
        again = False
        for table, column, parent, key, needed in _references(store):
            gone = f"{column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {parent})"
            if store.row(f"SELECT 1 FROM {table} WHERE {gone} LIMIT 1"):
                change = f"DELETE FROM {table}" if needed else f"UPDATE {table} SET {column} = NULL"
                store.write(f"{change} WHERE {gone}")
                again = again or needed


def _references(store: Store) -> list[tuple[str, str, str, str, bool]]:
    """Return every reference of one column: its table and name, what it refers to, and whether it must be there."""
    found = []
    tables = store.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%REFERENCES%'")
    for (table,) in tables:
        needed = {row["name"]: bool(row["notnull"] or row["pk"]) for row in store.rows(f"PRAGMA table_info({table})")}
        for row in store.rows(f"PRAGMA foreign_key_list({table})"):
            found.append((table, row["from"], row["table"], row["to"], needed[row["from"]]))
    return found
