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
from .transcript_format import transcript_format
from .weights import ModelFile


@dataclass(frozen=True)
class Beginning:
    """Weights to go on from, what they adapt, and where they are from."""

    place: str
    lora: LoraSettings
    weights: Mapping[str, torch.Tensor]
    recipe: Sequence[Any] = ()
    """The stages of training that a policy's card tells."""


def beginning(start: str, model: Path) -> Beginning:
    """Return what a policy's name, a run's folder or an adapter's file stands for, over a base model's file.

    Raises NoRun, and WrongUsage where it was trained over another base or on another form of transcripts.
    """
    policy = named(start)
    path = (policy.adapter if policy else Path(start)).resolve()
    found, base, learnt = _of_adapter(path, model) if path.is_file() else _of_run(RunFolder(path))
    if base != sha256_of(model):
        raise WrongUsage(f"Expected what was trained over {model.name}, found in {start} what is for another model.")
    if learnt not in ("", transcript_format()):
        raise WrongUsage(f"{start} learnt another form of transcripts; train it anew.")
    return replace(found, recipe=policy.card["recipe"]) if policy else found


def _of_adapter(path: Path, model: Path) -> tuple[Beginning, str, str]:
    weights, lora, about = read_adapter(path, ModelFile.open(model))
    return Beginning(str(path), lora, weights), about.get("base.sha256", ""), about.get("format", "")


def _of_run(folder: RunFolder) -> tuple[Beginning, str, str]:
    recorded, checkpoint = folder.settings(), folder.load()
    if checkpoint is None:
        raise NoRun(f"Expected a checkpoint in {folder.path}, found none yet: train on with --resume {folder.path}.")
    begun = Beginning(str(folder.path), lora_of(recorded), dict(checkpoint.weights))
    return begun, recorded["files"]["model"], recorded.get("format") or ""
