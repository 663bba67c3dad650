"""The bank that a policy is trained with: after each update it learns from an episode of every game that was played."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from ..evaluation.evolving import learn
from ..experience.exchange.banks import close_log
from ..experience.exchange.reducing import drop_dangling
from ..experience.policies import load_policy
from ..experience.store import Store
from ..experience.upkeep.consolidate import tend
from ..experience.vocabulary import EntryStatus
from ..runs.settings import RunSettings
from .counterfactual import Fork, record_forks
from .rollouts import Stage


@dataclass(frozen=True)
class BankChange:
    """What an update changed in the bank."""

    entries: int
    """Active entries afterwards."""
    merged: int
    """Entries that another one took the place of."""
    removed: int
    """Entries that were pruned or dropped."""


def evolve(
    stage: Stage,
    out: Path,
    games: Sequence[int],
    settings: RunSettings,
    forks: Sequence[Fork],
    began: datetime,
) -> BankChange:
    """Write the bank as it is after an update to `out`; the store of its rollouts stays as it is.

    Of each game the first episode of its group is learnt, in the order of the games: all of a group would count one
    house many times. What was found out by forks is written down, and the bank is consolidated. Times in it follow
    from `began` and the update, so that it doesn't depend on when it was made.
    """
    made = out.with_suffix(".partial")
    for leftover in (made, Path(f"{made}-wal"), Path(f"{made}-shm")):
        leftover.unlink(missing_ok=True)
    with closing(Store.open(stage.path)) as store:
        store.copy_to(made)
    run = stage.runs[0]
    with closing(Store.open(made)) as bank:
        _leave_only(bank, run)
        at = began + timedelta(minutes=stage.update)
        bank.write("UPDATE runs SET started = ? WHERE id = ?", [at.isoformat(timespec="milliseconds"), run])
        before = _aside(bank)
        learn(bank, run, sorted(games), settings.method.parts, load_policy(settings.experience))
        record_forks(bank, forks, stage.update)
        tend(bank)
        merged, removed = (after - was for after, was in zip(_aside(bank), before, strict=True))
        active = bank.number("SELECT count(*) FROM entries WHERE status = ?", [EntryStatus.ACTIVE])
    close_log(made)
    made.replace(out)
    return BankChange(active, merged, removed)


def _leave_only(bank: Store, run: int) -> None:
    """Drop the runs that began after one, with all that their episodes left."""
    bank.database.execute("PRAGMA foreign_keys = OFF")
    try:
        with bank.transaction():
            bank.write("DROP TABLE turns")
            others = "SELECT id FROM episodes WHERE run > ?"
            for table in ("events", "entries", "steps"):
                bank.write(f"DELETE FROM {table} WHERE episode IN ({others})", [run])
            bank.write("DELETE FROM episodes WHERE run > ?", [run])
            bank.write("DELETE FROM runs WHERE id > ?", [run])
            drop_dangling(bank)
    finally:
        bank.database.execute("PRAGMA foreign_keys = ON")


def _aside(bank: Store) -> tuple[int, int]:
    counts = {
        row["status"]: row["count"] for row in bank.rows("SELECT status, count(*) AS count FROM entries GROUP BY 1")
    }
    removed = counts.get(EntryStatus.PRUNED, 0) + counts.get(EntryStatus.DROPPED, 0)
    return counts.get(EntryStatus.SUPERSEDED, 0), removed
