"""Prunes entries by policy: planned and explained, applied in one transaction, undone as a whole."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from ..entries import COLUMNS, Entry, entries, read_entry, record_event
from ..store import Store
from ..vocabulary import EntryStatus
from .changes import Change, ChangeKind, begin_changes, make_change, undo_changes
from .changes import NothingToUndo as NothingToUndo
from .duplicates import find_duplicates
from .suspicion import suspicions

_ASIDE = {
    EntryStatus.SUPERSEDED: "It was corrected by entry {by}, or merged into it.",
    EntryStatus.DORMANT: "What was observed contradicted it and nothing restored it.",
}


@dataclass(frozen=True)
class Policy:
    """Which active entries go. What is None or False doesn't count; `kind` and `scope` limit what is looked at."""

    stale_days: float | None = None
    """Days without having been recalled, noted or confirmed."""
    max_entries: int | None = None
    """How many stay: those with the best record, then the most often noted, then the latest."""
    min_helped_rate: float | None = None
    """The least record, (1 + helped) / (2 + helped + hurt), of an entry that was put to the test."""
    kind: str | None = None
    scope: str | None = None
    """This scope and those below it."""
    duplicates: bool = False
    """What says the same as another entry."""
    superseded: bool = False
    """What was corrected or merged, or lies dormant; it is out of recall already."""
    suspicious: bool = False
    """What reads like an order to override rules."""

    @property
    def asks(self) -> bool:
        """Whether anything is to be pruned by."""
        by_number = (self.stale_days, self.max_entries, self.min_helped_rate)
        return any((self.duplicates, self.superseded, self.suspicious)) or by_number != (None, None, None)


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
    reasons = {
        each.id: [*_stale(each, policy, now), *_unhelpful(each, policy), *_suspicious(each, policy)]
        for each in looked_at
    }
    if policy.duplicates:
        for group in find_duplicates(looked_at):
            for each in group.others:
                reasons[each.id].append(f"It says the same as entry {group.keeper.id}, which is kept.")
    if policy.max_entries is not None:
        left = sorted((each for each in looked_at if not reasons[each.id]), key=usefulness, reverse=True)
        for rank, each in enumerate(left[policy.max_entries :], policy.max_entries + 1):
            reasons[each.id].append(
                f"It ranks {rank} of {len(left)} by record ({each.record:.2f}), strength ({each.strength}) "
                f"and last use, and {policy.max_entries} may stay."
            )
    if policy.superseded:
        for status, why in _ASIDE.items():
            for each in entries(store, kind=policy.kind, status=status, scope=policy.scope, limit=-1):
                looked_at.append(each)
                reasons[each.id] = [why.format(by=each.superseded_by)]
    found = [Candidate(each, tuple(reasons[each.id])) for each in looked_at if reasons[each.id]]
    return sorted(found, key=lambda candidate: candidate.entry.id)


def apply(store: Store, candidates: list[Candidate], policy: Policy) -> tuple[int | None, int]:
    """Prune what was planned, but for entries that changed since.

    Return the number of the pruning and of the entries pruned; without any, nothing is recorded and it is None.
    """
    with store.transaction():
        unchanged = [each for each in candidates if stands(store, each.entry)]
        if not unchanged:
            return None, 0
        pruning = begin_changes(store, ChangeKind.PRUNING, asdict(policy))
        for candidate in unchanged:
            put_aside(store, pruning, ChangeKind.PRUNING, candidate)
    return pruning, len(unchanged)


def put_aside(store: Store, change_set: int, kind: ChangeKind, candidate: Candidate) -> None:
    """Prune one entry as part of a set of changes, in the caller's transaction."""
    old = candidate.entry
    before, after = {"status": old.status}, {"status": EntryStatus.PRUNED}
    make_change(store, change_set, Change(old.id, before, after, candidate.reasons))
    record_event(store, "pruned", old.id, **{kind: change_set}, reasons=candidate.reasons)


def undo(store: Store) -> tuple[int, int]:
    """Undo the last pruning not yet undone; return its number and how many entries came back.

    What was corrected or said again in the meantime comes back as superseded. Raises NothingToUndo.
    """
    return undo_changes(store, ChangeKind.PRUNING)


def stands(store: Store, planned: Entry) -> bool:
    """Tell whether an entry is still as it was when a change to it was planned."""
    row = store.row(f"SELECT {COLUMNS} FROM entries WHERE id = ?", [planned.id])
    return row is not None and read_entry(row) == planned


def usefulness(each: Entry) -> tuple[float, int, str, int]:
    """Return what entries are ordered by where not all may stay: record, strength, last use."""
    return each.record, each.strength, _last_use(each), each.id


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


def _suspicious(each: Entry, policy: Policy) -> list[str]:
    return list(suspicions(each.said)) if policy.suspicious else []


def _last_use(each: Entry) -> str:
    return max(each.confirmed, each.last_recalled or "")
