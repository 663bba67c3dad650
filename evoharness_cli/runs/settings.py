"""How the tasks of a run are played."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..experience.policies import DEFAULT as DEFAULT_MEMORY
from ..harness import Decode, Limits, Part, Settings

if TYPE_CHECKING:
    from ..models.load import Options
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
    context: int | None = None
    """Tokens that a prompt and its reply may have together; the model's own choice where None."""
    base_url: str | None = None
    """The address of the model's server, where it is on one."""
    key_variable: str | None = None
    """The environment variable that holds the server's key. The key itself is never recorded."""
    price: str | None = None
    """What a million tokens cost, as `spending.read_price` reads it."""
    max_cost: float | None = None
    """What the run, or the whole evaluation, may cost."""
    learn: bool = True
    """Whether what happens changes experience; an evaluation reads it as it is."""
    experience: str = DEFAULT_MEMORY
    """The memory policy: what answers `recall` and `note`, and what an episode that ends teaches."""
    curator: str | None = None
    """The model that decides what a policy keeps, where it has a curator; its stand-in without one."""
    label: str = ""
    """What the run stands for in an evaluation; empty for a run of its own."""
    evaluation: Mapping[str, Any] = field(default_factory=dict)
    """What an evaluation says besides, such as its bank and what the tasks' files hold; empty for a run of its own."""

    @property
    def model_options(self) -> Options:
        """What to load the model with."""
        options: Options = {
            "adapter": Path(self.adapter) if self.adapter else None,
            "temperature": self.temperature,
        }
        if self.context is not None:
            options["context"] = self.context
        if self.base_url is not None:
            options["base_url"] = self.base_url
        if self.key_variable is not None:
            options["key_variable"] = self.key_variable
        return options

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
