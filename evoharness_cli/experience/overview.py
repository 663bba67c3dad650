"""What the store holds at a glance, and whether the file is sound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .entries import COLUMNS, Entry, read_entry
from .store import Store
from .vocabulary import EntryStatus, Trust

_SHOWN = 5


@dataclass(frozen=True)
class KindRate:
    """How the closed episodes of one kind of task ended."""

    environment: str
    kind: str
    closed: int
    won: int

    @property
    def rate(self) -> float:
        """The share that was won."""
        return self.won / self.closed


@dataclass(frozen=True)
class Overview:
    """Counts over the whole store."""

    runs: int
    episodes: int
    closed: int
    won: int
    by_kind: tuple[KindRate, ...]
    entries: dict[tuple[str, str], int]
    """How many entries by status and kind."""
    most_useful: tuple[Entry, ...]
    """Active entries that were put to the test, best record first."""
    bytes: int
    """Size of the file and of its write-ahead log."""
    provisional: int
    """Active entries that one episode taught, and that neither recurred nor helped yet."""


@dataclass(frozen=True)
class Health:
    """What SQLite says of the file."""

    integrity: tuple[str, ...]
    """Damage found by `PRAGMA integrity_check`; empty when there is none."""
    foreign_keys: tuple[str, ...]
    """Rows that refer to what isn't there."""
    journal_mode: str
    schema_version: int

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.integrity and not self.foreign_keys


def overview(store: Store) -> Overview:
    """Count what is there."""
    by_kind = tuple(
        KindRate(row["environment"], row["kind"], row["closed"], row["won"])
        for row in store.rows(
            "SELECT environment, kind, count(success) AS closed, sum(success) AS won FROM episodes "
            "WHERE success IS NOT NULL GROUP BY environment, kind ORDER BY environment, kind"
        )
    )
    counts = store.rows("SELECT status, kind, count(*) AS count FROM entries GROUP BY status, kind")
    useful = store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE status = ? AND helped + hurt > 0 "
        "ORDER BY (1 + helped) / (2 + helped + hurt) DESC, strength DESC, id LIMIT ?",
        [EntryStatus.ACTIVE, _SHOWN],
    )
    return Overview(
        runs=store.number("SELECT count(*) FROM runs"),
        episodes=store.number("SELECT count(*) FROM episodes"),
        closed=sum(each.closed for each in by_kind),
        won=sum(each.won for each in by_kind),
        by_kind=by_kind,
        entries={(row["status"], row["kind"]): row["count"] for row in counts},
        most_useful=tuple(read_entry(row) for row in useful),
        bytes=size(store),
        provisional=store.number(
            "SELECT count(*) FROM entries WHERE status = ? AND trust IN (?, ?) AND strength = 1 AND helped = 0",
            [EntryStatus.ACTIVE, Trust.AGENT, Trust.DISTILLED],
        ),
    )


def size(store: Store) -> int:
    """Return the bytes of the file and of its write-ahead log."""
    return sum(path.stat().st_size for path in _files(store) if path.exists())


def aside(store: Store) -> int:
    """Return how many entries were put aside: pruned, superseded or dropped."""
    return store.number(
        "SELECT count(*) FROM entries WHERE status IN (?, ?, ?)",
        [EntryStatus.PRUNED, EntryStatus.SUPERSEDED, EntryStatus.DROPPED],
    )


def health(store: Store) -> Health:
    """Check the whole file; takes a while for a large one."""
    integrity = [str(row[0]) for row in store.rows("PRAGMA integrity_check")]
    foreign_keys = [
        f"row {row['rowid']} of {row['table']} refers to {row['parent']}"
        for row in store.rows("PRAGMA foreign_key_check")
    ]
    mode = store.row("PRAGMA journal_mode")
    return Health(
        integrity=tuple(line for line in integrity if line != "ok"),
        foreign_keys=tuple(foreign_keys),
        journal_mode=str(mode[0]) if mode else "",
        schema_version=store.number("PRAGMA user_version"),
    )


def _files(store: Store) -> tuple[Path, ...]:
    return store.path, store.path.with_name(f"{store.path.name}-wal")
