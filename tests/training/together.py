"""A run that goes straight through, and one that is stopped and goes on, by each of several processes.

together.py FOLDER
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from evoharness_cli.training.checkpoint import RunFolder
from evoharness_cli.training.machine import Machine
from evoharness_cli.training.processes import Processes, joined
from evoharness_cli.training.sft import Update, Validation, train


@dataclass
class Heard:
    """What a run told."""

    stop_after: int = 1000
    updates: list[Update] = field(default_factory=list)
    validations: list[Validation] = field(default_factory=list)
    began_at: int = 0

    def began(self, done: int, total: int, machine: Machine) -> None:
        del total, machine
        self.began_at = done

    def updated(self, update: Update) -> None:
        self.updates.append(update)

    def validated(self, validation: Validation) -> None:
        self.validations.append(validation)

    def saved(self, update: int) -> None:
        pass

    def stop(self) -> bool:
        return len(self.updates) >= self.stop_after


def train_together(place: Path, processes: Processes) -> Heard:
    """Train `straight`, and `stopped` in two goes: only the last process wants to stop. Return what `straight` told."""
    straight = Heard()
    assert train(RunFolder(place / "straight", processes.leads), straight, processes=processes)
    last = processes.rank == processes.count - 1
    stopped = Heard(stop_after=2 if last else 1000)
    folder = RunFolder(place / "stopped", processes.leads)
    assert not train(folder, stopped, stopped.stop, processes)
    assert len(stopped.updates) == 2
    processes.wait()  # The checkpoint is there.
    resumed = Heard()
    assert train(folder, resumed, processes=processes)
    assert (resumed.began_at, [update.update for update in resumed.updates]) == (2, [3, 4, 5, 6])
    return straight


if __name__ == "__main__":
    with joined() as several:
        train_together(Path(sys.argv[1]), several)
