"""One record of every change to entries that can be undone: what each was before and after, and why it changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ...harness import WrongUsage
from ..drafts import draft_of
from ..entries import entry, record_event
from ..noting import find_conflicts, find_same, supersede
from ..store import Store, utc_now
from ..vocabulary import EntryStatus

_COUNTED = ("strength", "recalled", "helped", "hurt")
"""What goes on counting after a change, so that an undoing takes back the difference alone."""
_STATED = ("status", "superseded_by", "text", "normal", "words", "confirmed", "created")
_COLUMNS = frozenset((*_COUNTED, *_STATED))
_BATCH = 200
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


class NothingToUndo(WrongUsage):
    """No change of that kind is left that could be undone."""


class ChangeKind(StrEnum):
    """What a set of changes was made by."""

    PRUNING = "pruning"
    CONSOLIDATION = "consolidation"


@dataclass(frozen=True)
class Change:
    """One entry's change. `before` and `after` hold the columns that change; `moved` the sources it gives away."""

    entry: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    reasons: Sequence[str] = field(default=())
    moved: Sequence[int] = field(default=())


def begin_changes(store: Store, kind: ChangeKind, about: Mapping[str, object]) -> int:
    """Begin a set of changes that are undone together; `about` says, as JSON, what made it. Return its number."""
    return store.write(
        "INSERT INTO change_sets (at, kind, about) VALUES (?, ?, ?)", [utc_now(), kind, json.dumps(dict(about))]
    )


def make_change(store: Store, change_set: int, change: Change) -> None:
    """Change an entry and record how, in the caller's transaction; the caller logs the event."""
    _set(store, change.entry, change.after)
    values = [change.before, change.after, change.moved, change.reasons]
    store.write(
        "INSERT INTO changes (change_set, entry, before, after, moved, reasons) VALUES (?, ?, ?, ?, ?, ?)",
        [change_set, change.entry, *(_ENCODE(value) for value in values)],
    )


def undo_changes(store: Store, kind: ChangeKind) -> tuple[int, int]:
    """Undo the last set of a kind that isn't undone; return its number and how many entries it brought back.

    It is done in small batches, last change first; one that was interrupted goes on where it was. Votes and recalls
    that came in between stay. What was corrected or said again in between comes back as superseded. Raises
    NothingToUndo.
    """
    last = store.row(
        "SELECT id, at FROM change_sets WHERE kind = ? AND undone IS NULL ORDER BY id DESC LIMIT 1", [kind]
    )
    if last is None:
        raise NothingToUndo(f"There is no {kind} to undo: none was applied, or all were undone already.")
    number, brought_back = int(last["id"]), 0
    apart = {row["entry"] for row in store.rows("SELECT entry FROM changes WHERE change_set = ?", [number])}
    # Only beside what was noted since can an entry that comes back be said again or corrected.
    since = "SELECT DISTINCT scope, world FROM entries WHERE created >= ? AND status IN ('pending', 'active')"
    homes = {(row["scope"], row["world"]) for row in store.rows(since, [last["at"]])}
    while True:
        with store.transaction():
            rows = store.rows("SELECT * FROM changes WHERE change_set = ? ORDER BY id DESC LIMIT ?", [number, _BATCH])
            back = [row["entry"] for row in rows if _take_back(store, number, kind, row)]
            store.write_many("DELETE FROM changes WHERE id = ?", [[row["id"]] for row in rows])
            for restored in back:
                _settle(store, restored, apart, homes)
            brought_back += len(back)
            if not rows:
                store.write("UPDATE change_sets SET undone = ? WHERE id = ?", [utc_now(), number])
                return number, brought_back


def _take_back(store: Store, number: int, kind: ChangeKind, row: sqlite3.Row) -> bool:
    """Undo one change; tell whether its entry came back to where it stood."""
    before, after = json.loads(row["before"]), json.loads(row["after"])
    now = store.row("SELECT * FROM entries WHERE id = ?", [row["entry"]])
    assert now is not None
    values = {name: _earlier(name, now[name], before[name], after[name]) for name in before}
    changed = {name: value for name, value in values.items() if value != now[name]}
    if changed:
        _set(store, row["entry"], changed)
        record_event(store, "restored", row["entry"], **{kind: number}, to=changed.get("status", now["status"]))
    for source in json.loads(row["moved"]):
        store.write("UPDATE OR IGNORE sources SET entry = ? WHERE id = ?", [row["entry"], source])
    return "status" in changed and changed["status"] != str(EntryStatus.DROPPED)


def _earlier(name: str, now: Any, before: Any, after: Any) -> Any:
    if name in _COUNTED:
        return max(1 if name == "strength" else 0, now - (after - before))
    return before if now == after else now


def _settle(store: Store, number: int, apart: set[int], homes: set[tuple[str, str | None]]) -> None:
    """Supersede what came back if what was noted since says the same or otherwise; `apart` came back with it."""
    back = entry(store, number)
    if back.status != EntryStatus.ACTIVE or (back.scope, back.world) not in homes:
        return
    draft = draft_of(back)
    same = find_same(store, draft, besides=number)
    if same and same.id not in apart:
        supersede(store, back, same.id, "said again while it was away")
    elif rivals := [each for each in find_conflicts(store, draft, besides=number) if each.id not in apart]:
        supersede(store, back, rivals[-1].id, "corrected while it was away")


def _set(store: Store, number: int, values: Mapping[str, Any]) -> None:
    if unknown := set(values) - _COLUMNS:
        raise ValueError(f"columns of entries that changes don't cover: {sorted(unknown)}")
    assigned = ", ".join(f"{name} = ?" for name in values)
    store.write(f"UPDATE entries SET {assigned} WHERE id = ?", [*values.values(), number])
