"""When a store tends itself, and within what bounds: settings that lie in the store, so that every process agrees."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from ..store import Store

_CLOSED, _LOOKED_AT = "closed", "looked_at"


@dataclass(frozen=True)
class Schedule:
    """How a store is tended. What is 0 is turned off."""

    every: int = 50
    """Closed episodes between consolidations."""
    capacity: int = 2_500
    """Active entries; the most useful stay."""
    keep_steps: int = 300
    """Closed episodes, the newest, whose every step is kept; of older ones what they spent and taught is."""
    keep_worlds: int = 500
    """Worlds, those seen last, of which it is kept where each thing was; the counts by type keep all."""


def schedule(store: Store) -> Schedule:
    """Return how the store is tended."""
    known = {row["name"]: int(row["value"]) for row in store.rows("SELECT name, value FROM upkeep")}
    return Schedule(**{each.name: known[each.name] for each in fields(Schedule) if each.name in known})


def set_schedule(store: Store, **values: int) -> Schedule:
    """Change some of the settings of `Schedule` for good, and return them all."""
    wanted = asdict(Schedule(**values))
    with store.transaction():
        for name in values:
            remember(store, name, wanted[name])
    return schedule(store)


def remember(store: Store, name: str, value: int) -> None:
    """Write a number down, in the caller's transaction."""
    store.write(
        "INSERT INTO upkeep (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", [name, value]
    )


def count_closed(store: Store) -> bool:
    """Count one more closed episode, in the caller's transaction; tell whether consolidation is due.

    Who is told so is to do it: the count begins again, so that of several processes one does.
    """
    every = schedule(store).every
    closed = store.number("SELECT value FROM upkeep WHERE name = ?", [_CLOSED]) + 1
    is_due = 0 < every <= closed
    remember(store, _CLOSED, 0 if is_due else closed)
    return is_due


def looked_at(store: Store) -> int:
    """Return the newest entry that was there at the last consolidation of the whole store."""
    return store.number("SELECT value FROM upkeep WHERE name = ?", [_LOOKED_AT])


def remember_looked_at(store: Store, newest: int) -> None:
    """Write down that every entry up to a number was compared with the others."""
    remember(store, _LOOKED_AT, newest)
