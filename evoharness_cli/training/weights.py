"""The weights of a GGUF file as a `transformers` model, exactly those that the engine plays with.

What is quantised in the file is unpacked, so a policy is trained over the base that it will be played over, rounding
and all. The llama architecture keeps rows of queries and keys in another order for its rotary positions than
`transformers` does; they are put back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from gguf import MODEL_ARCH, GGUFReader, TensorNameMap, get_tensor_name_map
from gguf.quants import dequantize
from numpy.typing import NDArray

from ..harness import WrongUsage
from ..models.gguf import check_start
from .lora import TARGETS

ARCHITECTURES = {"llama": MODEL_ARCH.LLAMA, "qwen2": MODEL_ARCH.QWEN2, "qwen3": MODEL_ARCH.QWEN3}
"""What can be trained, by the name in the file; `transformers` has the same names."""
_ROTARY_ORDER = "llama"
"""The architecture whose queries and keys are in another order."""


class UntrainableModel(WrongUsage):
    """A model file whose architecture can't be trained."""


@dataclass(frozen=True)
class Layout:
    """How a file's tensors are named and ordered."""

    architecture: str
    names: TensorNameMap
    heads: int
    key_value_heads: int

    def name(self, parameter: str) -> str:
        """Return the name in the file of a parameter of `transformers`."""
        stem, _, kind = parameter.rpartition(".")
        found = self.names.get_name(stem)
        if found is None:
            raise UntrainableModel(f"Expected a weight that a GGUF file can hold, found {parameter}.")
        return f"{found}.{kind}"

    def to_file(self, name: str, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows of a tensor in the order that files have, given that of `transformers`: (rows, any)."""
        heads = self._reordered(name)
        return rows if heads is None else _swapped(rows, heads, 2)

    def from_file(self, name: str, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows of a tensor in the order of `transformers`, given that of files."""
        heads = self._reordered(name)
        return rows if heads is None else _swapped(rows, heads, rows.shape[0] // heads // 2)

    def _reordered(self, name: str) -> int | None:
        if self.architecture != _ROTARY_ORDER:
            return None
        return self.heads if ".attn_q." in name else self.key_value_heads if ".attn_k." in name else None


@dataclass(frozen=True)
class ModelFile:
    """A GGUF model that can be trained. Raises UntrainableModel, ModelFileError."""

    path: Path
    reader: GGUFReader
    layout: Layout

    @classmethod
    def open(cls, path: Path) -> ModelFile:
        """Return the model in a file, of which only the places of its tensors are read yet."""
        check_start(path)
        found = path.stat()
        reader = _reader(path, found.st_mtime_ns, found.st_size)
        architecture = str(_value(reader, "general.architecture"))
        if architecture not in ARCHITECTURES:
            raise UntrainableModel(
                f"Expected a model of the architecture {', '.join(ARCHITECTURES)} to train,"
                f" found {architecture} in {path}."
            )
        if any(tensor.name == "rope_freqs.weight" for tensor in reader.tensors):
            raise UntrainableModel(f"Expected plain rotary positions to train, found scaled ones in {path}.")
        blocks = int(_value(reader, f"{architecture}.block_count"))
        names = get_tensor_name_map(ARCHITECTURES[architecture], blocks)
        heads = int(_value(reader, f"{architecture}.attention.head_count"))
        key_value_heads = int(_value(reader, f"{architecture}.attention.head_count_kv", heads))
        return cls(path, reader, Layout(architecture, names, heads, key_value_heads))

    @property
    def blocks(self) -> int:
        """How many blocks the model has."""
        return int(_value(self.reader, f"{self.layout.architecture}.block_count"))

    def linear_layers(self) -> Iterator[str]:
        """Yield the names that `transformers` gives the linear layers of the blocks."""
        for block in range(self.blocks):
            for target in TARGETS:
                part = "mlp" if target in ("gate_proj", "up_proj", "down_proj") else "self_attn"
                yield f"model.layers.{block}.{part}.{target}"

    def load(self, dtype: torch.dtype, device: torch.device) -> Any:
        """Return a causal model of `transformers` with the file's weights, ready for packs."""
        from transformers import AutoConfig, AutoModelForCausalLM
        from transformers.initialization import no_init_weights

        from .scoring import prepare

        config = AutoConfig.for_model(self.layout.architecture, **self._config())
        with no_init_weights():
            model = AutoModelForCausalLM.from_config(config, dtype=dtype)
        model.tie_weights()
        tensors = {tensor.name: tensor for tensor in self.reader.tensors}
        with torch.no_grad():
            for parameter, place in model.named_parameters():
                name = self.layout.name(parameter)
                weights = dequantize(tensors[name].data, tensors[name].tensor_type)
                place.copy_(torch.tensor(self.layout.from_file(name, weights)))
        prepare(model)
        return model.to(device).eval()

    def _config(self) -> Mapping[str, Any]:
        architecture, layout = self.layout.architecture, self.layout

        def value(key: str, default: object = None) -> Any:
            return _value(self.reader, f"{architecture}.{key}", default)

        width = int(value("embedding_length"))
        names = {tensor.name for tensor in self.reader.tensors}
        return {
            "vocab_size": int(next(t.shape[1] for t in self.reader.tensors if t.name == "token_embd.weight")),
            "hidden_size": width,
            "intermediate_size": int(value("feed_forward_length")),
            "num_hidden_layers": int(value("block_count")),
            "num_attention_heads": layout.heads,
            "num_key_value_heads": layout.key_value_heads,
            "head_dim": int(value("attention.key_length", width // layout.heads)),
            "rms_norm_eps": float(value("attention.layer_norm_rms_epsilon")),
            "rope_parameters": {"rope_type": "default", "rope_theta": float(value("rope.freq_base", 10_000.0))},
            "max_position_embeddings": int(value("context_length")),
            "tie_word_embeddings": "output.weight" not in names,
            "use_cache": False,
        }


@lru_cache(2)
def _reader(path: Path, changed: int, size: int) -> GGUFReader:
    """Return the reader of a file that was last changed then: it takes seconds to walk through a vocabulary."""
    del changed, size
    return GGUFReader(path)


def _value(reader: GGUFReader, key: str, default: object = None) -> Any:
    field = reader.get_field(key)
    if field is None and default is None:
        raise UntrainableModel(f"Expected {key} in the model file, found nothing.")
    return default if field is None else field.contents()


def _swapped(rows: NDArray[Any], heads: int, inner: int) -> NDArray[Any]:
    """Return rows with two of their three indices (head, `inner`, the rest) swapped."""
    return rows.reshape(heads, inner, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)
