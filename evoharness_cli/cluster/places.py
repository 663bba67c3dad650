"""Where episodes are played: what loads their models and opens their environments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, Unpack

from ..environments import Adapter
from ..harness import Constraint, Model, Reply, Transcript
from ..models import LlamaModel, load_model, resolve
from ..models.llama import Sampled
from ..models.load import Options


class SamplerSession(Model, Protocol):
    """One conversation of a sampler."""

    def session(self, task: str) -> SamplerSession:
        """Return another session of the sampler."""
        ...

    def sample(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Sampled:
        """Answer as `reply` does, with every token, its log-probability and whether it was forced."""
        ...

    def fork(self) -> SamplerSession:
        """Return a session that goes on separately from here."""
        ...


class Sampler(Protocol):
    """A model that tells the tokens of its replies, as `LlamaModel` does, and goes on with other adapters."""

    name: str

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """What its replies depend on, as values that JSON can hold."""
        ...

    def session(self, task: str) -> SamplerSession:
        """Return what answers in one episode of the task."""
        ...

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer as a session does, in one that belongs to the model."""
        ...

    def attach(self, adapter: Path) -> None:
        """Go on with another adapter, while no session is asked."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


class Place(Protocol):
    """What loads models and opens environments somewhere. What they answer doesn't depend on where that is."""

    def load(self, spec: str, **options: Unpack[Options]) -> Model:
        """Return what `load_model` returns; `slots` counts the sessions of the whole place. Raises what it raises."""
        ...

    def sampler(self, spec: str, **options: Unpack[Options]) -> Sampler:
        """Return a model of a GGUF file or of the catalogue, whose `slots` are counted as above."""
        ...

    def adapters(self, environments: Collection[str]) -> dict[str, Adapter]:
        """Return adapters for one player, by the name of the environment; those left out are for `load_adapter`."""
        ...


class Here:
    """This process."""

    def load(self, spec: str, **options: Unpack[Options]) -> Model:
        """Load the model in this process."""
        return load_model(spec, **options)

    def sampler(self, spec: str, **options: Unpack[Options]) -> Sampler:
        """Load the model in this process."""
        return LlamaModel(resolve(spec), **options)  # type: ignore[misc]

    def adapters(self, environments: Collection[str]) -> dict[str, Adapter]:
        """Return none: they are loaded when a task needs one."""
        del environments
        return {}


HERE = Here()


@contextmanager
def place_at(address: str | None) -> Iterator[Place]:
    """Yield the nodes of the Ray cluster at an address, this process where there is none.

    Raises what `connection.connected` raises.
    """
    if address is None:
        yield HERE
        return
    from .connection import connected

    with connected(address) as nodes:
        yield nodes
