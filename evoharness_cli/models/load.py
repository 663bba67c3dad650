"""From what a user names to a model: a catalogue name, a path, or `scheme:rest`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypedDict, Unpack

from ..harness import Model, OutsideFault
from .catalogue import CATALOGUE, UnknownModel, resolve
from .engine import GpuLayers
from .files import expanded
from .lanes import Shape
from .llama import LlamaModel, UnusableOption
from .native import interruptible_after
from .scripted import ScriptedModel

ENTRY_POINTS = "evoharness.models"
"""Entry points of this group add schemes: the name is the scheme, the object a factory as in `SCHEMES`."""


class Options(TypedDict, total=False):
    """What may be asked of a model, as `LlamaModel` documents it; what is left out is the model's to choose."""

    adapter: Path | None
    context: int
    slots: int
    shape: Shape | None
    gpu_layers: GpuLayers
    temperature: float
    top_p: float
    base_url: str
    """The address of the server, for models that are on one."""
    key_variable: str
    """The environment variable that holds the server's key."""


Factory = Callable[..., Model]
"""Called with what follows the colon and, as keywords, those of `Options` that were given; refuses what it can't do."""


class BrokenScheme(OutsideFault):
    """An installed package's scheme that can't be imported."""


def _scripted(rest: str, **options: Unpack[Options]) -> Model:
    if options.get("adapter") is not None:
        raise UnusableOption("A scripted model takes no adapter: leave the adapter out or name a language model.")
    if any(name in options for name in _OF_SERVERS):
        raise UnusableOption("A scripted model is on no server: leave its address and its key out.")
    if options.get("context") is not None:
        raise UnusableOption("A scripted model has no context that could fill: leave the context out.")
    return ScriptedModel(expanded(Path(rest)))


def _openai(rest: str, **options: Unpack[Options]) -> Model:
    from .openai import OpenAIModel

    return OpenAIModel(rest, **options)  # type: ignore[misc]


def _openai_with_tools(rest: str, **options: Unpack[Options]) -> Model:
    from .openai import OpenAIModel

    return OpenAIModel(rest, tools=True, **options)  # type: ignore[misc]


SCHEMES: Mapping[str, Factory] = {"openai": _openai, "openai-tools": _openai_with_tools, "scripted": _scripted}
_SERVED = ("openai", "openai-tools")
"""Schemes of models that are on a server."""
_OF_FILES = ("scripted",)
"""Schemes that a path follows."""
_OF_SERVERS = ("base_url", "key_variable")
"""Options that a model in this process doesn't have."""


def load_model(spec: str, **options: Unpack[Options]) -> Model:
    """Return the model that is meant: `scripted:FILE`, `openai:NAME`, a catalogue name, or a path to a GGUF file.

    Paths may begin with `~`. Raises UnknownModel for a name or a scheme that there isn't, UnusableOption for an option
    that the model can't take, and what the model itself raises when it can't be loaded.
    """
    if adapter := options.get("adapter"):
        options["adapter"] = expanded(adapter)
    scheme, colon, rest = spec.partition(":")
    if colon and not expanded(Path(spec)).exists():
        return _factory(scheme)(rest, **options)
    if given := [f"--{name.replace('_', '-')}" for name in _OF_SERVERS if name in options]:
        raise UnusableOption(f"{spec} is on no server: leave {' and '.join(given)} out, or name openai:MODEL.")
    with interruptible_after():
        return LlamaModel(resolve(spec), name=spec if spec in CATALOGUE else None, **options)  # type: ignore[misc]


def is_served(spec: str) -> bool:
    """Tell whether a model is on a server, and so has an address, a key and a price."""
    return spec.partition(":")[0] in _SERVED


def anchored(spec: str, folder: Path) -> str:
    """Return what `load_model` takes for the same model from any working folder: relative paths are from this one.

    Catalogue names, other packages' schemes and what names no file stay as they are.
    """
    if spec in CATALOGUE:
        return spec
    path = folder / expanded(Path(spec))
    if path.suffix.lower() == ".gguf" or path.is_file():
        return str(path.resolve())
    scheme, _, rest = spec.partition(":")
    if scheme in _OF_FILES and rest:
        return f"{scheme}:{(folder / expanded(Path(rest))).resolve()}"
    return spec


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
