"""The section of what a store learnt: how it grew, what was merged and removed, and what helped most and least."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence

from ..experience.entries import COLUMNS, Entry, read_entry
from ..experience.store import Store
from ..experience.vocabulary import EntryStatus
from .content import Cell, Link, Section, Table
from .growth import growth
from .votes import Vote

_LISTED, _REASONS, _SETS = 12, 4, 40
Key = Callable[[int], str | None]
"""Returns the key of an episode, by its number in the store, where the report has it."""


def experience(store: Store, votes: Sequence[Vote], key_of: Key) -> Section | None:
    """Return what a store learnt, None where that is nothing."""
    if not store.number("SELECT count(*) FROM entries"):
        return None
    by_entry: dict[int, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_entry[vote.entry].append(vote)
    ranked = [
        _ranked(title, found, by_entry, key_of)
        for title, found in (
            ("Most useful entries", _tested(store, "helped >= hurt", "DESC")),
            ("Least useful entries", _tested(store, "helped < hurt", "ASC")),
        )
        if found
    ]
    remark = (
        "A record is (1 + helped) / (2 + helped + hurt). An entry is voted on where what it says was put to the test; "
        "what was only recalled has no vote."
    )
    return Section("Experience", [remark], growth(store), [_counts(store), *ranked, *_changes(store)])


def _tested(store: Store, which: str, order: str) -> list[Entry]:
    """Return entries that were put to the test, by their record."""
    rows = store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE helped + hurt > 0 AND status != 'dropped' AND {which} "
        f"ORDER BY (1 + helped) / (2 + helped + hurt) {order}, id LIMIT ?",
        [_LISTED],
    )
    return [read_entry(row) for row in rows]


def _counts(store: Store) -> Table:
    rows = store.rows("SELECT kind, status, count(*) AS count FROM entries GROUP BY 1, 2")
    counts = {(row["kind"], row["status"]): row["count"] for row in rows}
    stands = [status for status in EntryStatus if any(status == each for _, each in counts)]
    kinds = sorted({kind for kind, _ in counts})
    table = [[kind, *(f"{counts.get((kind, status), 0):,}" for status in stands)] for kind in kinds]
    return Table("Entries", ["kind", *(f"{status}#" for status in stands)], table)


def _ranked(title: str, found: Sequence[Entry], by_entry: dict[int, list[Vote]], key_of: Key) -> Table:
    columns = ["entry#", "kind", "what it says", "status", "record#", "helped#", "hurt#", "recalled#", "noted#", "why"]
    rows: list[Sequence[Cell]] = [
        [
            f"{each.id}",
            each.kind,
            each.said,
            each.status,
            f"{each.record:.2f}",
            f"{each.helped:.2f}",
            f"{each.hurt:.2f}",
            f"{each.recalled}",
            f"{each.strength}",
            _why(by_entry.get(each.id, []), key_of),
        ]
        for each in found
    ]
    return Table(title, columns, rows)


def _why(votes: Sequence[Vote], key_of: Key) -> list[str | Link]:
    """Return the votes that count most, with the episodes they are from."""
    chosen = sorted(votes, key=lambda vote: -abs(vote.value))[:_REASONS]
    said: list[str | Link] = []
    for vote in sorted(chosen, key=lambda vote: vote.episode):
        words, key = f"episode {vote.episode}: {vote.words}", key_of(vote.episode)
        said.append(Link(words, key) if key else words)
    if len(votes) > len(chosen):
        said.append(f"and {len(votes) - len(chosen)} more")
    return said


def _changes(store: Store) -> list[Table]:
    """Return the latest sets of changes: consolidations and prunings, with some of their reasons."""
    sets = store.rows(
        "SELECT change_sets.*, count(entry) AS entries FROM change_sets "
        "LEFT JOIN changes ON change_set = change_sets.id GROUP BY change_sets.id ORDER BY change_sets.id DESC LIMIT ?",
        [_SETS],
    )
    rows: list[Sequence[Cell]] = [
        [each["at"][:19], each["kind"], f"{each['entries']}", _undone(each), _reasons(store, each["id"])]
        for each in sets
        if each["entries"] or each["undone"]
    ]
    columns = ["when (UTC)", "what", "entries#", "undone", "why, of some"]
    return [Table("Merges and removals, the latest first", columns, rows)] if rows else []


def _undone(row: sqlite3.Row) -> str:
    return str(row["undone"])[:19] if row["undone"] else ""


def _reasons(store: Store, change_set: int) -> list[str]:
    rows = store.rows(
        "SELECT DISTINCT entry, reasons FROM changes WHERE change_set = ? AND reasons != '[]' ORDER BY id LIMIT ?",
        [change_set, _REASONS],
    )
    return [f"[{row['entry']}] {' '.join(map(str, json.loads(row['reasons'])))}" for row in rows]
