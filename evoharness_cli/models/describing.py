"""What a model is, what it needs, and what there is for it on this machine."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .catalogue import CATALOGUE, LISTED_CONTEXT, memory_need, resolve
from .files import recorded_sha256
from .gguf import load_gguf
from .memory import memory
from .native import interruptible_after, library
from .speed import Speed, estimated, measured

_LONGEST = 1024
"""Bytes that are read of a key or a value of a file."""


@dataclass(frozen=True)
class Contents:
    """What a model file says of itself. None is what it doesn't say."""

    architecture: str | None
    quantisation: str | None
    parameters: int
    trained_context: int | None
    kept_bytes: int | None
    """Bytes of keys and values a token."""


@dataclass(frozen=True)
class Description:
    """A model: `need` and `has` are bytes of memory, of the model with LISTED_CONTEXT tokens and of this machine.

    `need` is None where the file doesn't say what it keeps of a token, `contents` where the file isn't here.
    """

    name: str
    source: str
    licence: str | None
    file: Path | None
    size: int
    sha256: str | None
    contents: Contents | None
    need: int | None
    has: int
    speed: Speed

    @property
    def fits(self) -> bool | None:
        """Whether this machine holds it, None where that isn't known."""
        return None if self.need is None else self.need <= self.has


def describe(name_or_path: str) -> Description:
    """Look at a model of the catalogue, or at a model file. Raises UnknownModel, ModelFileError.

    What is here is measured, which takes some seconds; else its speed is estimated.
    """
    entry = CATALOGUE.get(name_or_path)
    if entry and not entry.is_here:
        return Description(
            name=entry.name,
            source=entry.source,
            licence=entry.licence,
            file=None,
            size=entry.size,
            sha256=None,
            contents=None,
            need=entry.memory(LISTED_CONTEXT),
            has=memory(),
            speed=estimated(entry.size, entry.parameters * 1e9),
        )
    path = resolve(name_or_path)
    contents, size = look_into(path), path.stat().st_size
    has, kept = memory(), contents.kept_bytes or (entry.kept.bytes if entry else None)
    need = None if kept is None else memory_need(size, kept, LISTED_CONTEXT)
    holds = need is None or need <= has
    return Description(
        name=name_or_path,
        source=entry.source if entry else str(path),
        licence=entry.licence if entry else None,
        file=path,
        size=size,
        sha256=recorded_sha256(path),
        contents=contents,
        need=need,
        has=has,
        speed=measured(path) if holds else estimated(size, contents.parameters),
    )


def look_into(path: Path) -> Contents:
    """Read what a model file says of itself, without its weights. Raises ModelFileError."""
    llama = library()
    with interruptible_after():
        model = load_gguf(path, vocab_only=True)
    try:
        said = _metadata(model)
        parameters = int(llama.llama_model_n_params(model))
    finally:
        llama.llama_model_free(model)
    architecture = said.get("general.architecture")
    kind = said.get("general.file_type", "")
    return Contents(
        architecture,
        _quantisations().get(int(kind)) if kind.isdigit() else None,
        parameters,
        _number(said, f"{architecture}.context_length"),
        _kept_bytes(said, architecture or ""),
    )


def _kept_bytes(said: dict[str, str], architecture: str) -> int | None:
    """Return the bytes of keys and values a token, at 16 bits a number."""
    blocks = _number(said, f"{architecture}.block_count")
    heads = _number(said, f"{architecture}.attention.head_count")
    width = _number(said, f"{architecture}.embedding_length")
    if not blocks or not heads or not width:
        return None
    # One number for all blocks, or one for each.
    kept = [int(each) for each in re.findall(r"\d+", said.get(f"{architecture}.attention.head_count_kv", str(heads)))]
    together = kept[0] * blocks if len(kept) == 1 else sum(kept)
    length = width // heads
    keys = _number(said, f"{architecture}.attention.key_length") or length
    values = _number(said, f"{architecture}.attention.value_length") or length
    return together * (keys + values) * 2


def _number(said: dict[str, str], key: str) -> int | None:
    value = said.get(key, "")
    return int(value) if value.isdigit() else None


def _metadata(model: Any) -> dict[str, str]:
    llama = library()

    def read(call: Any, number: int) -> str:
        buffer = ctypes.create_string_buffer(_LONGEST)
        call(model, number, buffer, len(buffer))
        return buffer.value.decode(errors="replace")

    return {
        read(llama.llama_model_meta_key_by_index, number): read(llama.llama_model_meta_val_str_by_index, number)
        for number in range(llama.llama_model_meta_count(model))
    }


@cache
def _quantisations() -> dict[int, str]:
    """Return the names of the forms of weights by llama.cpp's numbers of them."""
    prefix = re.compile(r"LLAMA_FTYPE_(?:MOSTLY_|ALL_)?")
    found = vars(library()).items()
    return {value: prefix.sub("", name, count=1) for name, value in found if prefix.match(name)}
