"""The loop: prompt, reply, act, observe, until the task is over or a limit is reached."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from .actions import EnvironmentAction, FormatError, MetaAction, parse_reply
from .belief import Fact
from .constraint import Decode, constrain, is_among
from .contract import checked_facts, checked_names, checked_observation
from .protocols import ContextFull, Environment, Lasting, Model, Observation, Reply
from .transcript import Transcript
from .workspace import Workspace

ENVIRONMENT, FORMAT = "environment", "format"
"""The kinds of step besides the four verbs."""


class Outcome(str, Enum):
    """How an episode ended."""

    WON = "won"
    LOST = "lost"
    STEPS = "out of steps"
    TOKENS = "out of completion tokens"
    SECONDS = "out of time"
    FORMAT = "too many format errors"
    CONTEXT = "out of context"


@dataclass(frozen=True)
class Limits:
    """What an episode may use up."""

    steps: int = 50
    """Charged steps; a meta-action is charged like any action."""
    completion_tokens: int | None = None
    """Tokens generated in the whole episode."""
    seconds: float | None = None
    """Time spent in the model and the environment, looked at between steps."""
    format_errors: int = 10
    """Unreadable replies in a row."""
    reply_tokens: int = 256
    """Tokens generated in one reply."""
    free_meta: int = 0
    """How many meta-actions are not charged."""


@dataclass(frozen=True)
class Settings:
    """How an episode is played. `seed` gives every step's reply a seed of its own."""

    limits: Limits = Limits()
    decode: Decode = Decode.GRAMMAR
    show_admissible: bool = False
    panels: bool = False
    """Whether the state of the workspace is shown after the latest observation, each turn anew."""
    seed: int = 0


