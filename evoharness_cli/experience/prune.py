"""Prunes entries by policy: planned and explained, applied in one transaction, undone as a whole."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from ..harness import WrongUsage
from .drafts import draft_of
from .entries import COLUMNS, Entry, entries, entry, read_entry, record_event
from .noting import find_conflicts, find_same, supersede
from .store import Store, utc_now
from .vocabulary import EntryStatus


class NothingToUndo(WrongUsage):
    """No pruning is left that could be undone."""


@dataclass(frozen=True)
class Policy:
    """Which active entries go. What is None doesn't count; `kind` and `scope` limit what is looked at."""

    stale_days: float | None = None
    """Days without having been recalled, noted or confirmed."""
    max_entries: int | None = None
    """How many stay: those with the best record, then the most often noted, then the latest."""
    min_helped_rate: float | None = None
    """The least record, (1 + helped) / (2 + helped + hurt), of an entry that was put to the test."""
    kind: str | None = None
    scope: str | None = None
    """This scope and those below it."""


@dataclass(frozen=True)
class Candidate:
    """An entry to prune and why, in sentences."""

    entry: Entry
    reasons: tuple[str, ...]


def plan(store: Store, policy: Policy, now: datetime | None = None) -> list[Candidate]:
    """Return what a policy would prune, by id, and change nothing.

    What goes for another reason doesn't use up the capacity.
    """
    now = now or datetime.now(UTC)
    looked_at = entries(store, kind=policy.kind, status=EntryStatus.ACTIVE, scope=policy.scope, limit=-1)
    reasons = {each.id: [*_stale(each, policy, now), *_unhelpful(each, policy)] for each in looked_at}
    if policy.max_entries is not None:
        left = sorted((each for each in looked_at if not reasons[each.id]), key=_usefulness, reverse=True)
        for rank, each in enumerate(left[policy.max_entries :], policy.max_entries + 1):
            reasons[each.id].append(
                f"It ranks {rank} of {len(left)} by record ({each.record:.2f}), strength ({each.strength}) "
                f"and last use, and {policy.max_entries} may stay."
            )
    return [Candidate(each, tuple(reasons[each.id])) for each in reversed(looked_at) if reasons[each.id]]


def apply(store: Store, candidates: list[Candidate], policy: Policy) -> tuple[int | None, int]:
    """Prune what was planned, but for entries that changed since.

    Return the number of the pruning and of the entries pruned; without any, nothing is recorded and it is None.
    """
    with store.transaction():
        unchanged = [each for each in candidates if _stands(store, each)]
        if not unchanged:
            return None, 0
        pruning = store.write(
            "INSERT INTO prunings (at, policy) VALUES (?, ?)", [utc_now(), json.dumps(asdict(policy))]
        )
        for candidate in unchanged:
            number = candidate.entry.id
            store.write("UPDATE entries SET status = ? WHERE id = ?", [EntryStatus.PRUNED, number])
            store.write(
                "INSERT INTO pruned_entries (pruning, entry, previous, reasons) VALUES (?, ?, ?, ?)",
                [pruning, number, candidate.entry.status, json.dumps(candidate.reasons)],
            )
            record_event(store, "pruned", number, pruning=pruning, reasons=candidate.reasons)
    return pruning, len(unchanged)


def undo(store: Store) -> tuple[int, int]:
    """Undo the last pruning not yet undone; return its number and how many entries came back.

    What was corrected or said again in the meantime comes back as superseded.

    Raises NothingToUndo.
    """
    with store.transaction():
        last = store.row("SELECT id FROM prunings WHERE undone IS NULL ORDER BY id DESC LIMIT 1")
        if last is None:
            raise NothingToUndo("There is no pruning to undo: none was applied, or all were undone already.")
        pruning = int(last["id"])
        taken = store.rows(
            "SELECT entry, previous FROM pruned_entries JOIN entries ON entries.id = entry "
            "WHERE pruning = ? AND status = ? ORDER BY entry",
            [pruning, EntryStatus.PRUNED],
        )
        for row in taken:
            store.write("UPDATE entries SET status = ? WHERE id = ?", [row["previous"], row["entry"]])
            record_event(store, "restored", row["entry"], pruning=pruning)
            back = entry(store, row["entry"])
            draft = draft_of(back)
            if same := find_same(store, draft, besides=back.id):
                supersede(store, back, same.id, "said again while it was pruned")
            elif rivals := find_conflicts(store, draft, besides=back.id):
                supersede(store, back, rivals[-1].id, "corrected while it was pruned")
        store.write("UPDATE prunings SET undone = ? WHERE id = ?", [utc_now(), pruning])
    return pruning, len(taken)


def _stands(store: Store, candidate: Candidate) -> bool:
    row = store.row(f"SELECT {COLUMNS} FROM entries WHERE id = ?", [candidate.entry.id])
    return row is not None and read_entry(row) == candidate.entry


def _stale(each: Entry, policy: Policy, now: datetime) -> list[str]:
    if policy.stale_days is None:
        return []
    last = datetime.fromisoformat(_last_use(each))
    days = (now - last) / timedelta(days=1)
    if days < policy.stale_days:
        return []
    return [
        f"It was not recalled, noted or confirmed for {int(days)} days (since {last:%Y-%m-%d}); "
        f"{policy.stale_days:g} are allowed."
    ]


def _unhelpful(each: Entry, policy: Policy) -> list[str]:
    rate, tested = policy.min_helped_rate, each.helped + each.hurt > 0
    if rate is None or not tested or each.record >= rate:
        return []
    return [
        f"It was put to the test and its record is {each.record:.2f} (helped {each.helped:.2f}, "
        f"hurt {each.hurt:.2f}); at least {rate:g} is asked."
    ]


def _usefulness(each: Entry) -> tuple[float, int, str, int]:
    return each.record, each.strength, _last_use(each), each.id


def _last_use(each: Entry) -> str:
    return max(each.confirmed, each.last_recalled or "")
