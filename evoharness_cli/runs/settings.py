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
    """How the agent plays.

    `react` acts alone and `bpe` has the four meta-actions; `panels` is shown the workspace's state each turn besides,
    and the others lack one of its parts.
    """

    REACT = "react"
    BPE = "bpe"
    PANELS = "panels"
    NO_BELIEF = "no-belief"
    NO_PROGRESS = "no-progress"
    NO_EXPERIENCE = "no-experience"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the workspace that are on."""
        if self is Method.REACT:
            return ()
        return tuple(part for part in Part if self.value != f"no-{part.value}")


@dataclass(frozen=True)
class RunSettings:
    """What is the same for all tasks of a run; the rest is each task's own. Recorded, so that it can be resumed."""

    model: str
    adapter: str | None = None
    method: Method = Method.BPE
    show_admissible: bool = False
    seed: int = 0
    temperature: float = 0.0
    learn: bool = True
    """Whether what happens changes experience; an evaluation reads it as it is."""
    label: str = ""
    """What the run stands for in an evaluation; empty for a run of its own."""

    def episode(self, task: Task) -> Settings:
        """Return the settings of a settled task's episode."""
        return Settings(
            limits=Limits(**task.limits),
            decode=Decode(task.decode),
            show_admissible=self.show_admissible,
            panels=self.method is Method.PANELS,
            seed=self.seed,
        )

    def stated(self, task: Task) -> dict[str, Any]:
        """Return all that decides how a settled task is played, as a result has to state it."""
        return {**asdict(self), "method": self.method.value, "decode": task.decode, "limits": dict(task.limits)}


def recorded_settings(recorded: Mapping[str, Any]) -> RunSettings:
    """Return the settings that were recorded as a mapping."""
    return RunSettings(**{**recorded, "method": Method(recorded["method"])})
