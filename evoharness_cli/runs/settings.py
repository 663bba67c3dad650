"""How the tasks of a run are played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..harness import Decode, Part, Settings

if TYPE_CHECKING:
    from .task import Task


class Method(str, Enum):
    """How the agent plays: `react` acts alone, `bpe` has the four meta-actions."""

    REACT = "react"
    BPE = "bpe"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the workspace that are on."""
        return tuple(Part) if self is Method.BPE else ()


@dataclass(frozen=True)
class RunSettings:
    """All that decides how tasks are played; it is recorded with the run, which can be resumed from it."""

    model: str
    adapter: str | None = None
    method: Method = Method.BPE
    decode: Decode | None = None
    """None leaves it to each task, and to `grammar` where the task says nothing."""
    show_admissible: bool = False
    limits: Mapping[str, Any] = field(default_factory=dict)
    """The limits that go over those of the tasks."""
    seed: int = 0
    scope: str | None = None
    """None leaves it to each task."""
    temperature: float = 0.0

    def episode(self, task: Task) -> Settings:
        """Return the settings of one task's episode."""
        decode = self.decode or Decode(task.decode or Decode.GRAMMAR)
        return Settings(task.limited(self.limits), decode, self.show_admissible, self.seed)
