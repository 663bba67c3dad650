"""What episodes said of the entries that they recalled, as the events of a store record it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..experience.store import Store


@dataclass(frozen=True)
class Vote:
    """What one episode said of one entry: above 0 where it helped, below where it hurt, and in words."""

    episode: int
    entry: int
    value: float
    words: str


def votes(store: Store) -> list[Vote]:
    """Return all votes, oldest first."""
    found: list[Vote] = []
    tests: dict[tuple[int, int], Mapping[str, Any]] = {}
    rows = store.rows(
        "SELECT episode, entry, kind, detail FROM events WHERE episode IS NOT NULL AND entry IS NOT NULL "
        "AND kind IN ('tested', 'helped', 'hurt', 'contradicted', 'forked') ORDER BY id"
    )
    for row in rows:
        about, detail = (row["episode"], row["entry"]), json.loads(row["detail"])
        if row["kind"] == "tested":
            tests[about] = detail
        elif row["kind"] == "contradicted":
            found.append(Vote(*about, -1.0, f"contradicted, hurt by 1.00: saw {detail.get('saw')}"))
        elif row["kind"] == "forked":
            value = float(detail.get("success", 0))
            found.append(Vote(*about, value, f"success {value:+.2f} with this recall rather than without"))
        else:
            value = float(detail.get("vote", 0))
            found.append(Vote(*about, value, f"{row['kind']} by {abs(value):.2f}{_because(tests.get(about, {}))}"))
    return found


def _because(test: Mapping[str, Any]) -> str:
    if words := test.get("words"):
        return f": its words {', '.join(map(str, words))} were acted on"
    return f": saw {test['saw']}" if test.get("saw") else ""
