"""A step as a row: each of its fields is a column, with facts and recalled entries as JSON."""

from __future__ import annotations

import json
import sqlite3

from ..harness.belief import Fact
from ..harness.episode import Step
from .store import storable

_COLUMNS = tuple(Step.__dataclass_fields__)
ADD_STEP = f"INSERT INTO steps (episode, {', '.join(_COLUMNS)}, at) VALUES (?, {', '.join('?' for _ in _COLUMNS)}, ?)"


def row_of(step: Step) -> list[object]:
    """Return a step's values in the order of the columns."""
    values = {
        **{name: getattr(step, name) for name in _COLUMNS},
        "facts": json.dumps([[fact.subject, fact.relation, fact.object] for fact in step.facts]),
        "recalled": json.dumps(step.recalled),
    }
    return [storable(value) if isinstance(value, str) else value for value in values.values()]


def step_of(row: sqlite3.Row) -> Step:
    """Return the step that a row holds."""
    values = {name: row[name] for name in _COLUMNS}
    values["charged"], values["invalid"] = bool(row["charged"]), bool(row["invalid"])
    values["facts"] = tuple(Fact(*parts) for parts in json.loads(row["facts"]))
    values["recalled"] = tuple(json.loads(row["recalled"]))
    return Step(**values)
