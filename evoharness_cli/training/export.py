"""From a training run's folder to a file that the engine plays with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..harness import WrongUsage
from ..models import resolve
from ..models.hashes import sha256_of
from .adapter_file import write_adapter, write_merged
from .checkpoint import Checkpoint, NoRun, RunFolder, lora_of, model_of
from .lora import LoraSettings
from .weights import ModelFile


def export_adapter(folder: RunFolder, out: Path) -> None:
    """Write the adapter that a run has learnt so far. Raises NoRun, WrongUsage, OutsideFault."""
    lora, checkpoint, base = _latest(folder)
    recorded = folder.settings()
    about = {
        "base": base.path.name,
        "base.sha256": recorded["files"]["model"],
        "demonstrations.sha256": " ".join(recorded["files"].get("demonstrations", ())),
        "format": recorded["format"],
        "updates": str(checkpoint.update),
    }
    write_adapter(out, base, checkpoint.weights, lora.alpha, {key: value for key, value in about.items() if value})


def export_merged(
    folder: RunFolder, out: Path, kept_as: str, told: Callable[[int, int], None] = lambda _done, _total: None
) -> None:
    """Write the base model with what a run has learnt so far; see `write_merged`. Raises NoRun, WrongUsage."""
    lora, checkpoint, base = _latest(folder)
    scale = lora.alpha / lora.rank
    write_merged(out, base, checkpoint.weights, scale, kept_as, told)


def _latest(folder: RunFolder) -> tuple[LoraSettings, Checkpoint, ModelFile]:
    recorded = folder.settings()
    checkpoint = folder.load()
    if checkpoint is None:
        raise NoRun(f"Expected a checkpoint in {folder.path}, found none yet: train on with --resume {folder.path}.")
    base = resolve(model_of(recorded))
    if sha256_of(base) != recorded["files"]["model"]:
        raise WrongUsage(f"Expected the model that the run began with, found another in {base}.")
    return lora_of(recorded), checkpoint, ModelFile.open(base)
