"""Entries that come with a past: added as they are, or united with the one that says the same.

Uniting takes the greater of every count and each line of origin once, so that it may be repeated, and done in any
order, without counting anything twice (a join of state-based replicated data; Shapiro and others, Conflict-free
replicated data types, SSS 2011).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..drafts import Draft
from ..entries import Entry, entry, marks, record_event
from ..store import Store, storable
from ..vocabulary import EntryStatus, Trust
from ..words import indexed, wording
from .origins import Origin, origins_of

ITEM = ("role", "task_kind", "title", "importance")
"""What a memory policy knows of its entries besides."""


@dataclass(frozen=True)
class Content:
    """What an entry is besides its sentence: its record, its times (ISO-8601 in UTC) and where it comes from."""

    said_by: Trust
    """Who it comes from where it was first kept."""
    strength: int
    recalled: int
    helped: float
    hurt: float
    created: str
    confirmed: str
    last_recalled: str | None
    origins: tuple[Origin, ...]
    item: Mapping[str, str | int] | None = None

    @classmethod
    def of(cls, store: Store, old: Entry) -> Content:
        """Read what an entry of a store is."""
        said_by = store.row("SELECT said_by FROM entries WHERE id = ?", [old.id])
        item = store.row(f"SELECT {', '.join(ITEM)} FROM policy_items WHERE entry = ?", [old.id])
        return cls(
            Trust(said_by["said_by"]) if said_by and said_by["said_by"] else old.trust,
            old.strength,
            old.recalled,
            old.helped,
            old.hurt,
            old.created,
            old.confirmed,
            old.last_recalled,
            tuple(origins_of(store, old.id)),
            dict(item) if item else None,
        )


def insert(store: Store, draft: Draft, content: Content, status: EntryStatus = EntryStatus.ACTIVE) -> int:
    """Add an entry with its past and return its number; the caller records the event."""
    slots = draft.slots
    words = _words(draft, content)
    number = store.write(
        "INSERT INTO entries (kind, scope, world, text, applies, subject, relation, object, trust, said_by, status, "
        "strength, recalled, helped, hurt, created, confirmed, last_recalled, because, normal, words) "
        f"VALUES ({marks(range(21))})",
        [
            draft.kind,
            draft.scope,
            draft.world,
            draft.text,
            draft.when,
            slots.subject if slots else None,
            slots.relation if slots else None,
            slots.object if slots else None,
            draft.trust,
            content.said_by if content.said_by != draft.trust else None,
            status,
            content.strength,
            content.recalled,
            content.helped,
            content.hurt,
            content.created,
            content.confirmed,
            content.last_recalled,
            draft.because,
            wording(words).normal,
            indexed(words),
        ],
    )
    if content.item:
        store.write(
            f"INSERT INTO policy_items (entry, {', '.join(ITEM)}) VALUES ({marks(range(5))})",
            [number, *(content.item[name] for name in ITEM)],
        )
    for origin in content.origins:
        _add_origin(store, number, origin)
    return number


def unite(store: Store, old: Entry, content: Content) -> bool:
    """Give an entry the past of one that says the same; return whether that changed it."""
    new = Counter(map(_line, content.origins)) - Counter(map(_line, origins_of(store, old.id)))
    latest = max(content.last_recalled or "", old.last_recalled or "") or None
    values = [
        max(old.strength + new.total(), content.strength),
        max(old.recalled, content.recalled),
        max(old.helped, content.helped),
        max(old.hurt, content.hurt),
        min(old.created, content.created),
        max(old.confirmed, content.confirmed),
        latest,
    ]
    before = [old.strength, old.recalled, old.helped, old.hurt, old.created, old.confirmed, old.last_recalled]
    if values == before and not new:
        return False
    for line in new.elements():
        _add_origin(store, old.id, json.loads(line))
    store.write(
        "UPDATE entries SET strength = ?, recalled = ?, helped = ?, hurt = ?, created = ?, confirmed = ?, "
        "last_recalled = ? WHERE id = ?",
        [*values, old.id],
    )
    now = entry(store, old.id)
    record_event(store, "united", old.id, strength=now.strength, helped=now.helped, hurt=now.hurt, origins=new.total())
    return True


def find_exact(store: Store, draft: Draft, content: Content) -> Entry | None:
    """Return the entry of these very words in the same scope and world, however it stands, the active one first.

    What an open episode noted doesn't count, nor what was taken back.
    """
    row = store.row(
        "SELECT id FROM entries WHERE normal = ? AND kind = ? AND scope = ? AND world IS ? AND text = ? "
        "AND applies IS ? AND status NOT IN (?, ?) ORDER BY status != ?, id LIMIT 1",
        [
            wording(_words(draft, content)).normal,
            draft.kind,
            draft.scope,
            draft.world,
            draft.text,
            draft.when,
            EntryStatus.PENDING,
            EntryStatus.DROPPED,
            EntryStatus.ACTIVE,
        ],
    )
    return entry(store, row["id"]) if row else None


def _words(draft: Draft, content: Content) -> str:
    return f"{draft.words} {content.item['task_kind']}" if content.item else draft.words


def _line(origin: Origin) -> str:
    return json.dumps(origin, sort_keys=True, ensure_ascii=False)


def _add_origin(store: Store, number: int, origin: Origin) -> None:
    store.write(
        "INSERT INTO sources (entry, because, origin) VALUES (?, ?, ?)",
        [number, storable(str(origin.get("because", ""))), storable(_line(origin))],
    )
