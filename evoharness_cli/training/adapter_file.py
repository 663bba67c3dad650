"""A trained adapter as a GGUF file, and the base model with the adapter merged into it.

Layout: `adapter.type` lora, `adapter.lora.alpha`, and for each adapted weight `NAME.lora_a` (rank, in) and
`NAME.lora_b` (out, rank), whose rows are in the order of the base file's (see `weights.py`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, LlamaFileType
from gguf.quants import dequantize, quantize
from numpy.typing import NDArray

from ..harness import OutsideFault, WrongUsage
from ..models.gguf import check_start
from .lora import TARGETS, LoraSettings
from .weights import ModelFile

MERGED = {
    "Q8_0": (GGMLQuantizationType.Q8_0, LlamaFileType.MOSTLY_Q8_0),
    "BF16": (GGMLQuantizationType.BF16, LlamaFileType.MOSTLY_BF16),
}
"""In what a merged model can be kept. Fewer bits round the difference away that was learnt."""
PARTS = ("lora_a", "lora_b")
_ABOUT = "evoharness."
_WRITTEN_ANEW = ("GGUF.", "general.architecture", "general.file_type", "general.quantization_version")


def write_adapter(
    path: Path,
    base: ModelFile,
    weights: Mapping[str, torch.Tensor],
    alpha: float,
    about: Mapping[str, str],
) -> None:
    """Write the weights of `lora.attach` as an adapter of a base model, in 16 bits, in place of what is at `path`.

    `about` is kept under `evoharness.` for whoever wants to know where the adapter is from. Raises OutsideFault.
    """
    with _written(path) as unfinished:
        writer = GGUFWriter(unfinished, base.layout.architecture)
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", alpha)
        for key, value in about.items():
            writer.add_string(f"{_ABOUT}{key}", value)
        for parameter, a, b in _pairs(weights):
            name = base.layout.name(parameter)
            writer.add_tensor(f"{name}.lora_a", a.astype(np.float16))
            writer.add_tensor(f"{name}.lora_b", np.ascontiguousarray(base.layout.to_file(name, b)).astype(np.float16))
        _close(writer)


def read_adapter(path: Path, base: ModelFile) -> tuple[dict[str, torch.Tensor], LoraSettings, dict[str, str]]:
    """Return the weights of an adapter of a base model in 32 bits, what it adapts, and what `write_adapter` kept of it.

    Raises WrongUsage for any other file.
    """
    check_start(path)
    reader = GGUFReader(path)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    weights: dict[str, torch.Tensor] = {}
    for stem in base.linear_layers():
        name = base.layout.name(f"{stem}.weight")
        if f"{name}.lora_a" not in tensors:
            continue
        a, b = (dequantize(tensors[f"{name}.{kind}"].data, tensors[f"{name}.{kind}"].tensor_type) for kind in PARTS)
        short = stem.removeprefix("model.")
        weights[f"{short}.lora_a"] = torch.tensor(np.array(a, np.float32))
        weights[f"{short}.lora_b"] = torch.tensor(np.array(base.layout.from_file(name, b), np.float32))
    alpha = reader.get_field("adapter.lora.alpha")
    if len(weights) != len(tensors) or not weights or alpha is None:
        raise WrongUsage(f"Expected an adapter of {base.path.name} in {path}, found something else.")
    blocks = {int(name.split(".")[1]) for name in weights}
    targets = tuple(target for target in TARGETS if any(f".{target}." in name for name in weights))
    rank = min(next(iter(weights.values())).shape)
    lora = LoraSettings(rank, float(alpha.contents()), base.blocks - min(blocks), targets)
    told = {key: field for key, field in reader.fields.items() if key.startswith(_ABOUT)}
    return weights, lora, {key.removeprefix(_ABOUT): str(field.contents()) for key, field in told.items()}


def write_merged(
    path: Path,
    base: ModelFile,
    weights: Mapping[str, torch.Tensor],
    scale: float,
    kept_as: str,
    told: Callable[[int, int], None] = lambda _done, _total: None,
) -> None:
    """Write the base model with the difference `scale` B A added to each adapted weight; `kept_as` is one of MERGED.

    `told` hears how many of how many tensors are done. Raises OutsideFault.
    """
    kind, file_type = MERGED[kept_as]
    deltas = {base.layout.name(parameter): (a, b) for parameter, a, b in _pairs(weights)}
    tensors = base.reader.tensors
    with _written(path) as unfinished:
        writer = GGUFWriter(unfinished, base.layout.architecture)
        writer.add_file_type(file_type)
        writer.add_quantization_version(2)
        _copy_metadata(base, writer)
        for done, tensor in enumerate(tensors, 1):
            rows: NDArray[Any] = dequantize(tensor.data, tensor.tensor_type)
            if tensor.name in deltas:
                a, b = deltas[tensor.name]
                rows = rows + np.float32(scale) * (base.layout.to_file(tensor.name, b) @ a)
            if rows.ndim > 1:
                writer.add_tensor(tensor.name, quantize(rows, kind), raw_dtype=kind)
            else:
                writer.add_tensor(tensor.name, np.ascontiguousarray(rows, np.float32))
            told(done, len(tensors))
        _close(writer)


def _pairs(weights: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, NDArray[np.float32], NDArray[np.float32]]]:
    """Yield the name of each adapted weight of a causal model, with its A and B."""
    for name, a in weights.items():
        stem, _, kind = name.rpartition(".")
        if kind == "lora_a":
            b = weights[f"{stem}.lora_b"]
            yield f"model.{stem}.weight", a.detach().float().cpu().numpy(), b.detach().float().cpu().numpy()


def _copy_metadata(base: ModelFile, writer: GGUFWriter) -> None:
    for key, field in base.reader.fields.items():
        if key.startswith(_WRITTEN_ANEW):
            continue
        inner = field.types[-1] if field.types[0] is GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), field.types[0], inner)


def _close(writer: GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@contextmanager
def _written(path: Path) -> Iterator[Path]:
    """Yield where to write a file that then takes the place of another, or nothing when that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OutsideFault(f"Expected to write {path}, found: {error.strerror or error}.") from error
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(0o644)
        unfinished.replace(path)
    except OSError as error:
        raise OutsideFault(f"{path} could not be written: {error.strerror or error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)
