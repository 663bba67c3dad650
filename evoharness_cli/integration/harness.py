"""The harness around another program's agent: one task, from its goal to its outcome."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from ..experience import journal
from ..experience.entries import scopes_above
from ..experience.policies import DEFAULT, load_policy
from ..experience.store import Store, default_path, storable
from ..experience.vocabulary import RunStatus
from ..experience.withdrawing import withdraw
from ..harness import (
    VERBS,
    Answer,
    Brief,
    Condition,
    Decode,
    EnvironmentAction,
    Fact,
    MetaAction,
    Outcome,
    Step,
    Workspace,
    WrongUsage,
)
from ..harness.actions import read_action
from ..harness.episode import ENVIRONMENT, FORMAT
from ..runs.outside import begin
from ..runs.task import Task
from .tools import TOOLS, Tool

Facts = Iterable[Fact | tuple[str, str, str]]
"""What an observation showed: facts, or triples of subject, relation and object."""

NOWHERE = "outside"
"""The environment of a task whose scope is the general one."""


class UnknownVerb(WrongUsage):
    """None of the four verbs has this name."""


class UnknownOutcome(WrongUsage):
    """A task can't end like this."""


class TaskOver(WrongUsage):
    """The task was finished or abandoned; nothing can be added to it."""


class Harness:
    """Belief, Progress and Experience of one task that another program's agent does.

        with Harness("experience.db", "make tea", scope="household") as harness:
            harness.call("recall", "tea")
            harness.observe("The kettle is hot.", [("kettle", "hot", "yes")], action="boil water")
            harness.finish("won")

    Every call and observation is a step of an episode, in the store before the method returns, as when a task is played
    by `evoharness run`. What is noted counts from `finish` on, which also votes on what was recalled and learns where
    things were seen. A task that ends otherwise is abandoned: it teaches nothing. Calls may come from any thread; they
    are taken one at a time.
    """

    def __init__(
        self,
        store: str | Path | None,
        goal: str,
        scope: str = "",
        world: str = "",
        *,
        kind: str = "",
        evidence: Callable[[str], Condition | None] = lambda _: None,
        observation: str = "",
        facts: Facts = (),
        agent: str = "another agent",
    ) -> None:
        """Begin a task in the store's file, which is made where there is none; None is the default store.

        `scope` says where in experience to recall and note; its first part stands for the environment. `world` names
        the state that the task begins in: what was seen at a place holds in that world alone (all tasks of a scope
        share one by default). `kind` groups tasks whose success rates compare, for the votes. `evidence` gives the
        condition under which a subgoal is done, where there is one. `observation` and its `facts` are what is seen at
        first, and `agent` is who does the task.

        Raises StoreError and its kin for a store that can't be used, PrivateScope for a memory policy's scope.
        """
        scope = storable(scopes_above(scope)[-1])
        environment = scope.partition("/")[0] or NOWHERE
        brief = Brief(goal, storable(kind), storable(world) or scope or NOWHERE)
        task = Task(goal, agent, environment, {}, goal, scope, decode=Decode.FREE.value)
        self._lock = threading.RLock()
        self._over = ""
        self._store = Store.open(Path(store) if store is not None else default_path())
        try:
            self.run, self.episode = begin(self._store, task, brief, agent)
            self._memory = load_policy(DEFAULT)
            experience = self._memory.open(self._store, self.episode, scope, brief.world, True)
            self._workspace = Workspace(goal, evidence, experience)
            self._steps = 0
            self.observe(observation, facts)
        except BaseException:
            self._store.close()
            raise

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The four verbs as tools for a language model; what it says of one goes to `call`."""
        return TOOLS

    def call(self, verb: str, argument: str = "") -> str:
        """Answer one of the four verbs, `track`, `commit`, `recall` or `note`; the answer is for the agent to read.

        Raises UnknownVerb, TaskOver, and StoreError where the step can't be recorded.
        """
        if verb not in VERBS:
            raise UnknownVerb(f"Expected one of {', '.join(VERBS)}; found {verb!r}.")
        with self._lock:
            self._require_open()
            began = time.monotonic()
            action = read_action(f"{verb} [{storable(argument)}]")
            assert not isinstance(action, EnvironmentAction)
            # What the step writes to experience and its own record are written together or not at all.
            with self._store.transaction():
                if isinstance(action, MetaAction):
                    kind, answer = verb, self._workspace.answer(action, self._steps)
                else:
                    kind, answer = FORMAT, Answer(f"format error: {action.expected}")
                self._record(
                    Step(
                        number=self._steps,
                        kind=kind,
                        observation=answer.text,
                        reply=action.text,
                        action=action.text,
                        charged=True,
                        invalid=kind == FORMAT,
                        recalled=answer.entries,
                        harness_seconds=time.monotonic() - began,
                    )
                )
            return answer.text

    def observe(self, text: str, facts: Facts = (), *, action: str = "") -> None:
        """Take in what the agent's surroundings showed, with the action that it answers where there was one.

        Belief holds the `facts` alone; the text is kept as what was seen. The relations `at` and `searched` mean to the
        harness what docs/other-agents.md says. Raises TaskOver, and StoreError where the step can't be recorded.
        """
        with self._lock:
            self._require_open()
            news = self._workspace.absorb(text, [_fact(each) for each in facts], self._steps)
            self._record(
                Step(
                    number=self._steps,
                    kind=ENVIRONMENT,
                    observation=text,
                    reply=action,
                    action=action,
                    charged=bool(action),
                    facts=tuple(news),
                )
            )

    def finish(self, outcome: Outcome | str) -> None:
        """End the task as `won`, `lost` or another `Outcome`: notes become active, and what was recalled is voted on.

        Raises UnknownOutcome, TaskOver and StoreError.
        """
        try:
            ended = Outcome(outcome)
        except ValueError:
            known = ", ".join(each.value for each in Outcome)
            raise UnknownOutcome(f"Expected a task to end as one of {known}; found {outcome!r}.") from None
        with self._lock:
            self._require_open()
            won = ended is Outcome.WON
            self._memory.close(self._store, self.episode, ended.value, won, self._workspace.belief, True)
            journal.finish_run(self._store, self.run, RunStatus.FINISHED)
            self._end(f"finished ({ended.value})")

    def abandon(self, why: str) -> None:
        """End the task without an outcome: what it noted is dropped, and its steps are kept as what happened.

        Does nothing where the task is over. Raises StoreError.
        """
        with self._lock:
            if self._over:
                return
            with self._store.transaction():
                withdraw(self._store, self.episode, 0, why)
                journal.fail_episode(self._store, self.episode, f"abandoned: {why}")
                journal.finish_run(self._store, self.run, RunStatus.INTERRUPTED)
            self._end("abandoned")

    def __enter__(self) -> Harness:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abandon(f"it was left by {kind.__name__}" if kind else "it was left without an outcome")

    def _record(self, step: Step) -> None:
        journal.add_step(self._store, self.episode, step)
        self._steps += 1

    def _require_open(self) -> None:
        if self._over:
            raise TaskOver(f"The task of episode {self.episode} is {self._over}; begin another one.")

    def _end(self, how: str) -> None:
        self._over = how
        self._store.close()


def _fact(said: Fact | tuple[str, str, str]) -> Fact:
    subject, relation, object = (said.subject, said.relation, said.object) if isinstance(said, Fact) else said
    return Fact(storable(subject), storable(relation), storable(object))
