"""From what a user names to a model: a catalogue name, a path, or `scheme:rest`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypedDict, Unpack

from ..harness.protocols import Model, OutsideFault
from .catalogue import CATALOGUE, UnknownModel, resolve
from .llama import GpuLayers, LlamaModel
from .scripted import ScriptedModel

ENTRY_POINTS = "evoharness.models"
"""Entry points of this group add schemes: the name is the scheme, the object a factory as in `SCHEMES`."""


class Options(TypedDict):
    """What may be asked of a model, as `LlamaModel` documents it; a factory refuses what it can't do."""

    adapter: Path | None
    context: int
    threads: int | None
    gpu_layers: GpuLayers
    temperature: float
    top_p: float


Factory = Callable[..., Model]
"""Called with what follows the colon and `Options` as keywords."""


class UnusableOption(OutsideFault):
    """An option that this kind of model doesn't have."""


class BrokenScheme(OutsideFault):
    """An installed package's scheme that can't be imported."""


def _scripted(rest: str, **options: Unpack[Options]) -> Model:
    if options["adapter"] is not None:
        raise UnusableOption("A scripted model takes no adapter: leave the adapter out or name a language model.")
    return ScriptedModel(Path(rest).expanduser())


SCHEMES: Mapping[str, Factory] = {"scripted": _scripted}


def load_model(
    spec: str,
    *,
    adapter: Path | None = None,
    context: int = 8192,
    threads: int | None = None,
    gpu_layers: GpuLayers = "auto",
    temperature: float = 0.0,
    top_p: float = 1.0,
) -> Model:
    """Return the model that is meant: `scripted:FILE`, a catalogue name, or a path to a GGUF file.

    Raises UnknownModel for anything else, and what the model itself raises when it can't be loaded.
    """
    options: Options = {
        "adapter": adapter,
        "context": context,
        "threads": threads,
        "gpu_layers": gpu_layers,
        "temperature": temperature,
        "top_p": top_p,
    }
    scheme, colon, rest = spec.partition(":")
    if colon and not Path(spec).exists():
        return _factory(scheme)(rest, **options)
    return LlamaModel(resolve(spec), name=spec if spec in CATALOGUE else None, **options)


def _factory(scheme: str) -> Factory:
    if scheme in SCHEMES:
        return SCHEMES[scheme]
    installed: dict[str, EntryPoint] = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    if scheme not in installed:
        known = ", ".join(f"{name}:" for name in sorted({*SCHEMES, *installed}))
        raise UnknownModel(f"No kind of model is called {scheme!r}. Known: {known} or a catalogue name or a path.")
    try:
        factory: Factory = installed[scheme].load()
    except Exception as error:
        raise BrokenScheme(
            f"The scheme {scheme}: of {installed[scheme].value} can't be imported: {error}."
            " Reinstall or remove the package that brings it."
        ) from error
    return factory
