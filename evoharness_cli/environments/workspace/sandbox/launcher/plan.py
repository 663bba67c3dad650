"""What the launcher is told to do, as it comes on the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """One command and how it is to be confined."""

    kind: str
    """`namespaces`, `landlock`, `inside` (of what another program confined) or `unconfined`."""
    command: tuple[str, ...]
    folder: str
    """The folder that the command may write, and in which it starts."""
    scratch: str
    """A folder for its temporary files, where it has no `/tmp` of its own."""
    readable: tuple[str, ...]
    """Files and folders that it may read besides."""
    environment: Mapping[str, str]
    limits: Mapping[str, int]
    """`seconds`, and in bytes `memory`, `file` and `scratch`, and the number of `processes`."""
    user: int | None
    """Whom to become before the command starts; None stays who it is."""


def read_plan(text: str) -> Plan:
    """Read a plan that `written` wrote."""
    given = json.loads(text)
    return Plan(**{**given, "command": tuple(given["command"]), "readable": tuple(given["readable"])})


def written(plan: Plan) -> str:
    """Return the plan as one line."""
    return json.dumps(vars(plan))
