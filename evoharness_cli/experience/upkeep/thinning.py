"""Keeps a store's size within bounds: old steps are thinned to their sums, and what is final is forgotten.

A thinned episode keeps its task, outcome, what it spent and what it taught with the observation behind each; its steps
go for good. What was put aside is forgotten once it can't be brought back: only the newest `UNDOABLE` sets of changes
can be undone then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ..entries import marks
from ..store import Store
from ..vocabulary import EntryStatus

UNDOABLE = 20
"""How many sets of changes can be undone where a store forgets."""
LASTING = ("noted", "superseded", "contradicted", "dormant", "pruned", "restored", "condensed")
"""The events that stay; of others, what came before the oldest episode that is whole is summed up."""
_ASIDE = (EntryStatus.SUPERSEDED, EntryStatus.PRUNED, EntryStatus.DROPPED)
_BATCH = 100


@dataclass(frozen=True)
class Thinnable:
    """A closed episode whose steps may go, and why, as a sentence."""

    episode: int
    task: str
    finished: str
    steps: int
    reason: str


def thinnable(
    store: Store, *, keep: int | None = None, older_than_days: float | None = None, now: datetime | None = None
) -> list[Thinnable]:
    """Return the closed episodes with steps beyond the newest `keep`, or closed longer ago than that; oldest first."""
    where, values, reason = [], list[object](), []
    if keep is not None:
        where.append(
            "id <= coalesce((SELECT id FROM episodes WHERE finished IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?), 0)"
        )
        values.append(keep)
        reason.append(f"It is not among the newest {keep} closed episodes.")
    if older_than_days is not None:
        now = now or datetime.now(UTC)
        days = min(older_than_days, (now - datetime.min.replace(tzinfo=UTC)) / timedelta(days=1) - 1)
        where.append("finished <= ?")
        values.append((now - timedelta(days=days)).isoformat(timespec="milliseconds"))
        reason.append(f"It was closed more than {older_than_days:g} days ago.")
    rows = store.rows(
        "SELECT id, task, finished, (SELECT count(*) FROM steps WHERE episode = episodes.id) AS steps FROM episodes "
        "WHERE finished IS NOT NULL AND EXISTS (SELECT 1 FROM steps WHERE episode = episodes.id) AND "
        f"{' AND '.join(where) or '0'} ORDER BY id",
        values,
    )
    return [Thinnable(row["id"], row["task"], row["finished"], row["steps"], " ".join(reason)) for row in rows]


def thin(store: Store, episodes: Sequence[Thinnable]) -> int:
    """Replace the steps of episodes by their sums, for good; return of how many."""
    for start in range(0, len(episodes), _BATCH):
        numbers = [each.episode for each in episodes[start : start + _BATCH]]
        with store.transaction():
            within = f"episode IN ({marks(numbers)})"
            store.write(
                "INSERT OR IGNORE INTO step_sums SELECT episode, kind, sum(number > 0), sum(invalid), "
                "sum(prompt_tokens), sum(completion_tokens), sum(evaluated_tokens), sum(model_seconds), "
                f"sum(environment_seconds), sum(harness_seconds) FROM steps WHERE {within} GROUP BY episode, kind",
                numbers,
            )
            store.write(f"DELETE FROM steps WHERE {within}", numbers)
            store.write(f"DELETE FROM recalls WHERE {within}", numbers)
    if episodes:
        _condense(store, max(each.finished for each in episodes))
    return len(episodes)


def forget(store: Store) -> int:
    """Erase what was put aside before the oldest set of changes that can still be undone; return how many entries."""
    last = store.row(
        "SELECT id, at FROM change_sets WHERE undone IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?", [UNDOABLE - 1]
    )
    if last is None:
        return 0
    store.write("DELETE FROM changes WHERE change_set < ?", [last["id"]])
    store.write("DELETE FROM change_sets WHERE id < ?", [last["id"]])
    return erase(store, before=last["at"])


def erase(store: Store, before: str | None = None) -> int:
    """Erase entries that were put aside and that no set of changes could bring back, for good; return how many.

    With a time, only those to which nothing happened since.
    """
    rows = store.rows(
        f"SELECT id FROM entries WHERE status IN ({marks(_ASIDE)}) AND id NOT IN (SELECT entry FROM changes) "
        "AND coalesce((SELECT max(at) FROM events WHERE entry = entries.id), '') < ?",
        [*_ASIDE, before or "9"],
    )
    numbers = [[row["id"]] for row in rows]
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        with store.transaction():
            store.write_many("UPDATE entries SET superseded_by = NULL WHERE superseded_by = ?", batch)
            for table in ("events", "sources", "recalls"):
                store.write_many(f"DELETE FROM {table} WHERE entry = ?", batch)
            store.write_many("DELETE FROM entries WHERE id = ?", batch)
    return len(numbers)


def forget_worlds(store: Store, keep: int) -> int:
    """Forget where things were in all but the `keep` worlds that were seen last; return how many worlds."""
    rows = store.rows("SELECT world FROM sightings GROUP BY world ORDER BY max(at) DESC LIMIT -1 OFFSET ?", [keep])
    store.write_many("DELETE FROM sightings WHERE world = ?", [[row["world"]] for row in rows])
    return len(rows)


def empty_bin(store: Store) -> int:
    """Erase all that was put aside, after which nothing can be undone, and give its room back to the disk."""
    with store.transaction():
        store.write("DELETE FROM changes")
        store.write("DELETE FROM change_sets")
    erased = erase(store)
    store.database.vacuum()
    store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    return erased


def _condense(store: Store, until: str) -> None:
    """Sum up the events of each entry that don't last: `condensed` counts them by kind.

    They are those of episodes without steps, and those outside of episodes that came before a time.
    """
    rows = store.rows(
        "SELECT id, entry, at, kind FROM events WHERE entry IS NOT NULL AND CASE WHEN episode IS NULL THEN at < ? "
        "ELSE NOT EXISTS (SELECT 1 FROM steps WHERE steps.episode = events.episode) END "
        f"AND kind NOT IN ({marks(LASTING)})",
        [until, *LASTING],
    )
    gone: dict[int, list[int]] = {}
    counts: dict[int, Counter[str]] = {}
    latest: dict[int, str] = {}
    for row in rows:
        gone.setdefault(row["entry"], []).append(row["id"])
        counts.setdefault(row["entry"], Counter())[row["kind"]] += 1
        latest[row["entry"]] = row["at"]
    entries = list(gone)
    for start in range(0, len(entries), _BATCH):
        with store.transaction():
            for entry in entries[start : start + _BATCH]:
                # The first of them becomes the sum, so that it stands in its place in the history.
                known = store.row(
                    "SELECT id, detail FROM events WHERE entry = ? AND kind = 'condensed' ORDER BY id LIMIT 1", [entry]
                )
                total = Counter(json.loads(known["detail"])) if known else Counter()
                total.update(counts[entry])
                target = known["id"] if known else gone[entry][0]
                store.write_many("DELETE FROM events WHERE id = ?", [[each] for each in gone[entry] if each != target])
                store.write(
                    "UPDATE events SET kind = 'condensed', at = ?, episode = NULL, step = NULL, detail = ? "
                    "WHERE id = ?",
                    [latest[entry], json.dumps(total), target],
                )
