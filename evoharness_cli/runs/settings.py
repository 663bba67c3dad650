"""How the tasks of a run are played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..harness import Decode, Limits, Part, Settings

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
    """What is the same for all tasks of a run; the rest is each task's own. Recorded, so that it can be resumed."""

    model: str
    adapter: str | None = None
    method: Method = Method.BPE
    show_admissible: bool = False
    seed: int = 0
    temperature: float = 0.0

    def episode(self, task: Task) -> Settings:
        """Return the settings of a settled task's episode."""
        return Settings(Limits(**task.limits), Decode(task.decode), self.show_admissible, self.seed)

    def stated(self, task: Task) -> dict[str, Any]:
        """Return all that decides how a settled task is played, as a result has to state it."""
        return {**asdict(self), "method": self.method.value, "decode": task.decode, "limits": dict(task.limits)}


def recorded_settings(recorded: Mapping[str, Any]) -> RunSettings:
    """Return the settings that were recorded as a mapping."""
    return RunSettings(**{**recorded, "method": Method(recorded["method"])})
