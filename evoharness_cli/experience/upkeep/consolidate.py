"""Consolidates a store: what says the same becomes one entry, what is over capacity goes, old steps are thinned.

What is to change is worked out first, outside of any transaction, and written in small batches, so that other processes
go on writing meanwhile; an entry that one of them changed since is left for the next time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..entries import COLUMNS, Entry, read_entry, record_event
from ..store import Store
from ..vocabulary import EntryStatus, Trust
from .changes import Change, ChangeKind, begin_changes, make_change, undo_changes
from .duplicates import Duplicates, find_duplicates
from .prune import Policy, plan, put_aside, stands
from .schedule import looked_at, remember_looked_at, schedule
from .thinning import forget, forget_worlds, thin, thinnable

_Item = TypeVar("_Item")

_LEARNT = (Trust.AGENT, Trust.DISTILLED)
"""What nobody chose to keep. A person's entries and imported ones only go when a person says so."""
BATCH = 100
"""How many merges or removals are written in one transaction."""
PAUSE = 0.015
"""Seconds, at least, between two of them, in which others that wait for the store get at it."""


@dataclass(frozen=True)
class Consolidated:
    """What a consolidation did. `change_set` is None where no entry changed, and nothing is to be undone."""

    change_set: int | None = None
    merged: int = 0
    """Entries that were merged into another."""
    pruned: int = 0
    """Entries that were over capacity."""
    thinned: int = 0
    """Episodes whose steps went."""
    forgotten: int = 0
    """Entries put aside so long ago that nothing can bring them back."""


def plan_merges(store: Store, scope: str | None = None, since: int = 0) -> list[Duplicates]:
    """Return what says the same among the active entries, of a scope and below it, and change nothing.

    Only groups with an entry newer than the id `since` are returned.
    """
    where, values = ["status = ?"], list[object]([EntryStatus.ACTIVE])
    if scope:
        where.append("(scope = ? OR substr(scope, 1, ?) = ?)")
        values += [scope, len(scope) + 1, f"{scope}/"]
    if since:
        # What is new can only say the same as what has its scope and world.
        where.append("(scope, coalesce(world, '')) IN (SELECT scope, coalesce(world, '') FROM entries WHERE id > ?)")
        values.append(since)
    rows = store.rows(f"SELECT {COLUMNS} FROM entries WHERE {' AND '.join(where)}", values)
    return find_duplicates([read_entry(row) for row in rows], since)


def consolidate(store: Store, scope: str | None = None, merges: Sequence[Duplicates] | None = None) -> Consolidated:
    """Merge what says the same, all of it or what was planned, and return what was done."""
    planned = plan_merges(store, scope) if merges is None else merges
    changes = _Changes(store)
    merged = 0
    for batch in _batches(planned):
        with store.transaction():
            merged += sum(merge(store, changes.number, group) for group in batch if _all_stand(store, group))
    return Consolidated(changes.made, merged)


def tend(store: Store) -> Consolidated:
    """Do what is due by the schedule: merge what is new, keep the capacity, thin old steps, forget what is final."""
    due = schedule(store)
    newest = store.number("SELECT max(id) FROM entries")
    changes = _Changes(store)
    merged = pruned = 0
    if newest > (since := looked_at(store)):
        for batch in _batches(plan_merges(store, since=since)):
            with store.transaction():
                merged += sum(merge(store, changes.number, group) for group in batch if _all_stand(store, group))
        remember_looked_at(store, newest)
    active = store.number("SELECT count(*) FROM entries WHERE status = ?", [EntryStatus.ACTIVE])
    if 0 < due.capacity < active:
        over = [each for each in plan(store, Policy(max_entries=due.capacity)) if each.entry.trust in _LEARNT]
        for candidates in _batches(over):
            with store.transaction():
                for candidate in candidates:
                    if stands(store, candidate.entry):
                        put_aside(store, changes.number, ChangeKind.CONSOLIDATION, candidate)
                        pruned += 1
    thinned = thin(store, thinnable(store, keep=due.keep_steps)) if due.keep_steps else 0
    if due.keep_worlds:
        forget_worlds(store, due.keep_worlds)
    return Consolidated(changes.made, merged, pruned, thinned, forget(store))


def undo(store: Store) -> tuple[int, int]:
    """Undo the last consolidation not yet undone; return its number and how many entries came back.

    Raises NothingToUndo.
    """
    return undo_changes(store, ChangeKind.CONSOLIDATION)


def merge(store: Store, change_set: int, group: Duplicates) -> int:
    """Merge entries into the one that is kept, in the caller's transaction; return how many were.

    It takes over their episodes, votes and recalls. An episode that noted several of them counts once.
    """
    keeper, others = group.keeper, group.others
    shared = 0
    for other in others:
        sources = store.rows(
            "SELECT id, episode IN (SELECT episode FROM sources WHERE entry = ?) AS known FROM sources WHERE entry = ?",
            [keeper.id, other.id],
        )
        moved = [row["id"] for row in sources if not row["known"]]
        shared += len(sources) - len(moved)
        store.write_many("UPDATE sources SET entry = ? WHERE id = ?", [[keeper.id, source] for source in moved])
        before = {"status": other.status, "superseded_by": other.superseded_by}
        after = {"status": EntryStatus.SUPERSEDED, "superseded_by": keeper.id}
        reason = f"It says the same as entry {keeper.id}."
        make_change(store, change_set, Change(other.id, before, after, [reason], moved))
        record_event(store, "merged", other.id, into=keeper.id, consolidation=change_set)
    one = merged_record(keeper, others, shared)
    names = [name for name in _MERGED if getattr(one, name) != getattr(keeper, name)]
    before = {name: getattr(keeper, name) for name in names}
    make_change(store, change_set, Change(keeper.id, before, {name: getattr(one, name) for name in names}))
    record_event(
        store,
        "merged",
        keeper.id,
        consolidation=change_set,
        entries=[other.id for other in others],
        strength=one.strength,
    )
    return len(others)


_MERGED = ("strength", "recalled", "helped", "hurt", "created", "confirmed")


def merged_record(keeper: Entry, others: Sequence[Entry], shared: int) -> Entry:
    """Return the keeper with what it takes over; `shared` counts the episodes that noted it and another of them."""
    every = (keeper, *others)
    return replace(
        keeper,
        strength=max(1, sum(each.strength for each in every) - shared),
        recalled=sum(each.recalled for each in every),
        helped=sum(each.helped for each in every),
        hurt=sum(each.hurt for each in every),
        created=min(each.created for each in every),
        confirmed=max(each.confirmed for each in every),
    )


class _Changes:
    """A set of changes that begins with the first of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.made: int | None = None

    @property
    def number(self) -> int:
        if self.made is None:
            self.made = begin_changes(self._store, ChangeKind.CONSOLIDATION, {})
        return self.made


def _all_stand(store: Store, group: Duplicates) -> bool:
    return all(stands(store, each) for each in (group.keeper, *group.others))


def _batches(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    for start in range(0, len(items), BATCH):
        began = time.monotonic()
        yield list(items[start : start + BATCH])
        if start + BATCH < len(items):
            time.sleep(max(PAUSE, (time.monotonic() - began) / 2))
