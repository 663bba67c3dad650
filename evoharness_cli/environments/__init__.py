"""What is acted on. Each environment is an adapter behind the harness's Protocol, registered by entry point.

A package adds one by naming its `Adapter` in the group `evoharness.environments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..harness import Environment, Model, OutsideFault, WrongUsage

if TYPE_CHECKING:
    from random import Random

    from pydantic import BaseModel

GROUP = "evoharness.environments"


class UnknownEnvironment(WrongUsage):
    """No adapter has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown environment {name!r}; known: {', '.join(sorted(names()))}")


@dataclass(frozen=True)
class Finding:
    """One thing that `evoharness doctor` looked at: what was found, and what to do where that is a problem."""

    what: str
    found: str
    remedy: str | None = None


class Adapter(Protocol):
    """How an environment plugs in. One object serves a whole run, so that it may share what is costly."""

    @property
    def needs(self) -> type[BaseModel]:
        """What a task file says below `environment`, besides the name; `Path` fields are made absolute."""
        ...

    def locate(self, place: str) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return names and needs of the tasks at a place in the environment's own terms, as in `NAME:PLACE`.

        Raises WrongUsage where there is none.
        """
        ...

    def recognise(self, path: Path) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return the tasks that a file or folder of the environment's own holds; none where it isn't one."""
        ...

    def open(self, needs: BaseModel, goal: str | None) -> Environment:
        """Return the environment of one task, whose `reset` was not called; `goal` replaces its own sentence.

        Raises OutsideFault where what the task needs can't be used.
        """
        ...

    def examine(self) -> Iterator[Finding]:
        """Look at whether the environment works here and what it finds to play."""
        ...

    def close(self) -> None:
        """Free what the environments shared."""
        ...


class Teacher(Model, Protocol):
    """A model that shows how an environment's tasks are done, from what an agent can read and from nothing else."""

    @property
    def slips(self) -> Mapping[int, str]:
        """Which replies of this session were wrong on purpose: the kind of mistake by step number, counted from 1."""
        ...

    def session(self, task: str) -> Teacher:
        """Return what shows one episode of the task."""
        ...


@runtime_checkable
class Teaches(Protocol):
    """What an adapter has besides where its environment brings a teacher; most need none."""

    def teacher(self, seed: int, slips: float) -> Teacher:
        """Return a teacher that makes a mistake, and recovers from it, with a chance of `slips` before each action."""
        ...

    def labels(self, needs: BaseModel) -> Mapping[str, str]:
        """Return what demonstrations say of a task besides its name, such as the part of the data it belongs to."""
        ...

    def is_held_out(self, needs: BaseModel) -> bool:
        """Tell whether a task is kept for evaluation, so that nothing is trained on it."""
        ...

    def hearsay(self, environment: Environment, rng: Random) -> str | None:
        """Return what someone who is mistaken might have noted about an environment that was reset, None for nothing.

        It is to be about something that the task needs, and worded as a note.
        """
        ...


def names() -> list[str]:
    """Return the names of the environments that are installed."""
    return [point.name for point in entry_points(group=GROUP)]


def load_adapter(name: str) -> Adapter:
    """Return a new adapter. Raises UnknownEnvironment, or OutsideFault where its package doesn't give one."""
    point = _point(name)
    try:
        adapter: Adapter = point.load()()
    except Exception as error:
        raise OutsideFault(
            f"The environment {name!r} can't be used: {point.value} gave {type(error).__name__}: {error}. Mend or "
            "reinstall the package that brings it."
        ) from error
    return adapter


@cache
def _point(name: str) -> EntryPoint:
    """Return the entry point of an environment; finding one takes some milliseconds, which thousands of tasks feel."""
    for point in entry_points(group=GROUP, name=name):
        return point
    raise UnknownEnvironment(name)
