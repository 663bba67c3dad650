"""What is acted on. Each environment is an adapter behind the harness's Protocol, registered by entry point.

A package adds one by naming its `Adapter` in the group `evoharness.environments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..harness import Environment, OutsideFault, WrongUsage

if TYPE_CHECKING:
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

    needs: type[BaseModel]
    """What a task file says below `environment`, besides the name; paths in it are made absolute by `Path` fields."""

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


def names() -> list[str]:
    """Return the names of the environments that are installed."""
    return [point.name for point in entry_points(group=GROUP)]


def load_adapter(name: str) -> Adapter:
    """Return a new adapter. Raises UnknownEnvironment, or OutsideFault where its package can't be imported."""
    for point in entry_points(group=GROUP, name=name):
        try:
            adapter: Adapter = point.load()()
        except ImportError as error:
            raise OutsideFault(f"the environment {name!r} can't be used: {error}") from error
        return adapter
    raise UnknownEnvironment(name)
