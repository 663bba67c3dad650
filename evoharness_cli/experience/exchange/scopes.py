"""Scopes as places to tidy: what is kept where, and moving or copying it to another path."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace

from ...harness import WrongUsage
from ..drafts import draft_of
from ..entries import COLUMNS, Entry, is_private, read_entry, record_event, scopes_above
from ..noting import find_conflicts, find_same, supersede
from ..store import Store
from ..vocabulary import EntryStatus
from .uniting import Content, insert, unite


class CannotMove(WrongUsage):
    """What a scope holds can't be brought to another one."""


@dataclass(frozen=True)
class ScopeContent:
    """How much a scope holds, without those below it."""

    scope: str
    entries: dict[str, int]
    """How many entries by status."""
    places: int
    """For how many types of thing it is known where they were found."""


@dataclass(frozen=True)
class Brought:
    """What became of a scope's entries in another one."""

    entries: int
    """How many are there under their own number, or as a copy."""
    merged: int
    """How many were said there already, and made that stronger."""


def scopes(store: Store) -> list[ScopeContent]:
    """Return every scope that holds something, by its path."""
    entries: dict[str, dict[str, int]] = {}
    for row in store.rows("SELECT scope, status, count(*) AS count FROM entries GROUP BY scope, status"):
        entries.setdefault(row["scope"], {})[row["status"]] = row["count"]
    places = {
        row["scope"]: row["count"]
        for row in store.rows("SELECT scope, count(DISTINCT object) AS count FROM place_finds GROUP BY scope")
    }
    return [ScopeContent(each, entries.get(each, {}), places.get(each, 0)) for each in sorted({*entries, *places})]


def within(column: str, scope: str) -> tuple[str, list[object]]:
    """Return the condition in SQL, and its values, that a column holds a scope or one below it.

    What a memory policy keeps of a scope in a branch of its own (`@NAME/SCOPE`) counts as the scope's.
    """
    shared = f"iif({column} GLOB '@*/*', substr({column}, instr({column}, '/') + 1), {column})"
    held = [f"({each} = ? OR substr({each}, 1, ?) = ?)" for each in (column, shared)]
    return f"({' OR '.join(held)})", [scope, len(scope) + 1, f"{scope}/"] * 2


def move(store: Store, source: str, target: str) -> Brought:
    """Move what a scope and those below it hold to another path, in one transaction; the empty one is everything's.

    An active entry that is said there already makes that one stronger and is superseded by it. Entries of episodes that
    aren't closed stay. Raises CannotMove.
    """
    source, target = _checked(store, source, target)
    moved = merged = 0
    with store.transaction():
        for old in _held(store, source, target):
            to = _moved(old.scope, source, target)
            draft = replace(draft_of(old), scope=to, episode=None)
            same = find_same(store, draft, besides=old.id) if old.status == EntryStatus.ACTIVE else None
            if same:
                unite(store, same, Content.of(store, old))
                supersede(store, old, same.id, f"said already in {to or 'the general scope'}")
                merged += 1
                continue
            rivals = find_conflicts(store, draft, besides=old.id) if old.status == EntryStatus.ACTIVE else []
            store.write("UPDATE entries SET scope = ? WHERE id = ?", [to, old.id])
            record_event(store, "moved", old.id, came_from=old.scope, to=to)
            _settle(store, old.id, old.confirmed, rivals)
            moved += 1
        _bring_places(store, source, target, keep=False)
    return Brought(moved, merged)


def copy(store: Store, source: str, target: str) -> Brought:
    """Copy what is active in a scope and those below it to another path, in one transaction.

    What is said there already is made stronger. Raises CannotMove, also where one path lies in the other, in which
    it would be found twice.
    """
    source, target = _checked(store, source, target)
    if source in scopes_above(target) or target in scopes_above(source):
        raise CannotMove(
            f"What is kept in {_named(source)} and what in {_named(target)} would be recalled together, "
            "as one lies in the other; move it instead, or name a scope beside it."
        )
    copied = merged = 0
    with store.transaction():
        for old in _held(store, source, target):
            if old.status != EntryStatus.ACTIVE:
                continue
            draft = replace(draft_of(old), scope=_moved(old.scope, source, target), episode=None)
            content = Content.of(store, old)
            if same := find_same(store, draft):
                unite(store, same, content)
                merged += 1
                continue
            rivals = find_conflicts(store, draft)
            number = insert(store, draft, content)
            record_event(store, "copied", number, entry=old.id, came_from=old.scope)
            _settle(store, number, old.confirmed, rivals)
            copied += 1
        _bring_places(store, source, target, keep=True)
    return Brought(copied, merged)


