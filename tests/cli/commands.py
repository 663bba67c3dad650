"""What a command printed, and what the tests of commands share."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evoharness_cli.experience.store import Store

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


def wait_for_steps(db: Path, steps: int, running: subprocess.Popen[str]) -> None:
    """Return once so many steps are recorded; fail when the process ends before."""
    while True:
        assert running.poll() is None, running.communicate()
        if db.exists():
            with closing(Store.open(db)) as store:
                if store.number("SELECT count(*) FROM steps") >= steps:
                    return
        time.sleep(0.02)
