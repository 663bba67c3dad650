"""Takes back what an episode noted and recalled in steps that no longer count."""

from __future__ import annotations

from .entries import LIVE, record_event
from .store import Store
from .vocabulary import EntryStatus


def withdraw(store: Store, episode: int, since: int, why: str) -> None:
    """Take back an unfinished episode's notes and recalls from a step on; an event on each entry says why.

    Its pending notes are dropped, what it strengthened loses that strength again, and its recalls are not
    counted. A wording that it made more precise stays. Writes nothing when there is nothing to take back.
    """
    said = "episode = ? AND step >= ?"
    with store.transaction():
        for row in store.rows(
            f"SELECT id FROM entries WHERE {said} AND status = ?", [episode, since, EntryStatus.PENDING]
        ):
            store.write("UPDATE entries SET status = ? WHERE id = ?", [EntryStatus.DROPPED, row["id"]])
            record_event(store, "dropped", row["id"], episode, why=why)
        again = store.rows(
            f"SELECT entry FROM sources WHERE {said} AND entry IN (SELECT id FROM entries WHERE {LIVE})",
            [episode, since],
        )
        for row in again:
            store.write("UPDATE entries SET strength = strength - 1 WHERE id = ?", [row["entry"]])
            record_event(store, "withdrawn", row["entry"], episode, why=why)
        store.write(
            f"DELETE FROM sources WHERE {said} AND entry IN (SELECT id FROM entries WHERE {LIVE})",
            [episode, since],
        )
        for row in store.rows(
            f"SELECT entry, count(*) AS times FROM recalls WHERE {said} GROUP BY entry", [episode, since]
        ):
            store.write("UPDATE entries SET recalled = recalled - ? WHERE id = ?", [row["times"], row["entry"]])
            record_event(store, "unrecalled", row["entry"], episode, times=row["times"], why=why)
        store.write(f"DELETE FROM recalls WHERE {said}", [episode, since])


def wrote_since(store: Store, episode: int, since: int) -> bool:
    """Tell whether an episode noted or recalled anything from a step on."""
    for table in ("sources", "recalls"):
        if store.row(f"SELECT 1 FROM {table} WHERE episode = ? AND step >= ?", [episode, since]):
            return True
    return False
