"""A training run's folder: its settings, its log, and the latest checkpoint, from which it goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..harness import OutsideFault, WrongUsage
from ..models.hashes import write_note
from .lora import LoraSettings

SETTINGS, CHECKPOINT, LOG = "settings.json", "checkpoint.pt", "log.jsonl"
REFERENCE = "reference.pt"
"""The weights that a run began with, where it goes on from others."""


class NoRun(WrongUsage):
    """A folder that holds no training run, or one already."""


class DamagedCheckpoint(OutsideFault):
    """A checkpoint that can't be read."""


@dataclass(frozen=True)
class Checkpoint:
    """What a run is after `update` updates."""

    update: int
    weights: Mapping[str, torch.Tensor]
    """The adapted layers' matrices, in 32 bits."""
    optimiser: Mapping[str, Any]


@dataclass(frozen=True)
class RunFolder:
    """The folder of a training run, which keeps itself out of version control."""

    path: Path
    is_kept: bool = True
    """Whether this process keeps what happens; of several that train together one does, and the others leave it."""

    def create(self, settings: Mapping[str, object]) -> None:
        """Begin a run; raises NoRun where the folder holds one that got as far as a checkpoint."""
        if (self.path / CHECKPOINT).exists():
            raise NoRun(f"Expected a new folder, found a training run in {self.path}: go on with --resume {self.path}.")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # An optimiser's state is large and of no use to others.
            (self.path / ".gitignore").write_text("*\n", encoding="utf-8")
            write_note(self.path / SETTINGS, settings)
        except OSError as error:
            raise OutsideFault(f"Expected to write to {self.path}, found: {error.strerror or error}.") from error

    def settings(self) -> dict[str, Any]:
        """Return the settings a run was begun with; raises NoRun where there is none."""
        try:
            found = json.loads((self.path / SETTINGS).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise NoRun(f"Expected a training run in {self.path}, found no settings of one: {error}.") from error
        assert isinstance(found, dict)
        return found

    def save(self, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint in place of the last one; a reader finds the old or the new one, whole."""
        if not self.is_kept:
            return
        content = {"update": checkpoint.update, "weights": checkpoint.weights, "optimiser": checkpoint.optimiser}
        written = self.path / f"{CHECKPOINT}.tmp"
        with written.open("wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        written.replace(self.path / CHECKPOINT)

    def load(self) -> Checkpoint | None:
        """Return the latest checkpoint, None before the first; raises DamagedCheckpoint."""
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        try:
            return Checkpoint(**torch.load(path, map_location="cpu", weights_only=True))
        except Exception as error:
            raise DamagedCheckpoint(f"The checkpoint {path} can't be read: {error}. Begin a new run.") from error

    @contextmanager
    def log(self, update: int) -> Iterator[Log]:
        """Open the log; lines of later updates than the checkpoint's are left out, as these are made again."""
        if not self.is_kept:
            with Path(os.devnull).open("w") as nothing:
                yield Log(nothing)
            return
        path = self.path / LOG
        kept = []
        if path.exists():
            kept = [line for line in path.read_text(encoding="utf-8").splitlines(True) if _update_of(line) <= update]
        written = path.with_suffix(".tmp")
        written.write_text("".join(kept), encoding="utf-8")
        written.replace(path)
        with path.open("a", encoding="utf-8") as file:
            yield Log(file)


def model_of(recorded: Mapping[str, Any]) -> str:
    """Return the base model that a run's folder recorded, whatever kind of training it is."""
    return str(_kind(recorded)["model"])


def lora_of(recorded: Mapping[str, Any]) -> LoraSettings:
    """Return what a run's folder recorded that it adapts, whatever kind of training it is."""
    found = _kind(recorded)["lora"]
    return LoraSettings(**{**found, "targets": tuple(found["targets"])})


def _kind(recorded: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = recorded["sft"] if "sft" in recorded else recorded["rl"]
    return found


class Log:
    """JSON lines, one an event."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def add(self, event: Mapping[str, object]) -> None:
        """Append an event."""
        self._file.write(json.dumps(event) + "\n")
        self._file.flush()


def _update_of(line: str) -> float:
    try:
        return float(json.loads(line)["update"])
    except (ValueError, KeyError, TypeError):
        # The line in which the process died.
        return float("inf")
