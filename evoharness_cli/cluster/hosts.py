"""What runs on a node: it holds environments, or a model and its sessions, and does with them what it is asked.

A host is an actor of Ray, and yet knows nothing of Ray. What it holds has a number; 0 is the host itself.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from .. import __version__
from ..environments import Adapter, load_adapter
from ..harness import (
    Belief,
    Brief,
    ContextFull,
    Environment,
    Fact,
    Lasting,
    Observation,
    OutsideFault,
    WrongUsage,
)
from ..models import load_model
from ..models.load import Options

HOST = 0
_TOLD = (ContextFull, WrongUsage, OutsideFault)
"""The errors that are told as what they are, without what only their own class knows."""


class Host:
    """Holds things by number, for one program. Any number of threads may ask at once."""

    def __init__(self) -> None:
        self._held: dict[int, Any] = {}
        self._numbers = itertools.count(HOST + 1)

    def ask(self, number: int, method: str, arguments: Sequence[object], forgotten: Sequence[int]) -> Any:
        """Return what a method of something answers, after what was `forgotten` is held no more.

        Raises ContextFull, WrongUsage and OutsideFault in place of their kinds: some of these can't be sent.
        """
        for gone in forgotten:
            self._held.pop(gone, None)
        asked = self if number == HOST else self._held[number]
        try:
            return getattr(asked, method)(*arguments)
        except _TOLD as error:
            kind = next(kind for kind in _TOLD if isinstance(error, kind))
            raise kind(str(error)) from None

    def version(self) -> str:
        """Return the version of the program here."""
        return __version__

    def hold(self, thing: object) -> int:
        """Hold something; return its number."""
        number = next(self._numbers)
        self._held[number] = thing
        return number


@dataclass(frozen=True)
class Manual:
    """What an environment says of itself."""

    brief: Brief
    instructions: str
    forms: tuple[str, ...]
    example: str
    is_lasting: bool


@dataclass(frozen=True)
class Scene:
    """What an environment answered, and all that may be asked of it then."""

    observation: Observation
    facts: tuple[Fact, ...]
    names: Mapping[str, Sequence[str]]
    admissible: tuple[str, ...]


class EnvironmentHost(Host):
    """Opens environments. Each has an adapter for itself while it is open, as if its player were alone."""

    def __init__(self) -> None:
        super().__init__()
        self._free: dict[str, list[Adapter]] = defaultdict(list)

    def open(self, name: str, needs: BaseModel, goal: str | None) -> int:
        """Open a task of an environment; return its number."""
        free = self._free[name]
        try:
            adapter = free.pop()
        except IndexError:
            adapter = load_adapter(name)
        try:
            return self.hold(HostedEnvironment(adapter.open(needs, goal), adapter, free))
        except BaseException:
            free.append(adapter)
            raise


class HostedEnvironment:
    """An environment whose every answer brings what will be asked next, as each question takes its time on the way."""

    def __init__(self, environment: Environment, adapter: Adapter, free: list[Adapter]) -> None:
        """`free` is where the adapter goes when the environment is closed."""
        self._environment, self._adapter, self._free = environment, adapter, free

    def manual(self) -> Manual:
        """Return what the environment says of itself, which some know only once they were reset."""
        known = self._environment
        return Manual(known.brief, known.instructions, tuple(known.forms), known.example, isinstance(known, Lasting))

    def reset(self) -> Scene:
        """Start the task."""
        return self._scene(self._environment.reset())

    def read(self, action: str) -> str | None:
        """Return the action as the environment plays it."""
        return self._environment.read(action)

    def step(self, action: str) -> Scene:
        """Play an action."""
        return self._scene(self._environment.step(action))

    def take_up(self, action: str, observation: str) -> Scene | None:
        """Return what an action was answered with, None where it has to be played again."""
        assert isinstance(self._environment, Lasting)
        taken = self._environment.take_up(action, observation)
        return self._scene(taken) if taken else None

    def has_evidence(self, subgoal: str) -> bool:
        """Tell whether the environment can tell when a subgoal is done."""
        return self._environment.evidence(subgoal) is not None

    def missing(self, subgoal: str, belief: Belief) -> str | None:
        """Return what a subgoal that has evidence lacks by a belief."""
        condition = self._environment.evidence(subgoal)
        assert condition is not None
        return condition(belief)

    def close(self) -> None:
        """Free what the environment holds."""
        self._environment.close()
        self._free.append(self._adapter)

    def _scene(self, observation: Observation) -> Scene:
        known = self._environment
        return Scene(observation, tuple(known.facts()), dict(known.names()), tuple(known.admissible()))


@dataclass(frozen=True)
class AdapterFile:
    """An adapter's file, as it is sent to a node."""

    name: str
    content: bytes


class ModelHost(Host):
    """Loads one model, and holds its sessions."""

    def __init__(self) -> None:
        super().__init__()
        self._model: Any = None
        self._folder: Path | None = None
        """Where the adapter is."""

    def load(self, spec: str, adapter: AdapterFile | None, options: Options) -> tuple[str, Mapping[str, object]]:
        """Load the model with an adapter; return its name and its fingerprint."""
        given: Options = {**options, "adapter": self._written(adapter) if adapter else None}
        self._model = load_model(spec, **given)
        return self._model.name, dict(self._model.fingerprint)

    def session(self, task: str) -> int:
        """Begin a session; return its number."""
        return self.hold(self._model.session(task))

    def fork(self, number: int) -> int:
        """Begin a session where another one is; return its number."""
        return self.hold(self._held[number].fork())

    def attach(self, adapter: AdapterFile) -> Mapping[str, object]:
        """Go on with another adapter; return the fingerprint."""
        before = self._folder
        self._model.attach(self._written(adapter))
        if before:
            shutil.rmtree(before, ignore_errors=True)
        return dict(self._model.fingerprint)

    def free(self) -> None:
        """Free the model, and what was written for it."""
        if self._model is not None:
            self._model.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _written(self, adapter: AdapterFile) -> Path:
        self._folder = Path(tempfile.mkdtemp(prefix="evoharness-adapter-"))
        path = self._folder / adapter.name
        path.write_bytes(adapter.content)
        return path
