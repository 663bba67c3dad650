"""The seams of the harness: what it asks of an environment, a model and a store of experience."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from .belief import Belief, Fact
    from .constraint import Constraint
    from .transcript import Transcript

Condition = Callable[["Belief"], "str | None"]
"""Evidence for a subgoal: given the belief, None when it holds, else a phrase that says what is missing."""


class OutsideFault(Exception):
    """Something outside the harness failed (model, environment, disk); the message is a sentence for a person."""


class WrongUsage(Exception):
    """What was asked for can't be done as it was asked; the message is a sentence for a person."""


class ContextFull(Exception):
    """The transcript no longer fits the model's context."""


@dataclass(frozen=True)
class Observation:
    """What the environment answered: its text, whether the task is over, and whether it was achieved.

    `remark` is for the person who looks on, and not shown to the agent. `goal` is what is to be done from now on, where
    that has changed; the text says so too.
    """

    text: str
    done: bool = False
    success: bool = False
    remark: str = ""
    goal: str = ""


@dataclass(frozen=True)
class Brief:
    """What a task is, before anything is done.

    `goal` is the sentence shown to the agent, `kind` groups tasks whose success rates compare, and `world` names the
    initial state: two tasks with the same world start from the same one (the same house, the same repository).
    """

    goal: str
    kind: str
    world: str


@dataclass(frozen=True)
class Reply:
    """A model's answer. `prompt_tokens` counts the whole prompt, `evaluated_tokens` the part not already cached."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    evaluated_tokens: int = 0


@dataclass(frozen=True)
class Answer:
    """What a meta-action is answered with: the text shown to the agent, and the ids of the entries recalled in it."""

    text: str
    entries: tuple[int, ...] = ()


class Environment(Protocol):
    """What is acted on. One object plays one task; `reset` is called once, first."""

    @property
    def brief(self) -> Brief:
        """What the task is."""
        ...

    @property
    def instructions(self) -> str:
        """What the agent is told about the environment, one or two sentences."""
        ...

    @property
    def forms(self) -> tuple[str, ...]:
        """The actions, as templates: `go to {receptacle}`."""
        ...

    @property
    def example(self) -> str:
        """One action, to show the model what a reply looks like."""
        ...

    def reset(self) -> Observation:
        """Start the task and return the first observation."""
        ...

    def read(self, action: str) -> str | None:
        """Return the action as this environment plays it, or None when it cannot be read as one."""
        ...

    def step(self, action: str) -> Observation:
        """Play an action that `read` returned."""
        ...

    def admissible(self) -> Sequence[str]:
        """Return the actions that would change or show something now; empty where the environment can't tell.

        An action that takes free text is listed with a placeholder: `label jar as {text}`.
        """
        ...

    def facts(self) -> Sequence[Fact]:
        """Return what the latest observation showed."""
        ...

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return, for each placeholder of `forms`, the names seen so far."""
        ...

    def evidence(self, subgoal: str) -> Condition | None:
        """Return the condition under which a subgoal is done, or None when only the agent can tell."""
        ...

    def close(self) -> None:
        """Free what the environment holds."""
        ...


@runtime_checkable
class Lasting(Protocol):
    """What an environment has besides whose actions have effects that outlast it, such as files of a person's."""

    def take_up(self, action: str, observation: str) -> Observation | None:
        """Return what a recorded action was answered with, without playing it; None where it has to be played again.

        Called for each recorded action in order, after `reset`; `facts` tells what the observation showed.
        """
        ...


class Model(Protocol):
    """What answers."""

    name: str

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """What its replies depend on, as values that JSON can hold."""
        ...

    def session(self, task: str) -> Model:
        """Return what answers in one episode of the task."""
        ...

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer the transcript, whose last message is the environment's.

        `constraint` limits what may be said, `max_tokens` its length; `seed` makes a sampled answer repeatable.
        Raises ContextFull when the transcript doesn't fit, OutsideFault when the model fails.
        """
        ...

    def close(self) -> None:
        """Free what the model holds."""
        ...


class Experience(Protocol):
    """What past tasks taught, as one episode sees it."""

    def recall(self, query: str, step: int) -> Answer:
        """Return what is known about the query."""
        ...

    def note(self, insight: str, step: int, because: str) -> str:
        """Keep an insight with the observation behind it; return what to tell the agent."""
        ...
