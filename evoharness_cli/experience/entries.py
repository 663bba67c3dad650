"""The entries of experience as values, how they are looked up, and the log of every change to them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .errors import NotFound
from .slots import Slots
from .store import Store, utc_now
from .vocabulary import EntryStatus, Kind, Trust

LIVE = "status IN ('pending', 'active')"
"""Only these are indexed and can be recalled or repeated."""

COLUMNS = (
    "id, kind, scope, world, text, applies AS 'when', subject, relation, object, trust, status, strength, "
    "recalled, helped, hurt, created, confirmed, last_recalled, episode, step, because, superseded_by"
)


@dataclass(frozen=True)
class Entry:
    """Something learnt. Times are ISO-8601 texts in UTC."""

    id: int
    kind: Kind
    scope: str
    """Where it holds, as a path: `a` holds in `a/b` too, and the empty scope everywhere."""
    world: str | None
    """The one world it is about, else None."""
    text: str
    when: str | None
    """When it applies."""
    subject: str | None
    relation: str | None
    object: str | None
    trust: Trust
    status: EntryStatus
    strength: int
    """How many episodes noted it, and how many times a person did."""
    recalled: int
    """How many times it was shown to an agent."""
    helped: float
    hurt: float
    created: str
    confirmed: str
    """When it was last noted, seen to be so, or of help."""
    last_recalled: str | None
    episode: int | None
    step: int | None
    because: str
    """The observation behind it."""
    superseded_by: int | None

    @property
    def slots(self) -> Slots | None:
        """The claim about a place, where it makes one."""
        if self.subject is None or self.relation is None or self.object is None:
            return None
        return Slots(self.subject, self.relation, self.object)

    @property
    def record(self) -> float:
        """The mean of the Beta posterior of helping, from a uniform prior: 0.5 before any vote."""
        return (1 + self.helped) / (2 + self.helped + self.hurt)

    @property
    def said(self) -> str:
        """What it says and when that applies, in one sentence."""
        return f"{self.text} (when {self.when})" if self.when else self.text

    @property
    def provisional(self) -> bool:
        """Whether it is from one episode and neither recurred nor helped yet."""
        return self.strength == 1 and self.helped == 0 and self.trust in (Trust.AGENT, Trust.DISTILLED)


@dataclass(frozen=True)
class Event:
    """One change to an entry (or, without one, to an episode)."""

    id: int
    at: str
    kind: str
    entry: int | None
    episode: int | None
    step: int | None
    detail: dict[str, Any]


def read_entry(row: sqlite3.Row) -> Entry:
    """Make an entry of a row of `COLUMNS`."""
    values = {key: row[key] for key in Entry.__dataclass_fields__}
    typed = {"kind": Kind(row["kind"]), "trust": Trust(row["trust"]), "status": EntryStatus(row["status"])}
    return Entry(**{**values, **typed})


def entry(store: Store, number: int) -> Entry:
    """Return one entry. Raises NotFound."""
    row = store.row(f"SELECT {COLUMNS} FROM entries WHERE id = ?", [number])
    if row is None:
        raise NotFound(f"There is no entry {number} in {store.path}.")
    return read_entry(row)


def entries(
    store: Store,
    *,
    kind: str | None = None,
    status: str | None = None,
    scope: str | None = None,
    query: str | None = None,
    limit: int = 50,
) -> list[Entry]:
    """Return entries, newest first: of a kind, a status, a scope or below it, with `query` in the text."""
    where, values = ["1"], list[object]()
    if kind:
        where.append("kind = ?")
        values.append(kind)
    if status:
        where.append("status = ?")
        values.append(status)
    if scope:
        where.append("(scope = ? OR substr(scope, 1, ?) = ?)")
        values += [scope, len(scope) + 1, f"{scope}/"]
    if query:
        where.append("instr(lower(text || ' ' || coalesce(applies, '')), lower(?)) > 0")
        values.append(query)
    rows = store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?",
        [*values, limit],
    )
    return [read_entry(row) for row in rows]


def events(store: Store, number: int) -> list[Event]:
    """Return what happened to an entry, oldest first."""
    rows = store.rows("SELECT * FROM events WHERE entry = ? ORDER BY id", [number])
    return [Event(**{**dict(row), "detail": json.loads(row["detail"])}) for row in rows]


def record_event(
    store: Store,
    kind: str,
    number: int | None,
    episode: int | None = None,
    step: int | None = None,
    **detail: object,
) -> None:
    """Log a change, in the caller's transaction."""
    store.write(
        "INSERT INTO events (at, kind, entry, episode, step, detail) VALUES (?, ?, ?, ?, ?, ?)",
        [utc_now(), kind, number, episode, step, json.dumps(detail, ensure_ascii=False)],
    )


def scopes_above(scope: str) -> list[str]:
    """Return a scope and those it lies in, from everywhere (the empty one) down."""
    parts = [part for part in scope.split("/") if part]
    return ["/".join(parts[:length]) for length in range(len(parts) + 1)]


PRIVATE = "@"
"""Begins the scopes that belong to one memory policy alone; nothing is recalled from them, or merged, without it."""


def private_scope(policy: str, scope: str) -> str:
    """Return where a memory policy keeps what it learns in a scope: `@policy/scope`."""
    return scopes_above(f"{PRIVATE}{policy}/{scope}")[-1]


def is_private(scope: str) -> bool:
    """Tell whether a scope belongs to one memory policy."""
    return scopes_above(scope)[-1].startswith(PRIVATE)


def marks(values: Iterable[object]) -> str:
    """Return one SQL placeholder for each value."""
    return ", ".join("?" for _ in values)
