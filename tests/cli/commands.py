"""What a command printed, and what the tests of commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ORACLE = ROOT / "tests" / "scripts" / "alfworld-oracle.yaml"


@dataclass(frozen=True)
class Ended:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects printed, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Command = Callable[..., Ended]
