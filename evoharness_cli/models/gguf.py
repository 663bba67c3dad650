"""Reads the header of a GGUF file, so that a wrong or truncated file is a sentence and not a crash.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..harness.protocols import OutsideFault

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_STRING, _ARRAY = 8, 9
_ALIGNMENT = 32
# Elements and bytes of one block, by ggml's tensor type number.
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 40),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18),
}  # fmt: skip


class ModelFileError(OutsideFault):
    """A model file is missing, isn't one, or is damaged."""


@dataclass(frozen=True)
class GgufHeader:
    """What the header says: scalars and texts (no arrays), and `size`, the bytes of a whole file."""

    metadata: Mapping[str, object]
    tensors: int
    size: int

    def text(self, key: str) -> str | None:
        """Return a text of the metadata, None when it is missing or no text."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None

    @property
    def architecture(self) -> str:
        """The architecture's name, `llama` for instance; empty when the file names none."""
        return self.text("general.architecture") or ""

    @property
    def context_length(self) -> int | None:
        """The context the model was trained with, in tokens."""
        value = self.metadata.get(f"{self.architecture}.context_length")
        return value if isinstance(value, int) else None

    @property
    def chat_template(self) -> str | None:
        """The Jinja source of the chat template."""
        return self.text("tokenizer.chat_template")


def check_gguf(path: Path) -> GgufHeader:
    """Return the header of a model file that is whole; raises ModelFileError for any other."""
    header = read_header(path)
    if header.text("general.type") == "adapter":
        raise ModelFileError(f"Expected a model in {path}, found an adapter: give it as the adapter of its base model.")
    return header


def check_adapter(path: Path, architecture: str) -> GgufHeader:
    """Return the header of a LoRA adapter for this architecture; raises ModelFileError for any other file."""
    header = read_header(path)
    kind = header.text("general.type") or "model"
    if (kind, header.text("adapter.type")) != ("adapter", "lora"):
        raise ModelFileError(f"Expected a LoRA adapter in {path}, found a GGUF file of type {kind}.")
    if header.architecture != architecture:
        raise ModelFileError(
            f"Expected an adapter for the architecture {architecture} in {path}, found one for {header.architecture}."
        )
    return header


def read_header(path: Path) -> GgufHeader:
    """Return the header of a GGUF file that is as long as its header says; raises ModelFileError."""
    if path.is_dir():
        raise ModelFileError(f"Expected a GGUF file at {path}, found a folder: name the file in it.")
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
            if start != _MAGIC:
                found = "an empty file" if not start else "a file that starts differently"
                raise ModelFileError(f"Expected a GGUF file at {path}, found {found}: is it the right one?")
            size = path.stat().st_size
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                header = _Reader(data, size).header()
    except FileNotFoundError:
        raise ModelFileError(f"Expected a GGUF file at {path}, found nothing there.") from None
    except OSError as error:
        raise ModelFileError(f"The model file {path} can't be read: {error.strerror}.") from error
    except (struct.error, UnicodeDecodeError, _Malformed) as error:
        raise ModelFileError(f"The model file {path} is truncated or damaged in its header: fetch it again.") from error
    if size < header.size:
        raise ModelFileError(
            f"The model file {path} is truncated: expected {header.size} bytes, found {size}. Fetch it again."
        )
    return header


class _Malformed(Exception):
    """The bytes don't follow the format."""


class _Reader:
    """Walks a header from its start; `_at` is the next byte."""

    def __init__(self, data: mmap.mmap, size: int) -> None:
        self._data = data
        self._size = size
        self._at = len(_MAGIC)

    def header(self) -> GgufHeader:
        version = self._integer("<I")
        if version not in _VERSIONS:
            raise _Malformed(f"version {version}")
        tensors, pairs = self._integer("<Q"), self._integer("<Q")
        metadata = {}
        for _ in range(pairs):
            key, kind = self._string(), self._integer("<I")
            value = self._value(kind)
            if value is not None:
                metadata[key] = value
        ends = [self._tensor_end() for _ in range(tensors)]
        alignment = metadata.get("general.alignment", _ALIGNMENT)
        if not isinstance(alignment, int) or alignment < 1:
            raise _Malformed(f"alignment {alignment}")
        start = -(-self._at // alignment) * alignment
        return GgufHeader(metadata, tensors, max((start + end for end in ends), default=self._at))

    def _scalar(self, form: str) -> object:
        value: object = struct.unpack_from(form, self._data, self._at)[0]
        self._at += struct.calcsize(form)
        return value

    def _integer(self, form: str) -> int:
        value = self._scalar(form)
        assert isinstance(value, int)
        return value

    def _skip_string(self) -> None:
        length = self._integer("<Q")
        self._at += length

    def _string(self) -> str:
        start = self._at + 8
        self._skip_string()
        if self._at > self._size:
            raise _Malformed("a text that ends after the file")
        return self._data[start : self._at].decode()

    def _value(self, kind: int) -> object:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            self._skip_array()
            return None
        if kind not in _SCALARS:
            raise _Malformed(f"value type {kind}")
        return self._scalar(_SCALARS[kind])

    def _skip_array(self) -> None:
        kind, count = self._integer("<I"), self._integer("<Q")
        if kind in _SCALARS:
            self._at += count * struct.calcsize(_SCALARS[kind])
        elif kind == _STRING:
            for _ in range(count):
                self._skip_string()
        else:
            raise _Malformed(f"array of type {kind}")

    def _tensor_end(self) -> int:
        """Read one tensor's entry and return where its data ends, in bytes after the start of all data."""
        self._skip_string()
        elements = 1
        for _ in range(self._integer("<I")):
            elements *= self._integer("<Q")
        kind, offset = self._integer("<I"), self._integer("<Q")
        # Of a type that is not in the table only the start is known.
        per_block, block_bytes = _BLOCKS.get(kind, (1, 0))
        return offset + elements // per_block * block_bytes
