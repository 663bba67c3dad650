"""What training goes on from: another run's folder, an adapter's file, or a policy that ships."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ..harness import WrongUsage
from ..models.hashes import sha256_of
from ..policies import named
from .adapter_file import read_adapter
from .checkpoint import NoRun, RunFolder, lora_of
from .lora import LoraSettings
from .weights import ModelFile


@dataclass(frozen=True)
class Beginning:
    """Weights to go on from, what they adapt, and where they are from."""

    place: str
    lora: LoraSettings
    weights: Mapping[str, torch.Tensor]
    recipe: Sequence[Any] = ()
    """The stages of training that a policy's card tells."""
    format: str = ""
    """The form of transcripts that was learnt, empty where that isn't known."""


def beginning(start: str, model: Path) -> Beginning:
    """Return what a policy's name, a run's folder or an adapter's file stands for, over a base model's file.

    Raises NoRun, and WrongUsage where it was trained over another base.
    """
    policy = named(start)
    path = (policy.adapter if policy else Path(start)).resolve()
    found, base = _of_adapter(path, model) if path.is_file() else _of_run(RunFolder(path))
    if base != sha256_of(model):
        raise WrongUsage(f"Expected what was trained over {model.name}, found in {start} what is for another model.")
    return replace(found, recipe=policy.card["recipe"]) if policy else found


def _of_adapter(path: Path, model: Path) -> tuple[Beginning, str]:
    weights, lora, about = read_adapter(path, ModelFile.open(model))
    return Beginning(str(path), lora, weights, format=about.get("format", "")), about.get("base.sha256", "")


def _of_run(folder: RunFolder) -> tuple[Beginning, str]:
    recorded, checkpoint = folder.settings(), folder.load()
    if checkpoint is None:
        raise NoRun(f"Expected a checkpoint in {folder.path}, found none yet: train on with --resume {folder.path}.")
    learnt = recorded.get("format") or ""
    begun = Beginning(str(folder.path), lora_of(recorded), dict(checkpoint.weights), format=learnt)
    return begun, recorded["files"]["model"]