def _checked(store: Store, source: str, target: str) -> tuple[str, str]:
    source, target = scopes_above(source)[-1], scopes_above(target)[-1]
    if source == target:
        raise CannotMove(f"Expected two scopes; found {_named(source)} twice.")
    known = [each.scope for each in scopes(store)]
    if not any(source in scopes_above(each) for each in known):
        raise CannotMove(
            f"Nothing is kept in the scope {_named(source)}; there are {', '.join(map(_named, known)) or 'none'}."
        )
    return source, target


def _named(scope: str) -> str:
    return scope or '"" (the general one)'


def _held(store: Store, source: str, target: str) -> list[Entry]:
    """Return the entries of a scope and those below it, but for what lies in the target below it already."""
    rows = store.rows(f"SELECT {COLUMNS} FROM entries WHERE status != ? ORDER BY id", [EntryStatus.PENDING])
    return [each for each in map(read_entry, rows) if _is_held(each.scope, source, target)]


def _is_held(scope: str, source: str, target: str) -> bool:
    above = scopes_above(scope)
    hidden = is_private(scope) and not is_private(source)
    return source in above and not hidden and not (source in scopes_above(target) and target in above)


def _moved(scope: str, source: str, target: str) -> str:
    return scopes_above(f"{target}/{scope.removeprefix(source)}")[-1]


def _settle(store: Store, number: int, confirmed: str, rivals: list[Entry]) -> None:
    """Let of claims that can't both be so the one stand that was confirmed last."""
    for rival in rivals:
        if rival.confirmed > confirmed:
            row = store.row(f"SELECT {COLUMNS} FROM entries WHERE id = ?", [number])
            assert row is not None
            supersede(store, read_entry(row), rival.id, "another place was confirmed later")
            return
    for rival in rivals:
        supersede(store, rival, number, "another place was confirmed later")


_PLACES = {
    "place_finds": (("object", "place"), "found"),
    "place_searches": (("place",), "searched"),
    "place_origins": (("origin", "object", "place"), "count"),
}


def _bring_places(store: Store, source: str, target: str, keep: bool) -> None:
    """Add the place counts of a scope and those below it to the same paths elsewhere; a copy counts as seen here."""
    known = {row["scope"] for table in (*_PLACES, "place_priors", "sightings") for row in _scopes_of(store, table)}
    for scope in sorted(each for each in known if _is_held(each, source, target)):
        to = _moved(scope, source, target)
        for table, (keys, count) in _PLACES.items():
            if keep and table == "place_origins":
                continue
            names = ", ".join(keys)
            store.write(
                f"INSERT INTO {table} (scope, {names}, {count}) SELECT ?, {names}, {count} FROM {table} "
                f"WHERE scope = ? ON CONFLICT DO UPDATE SET {count} = {count} + excluded.{count}",
                [to, scope],
            )
        for table, columns in (("place_priors", "object, place, rank"), ("sightings", _SEEN)):
            store.write(
                f"INSERT OR IGNORE INTO {table} (scope, {columns}) SELECT ?, {columns} FROM {table} WHERE scope = ?",
                [to, scope],
            )
        if not keep:
            for table in (*_PLACES, "place_priors", "sightings"):
                store.write(f"DELETE FROM {table} WHERE scope = ?", [scope])


_SEEN = "world, kind, object, place, episode, step, at"


def _scopes_of(store: Store, table: str) -> list[sqlite3.Row]:
    return store.rows(f"SELECT DISTINCT scope FROM {table}")
