"""Where an entry comes from, as lines that are readable without the journal of the episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..store import Store

LONGEST = 2000
"""Characters of the observation in a line."""

Origin = Mapping[str, str | int]

_FIELDS = f"""
    json_object(
        'because', substr(sources.because, 1, {LONGEST}), 'environment', environment, 'episode', episodes.id,
        'note', iif(episodes.id IS NULL, sources.id, NULL), 'outcome', outcome, 'started', episodes.started,
        'step', sources.step, 'store', iif(episodes.id IS NULL, (SELECT id FROM identity), NULL), 'task', task
    )
"""
_JOINED = "sources LEFT JOIN episodes ON episodes.id = sources.episode"


def origins_of(store: Store, entry: int) -> list[Origin]:
    """Return where an entry comes from, one line for each time it was noted, oldest first."""
    return origins_by_entry(store, "sources.entry = ?", [entry]).get(entry, [])


def origins_by_entry(store: Store, where: str = "1", values: list[object] | None = None) -> dict[int, list[Origin]]:
    """Return where entries come from, for those that a condition on `sources` picks."""
    found: dict[int, list[Origin]] = {}
    lines = f"coalesce(sources.origin, {_FIELDS})"
    rows = store.rows(
        f"SELECT sources.entry, {lines} AS line FROM {_JOINED} WHERE {where} ORDER BY sources.id", values or []
    )
    for row in rows:
        line = json.loads(row["line"])
        found.setdefault(row["entry"], []).append(
            {key: value for key, value in line.items() if value is not None and value != ""}
        )
    return found


def origins_elsewhere(store: Store, entry: int) -> list[Origin]:
    """Return the lines on where an entry comes from, of those that have no episode in this store."""
    return origins_by_entry(store, "sources.entry = ? AND sources.origin IS NOT NULL", [entry]).get(entry, [])


def keep_origins(store: Store) -> None:
    """Write down the episodes' part of every line, before the episodes go."""
    store.write(
        f"UPDATE sources SET origin = line FROM (SELECT sources.id AS number, {_FIELDS} AS line FROM {_JOINED}) "
        "WHERE number = sources.id AND origin IS NULL"
    )


def line_of(origin: Origin) -> str:
    """Return one origin as a person reads it."""
    episode = f"episode {origin['episode']}" if "episode" in origin else ""
    task = f"task {origin['task']}" if "task" in origin else ""
    step = f"step {origin['step']}" if "step" in origin else ""
    outcome = str(origin.get("outcome", ""))
    named = f"{origin['id']} of a published bank" if "id" in origin else ""
    where = ", ".join(part for part in (episode, task, step, outcome, named) if part) or "a person"
    return f"{where}: {origin['because']}" if "because" in origin else where