@dataclass(frozen=True)
class Step:
    """One reply and what came of it. Step 0 is the first observation, before any reply."""

    number: int
    kind: str
    observation: str
    reply: str = ""
    thought: str = ""
    remark: str = ""
    """What the environment says to the person who looks on."""
    action: str = ""
    charged: bool = False
    invalid: bool = False
    """Whether it was a format error, or an action that was not admissible where the environment can tell."""
    compacted: int = 0
    """How many of the oldest exchanges were left out of the transcript before this reply, to make room."""
    facts: tuple[Fact, ...] = ()
    """What of the observation was news to belief."""
    recalled: tuple[int, ...] = ()
    """The entries that experience answered with."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    evaluated_tokens: int = 0
    model_seconds: float = 0.0
    environment_seconds: float = 0.0
    harness_seconds: float = 0.0
    """All else since the step before, which includes recording that one."""


class Diverged(Exception):
    """A recorded action was played again and the environment answered something else."""


@dataclass
class Episode:
    """One task played by one model in one environment through a workspace."""

    environment: Environment
    model: Model
    workspace: Workspace
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        self.outcome: Outcome | None = None
        self.steps: list[Step] = []
        self.transcript: Transcript | None = None
        self._finished = 0.0

    def play(self, recorded: Sequence[Step] = ()) -> Iterator[Step]:
        """Yield each step as it happens; when the iterator ends, `outcome` is set.

        `recorded` steps are played again first, without the model and without being yielded. Raises Diverged when
        the environment answers them differently, and OutsideFault when the model or the environment fails.
        """
        self._finished = time.monotonic()
        first = self._begin()
        if not recorded:
            yield first
        elif recorded[0].observation != first.observation:
            raise Diverged(f"it begins with {first.observation!r}, where {recorded[0].observation!r} was recorded")
        for step in recorded[1:]:
            self._replay(step)
        self._finished = time.monotonic()
        while self.outcome is None:
            self.outcome = self._spent()
            if self.outcome is None and (played := self._next()):
                yield played

    def _begin(self) -> Step:
        clock = time.monotonic()
        observation = checked_observation(self.environment, "reset()", self.environment.reset())
        seconds = time.monotonic() - clock
        news = self.workspace.absorb(observation.text, checked_facts(self.environment), 0)
        brief = self.environment.brief
        self.transcript = Transcript(
            system_prompt(self.environment, self.workspace, self.settings.limits.free_meta),
            self._shown(f"{observation.text}\n\nYour task is to: {brief.goal}"),
        )
        step = Step(
            number=0,
            kind=ENVIRONMENT,
            observation=observation.text,
            remark=observation.remark,
            facts=tuple(news),
            environment_seconds=seconds,
        )
        self.steps.append(step)
        self._finish(observation)
        return step

    def _next(self) -> Step | None:
        assert self.transcript is not None
        clock = time.monotonic()
        compacted = 0
        while True:
            try:
                reply = self._ask()
                break
            except ContextFull:
                half = (self.transcript.exchanges + 1) // 2
                if not half:
                    self.outcome = Outcome.CONTEXT
                    return None
                self.transcript.leave_out(half, self.workspace.summary())
                compacted += half
        step = self._act(reply, time.monotonic() - clock)
        now = time.monotonic()
        harness_seconds = now - self._finished - step.model_seconds - step.environment_seconds
        step = replace(step, compacted=compacted, harness_seconds=harness_seconds)
        self._finished = now
        self._record(step)
        return step

    def _ask(self) -> Reply:
        assert self.transcript is not None
        environment, settings = self.environment, self.settings
        admissible = environment.admissible() if settings.decode is Decode.ADMISSIBLE else ()
        constraint = constrain(
            settings.decode, environment.forms, checked_names(environment), admissible, self.workspace.verbs
        )
        seed = (settings.seed * 1_000_003 + len(self.steps)) % 2**32
        shown = self.transcript.with_panel(self.workspace.panel()) if settings.panels else self.transcript
        return self.model.reply(shown, constraint, self._reply_tokens(), seed)

    def _act(self, reply: Reply, model_seconds: float) -> Step:
        number = len(self.steps)
        parsed = parse_reply(reply.text)
        action, observed, remark, facts, recalled = parsed.action, "", "", tuple[Fact, ...](), tuple[int, ...]()
        kind, charged, invalid, seconds = FORMAT, True, True, 0.0
        if isinstance(action, EnvironmentAction):
            readable = self.environment.read(action.text)
            if readable is None:
                action = FormatError(f"no such action: {action.text}; expected {self._expected()}", action.text)
            else:
                kind = ENVIRONMENT
                admissible = self.environment.admissible()
                invalid = bool(admissible) and not is_among(readable, admissible)
                clock = time.monotonic()
                answered = self.environment.step(readable)
                seconds = time.monotonic() - clock
                observation = checked_observation(self.environment, f"step({readable!r})", answered)
                observed, remark = observation.text, observation.remark
                facts = tuple(self.workspace.absorb(observed, checked_facts(self.environment), number))
                self._finish(observation)
        if isinstance(action, MetaAction):
            kind, invalid = action.verb, False
            charged = self._meta_calls() >= self.settings.limits.free_meta
            answer = self.workspace.answer(action, number)
            observed, recalled = answer.text, answer.entries
        if isinstance(action, FormatError):
            observed = f"format error: {action.expected}"
        return Step(
            number=number,
            kind=kind,
            observation=observed,
            reply=reply.text,
            thought=parsed.thought,
            remark=remark,
            action=action.text,
            charged=charged,
            invalid=invalid,
            facts=facts,
            recalled=recalled,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            evaluated_tokens=reply.evaluated_tokens,
            model_seconds=model_seconds,
            environment_seconds=seconds,
        )

    def _replay(self, step: Step) -> None:
        assert self.transcript is not None
        if step.compacted:
            self.transcript.leave_out(step.compacted, self.workspace.summary())
        action = parse_reply(step.reply).action
        if step.kind == ENVIRONMENT:
            observation = self._played_again(step)
            self.workspace.absorb(observation.text, checked_facts(self.environment), step.number)
            self._finish(observation)
        elif isinstance(action, MetaAction):
            self.workspace.replay(action, step.number)
        self._record(step)

    def _played_again(self, step: Step) -> Observation:
        """Return what a recorded action is answered with, which is what it was answered with before."""
        if isinstance(self.environment, Lasting) and (taken := self.environment.take_up(step.action, step.observation)):
            return taken
        readable = self.environment.read(step.action)
        observation = self.environment.step(readable) if readable is not None else None
        if observation is None or observation.text != step.observation:
            now = "can't be read any more" if observation is None else f"was answered {observation.text!r}"
            raise Diverged(f"step {step.number}, {step.action!r}, {now}, where {step.observation!r} was recorded")
        return observation

    def _record(self, step: Step) -> None:
        assert self.transcript is not None
        self.steps.append(step)
        self.transcript.add(step.reply, self._shown(step.observation))

    def _shown(self, observation: str) -> str:
        if not self.settings.show_admissible:
            return observation
        return f"{observation}\nadmissible actions: {', '.join(self.environment.admissible())}"

    def _finish(self, observation: Observation) -> None:
        if observation.goal:
            self.workspace.aim(observation.goal)
        if observation.done:
            self.outcome = Outcome.WON if observation.success else Outcome.LOST

    def _spent(self) -> Outcome | None:
        limits = self.settings.limits
        seconds = sum(step.model_seconds + step.environment_seconds for step in self.steps)
        if sum(step.charged for step in self.steps) >= limits.steps:
            return Outcome.STEPS
        tokens = sum(step.completion_tokens for step in self.steps)
        if limits.completion_tokens is not None and tokens >= limits.completion_tokens:
            return Outcome.TOKENS
        if limits.seconds is not None and seconds >= limits.seconds:
            return Outcome.SECONDS
        last = self.steps[-limits.format_errors :]
        if len(last) == limits.format_errors and all(step.kind == FORMAT for step in last):
            return Outcome.FORMAT
        return None

    def _reply_tokens(self) -> int:
        limits = self.settings.limits
        if limits.completion_tokens is None:
            return limits.reply_tokens
        return min(limits.reply_tokens, limits.completion_tokens - sum(step.completion_tokens for step in self.steps))

    def _meta_calls(self) -> int:
        return sum(step.kind not in (ENVIRONMENT, FORMAT) for step in self.steps)

    def _expected(self) -> str:
        return ", ".join([*self.environment.forms, *(entry.form for entry in self.workspace.manual)])


def system_prompt(environment: Environment, workspace: Workspace, free_meta: int = 0) -> str:
    """Return what the agent is told once: the environment, its actions, and the meta-actions that are on."""
    lines = [environment.instructions, ""]
    if workspace.manual:
        price = f"the first {free_meta} are free, then each costs a step" if free_meta else "each costs a step"
        lines += [f"Calls of your harness, {price} as well:"]
        lines += [f"{entry.form} {entry.does}" for entry in workspace.manual]
        lines += [""]
    lines += [f"Actions: {', '.join(environment.forms)}", ""]
    lines += [f"Reply with one action on one line, for example: {environment.example}"]
    return "\n".join(lines)
