"""Progress: subgoals that are open, done or blocked, what they depend on, and the evidence asked of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from .belief import Belief
from .protocols import Condition


class Status(str, Enum):
    """Where a subgoal stands."""

    OPEN = "open"
    DONE = "done"
    BLOCKED = "blocked"


@dataclass
class Subgoal:
    """One part of the plan. `proven` tells evidence from the agent's word once it is done."""

    name: str
    needs: tuple[str, ...] = ()
    status: Status = Status.OPEN
    proven: bool = False
    why: str = ""

    def __str__(self) -> str:
        if self.status is Status.BLOCKED:
            return f"{self.name} (blocked: {self.why})"
        if self.status is Status.DONE:
            return f"{self.name} ({'done' if self.proven else 'done on your word'})"
        return self.name


@dataclass
class Progress:
    """The plan of one episode. `evidence` gives the condition of a subgoal where the environment knows one."""

    goal: str
    evidence: Callable[[str], Condition | None]
    plan: list[Subgoal] = field(default_factory=list)
    current: Subgoal | None = None

    def commit(self, argument: str, belief: Belief) -> str:
        """Answer `commit [...]`: set a plan, open a subgoal, or close the current one."""
        word, _, rest = argument.partition(":")
        word = word.strip(" .").lower()
        if word == "blocked":
            return self._block(rest.strip())
        if "|" in argument:
            return self._set_plan(argument)
        if word == "done":
            return self._close(belief)
        return self._open(argument, belief)

    def summary(self) -> str:
        """Say what is open, or that no plan was made."""
        if self.current:
            return f"open subgoal: {self.current.name}"
        return "no subgoal is open" if self.plan else "no plan"

    def _set_plan(self, argument: str) -> str:
        wanted = [_parse(part) for part in argument.split("|") if part.strip()]
        new = {_key(subgoal.name) for subgoal in wanted}
        # A done subgoal that is planned anew is to be done again.
        kept = [each for each in self.plan if each.status is Status.DONE and _key(each.name) not in new]
        names = new | {_key(subgoal.name) for subgoal in kept}
        if not wanted:
            return "not a plan: expected commit [a | b | c]"
        if len(new) < len(wanted):
            return "not a plan: two subgoals have the same name"
        if missing := [need for subgoal in wanted for need in subgoal.needs if _key(need) not in names]:
            return f"not a plan: {missing[0]} is needed but not in the plan"
        if _circular(wanted):
            return "not a plan: its subgoals need each other in a circle"
        self.plan = kept + wanted
        self.current = None
        self._advance()
        return f"plan: {' | '.join(subgoal.name for subgoal in wanted)}. {self._now()}"

    def _open(self, argument: str, belief: Belief) -> str:
        wanted = _parse(argument)
        if missing := [need for need in wanted.needs if self._find(need) is None]:
            return f"not opened: {missing[0]} is needed but not in the plan"
        subgoal = self._find(wanted.name) or wanted
        needs = tuple(dict.fromkeys([*subgoal.needs, *wanted.needs]))
        if _circular([*(each for each in self.plan if each is not subgoal), Subgoal(subgoal.name, needs)]):
            return f"not opened: {subgoal.name} and what it needs would need each other in a circle"
        subgoal.needs = needs
        before, said = self.current, ""
        if before is subgoal:
            return self._now()
        # What is open may be the very thing that is needed, so it is closed first unless another need stands.
        waiting = self._waiting(subgoal, besides=before)
        if before and not waiting:
            missing_now = self._mark_done(before, belief)
            said = f"still open: {before.name} ({missing_now}). " if missing_now else f"{_said_done(before)}. "
            waiting = self._waiting(subgoal)
        if waiting:
            return f"{said}not yet: {subgoal.name} needs {waiting.name}, which is {waiting.status.value}. {self._now()}"
        if self._find(subgoal.name) is None:
            self.plan.append(subgoal)
        subgoal.status, subgoal.why, subgoal.proven = Status.OPEN, "", False
        self.current = subgoal
        return said + self._now()

    def _close(self, belief: Belief) -> str:
        subgoal = self.current
        if subgoal is None:
            return self._now()
        if missing := self._mark_done(subgoal, belief):
            return f"not yet: {missing}. {self._now()}"
        closed = [subgoal]
        self._advance()
        # What was done meanwhile needs no call of its own, where there is evidence of it.
        while self.current and self.evidence(self.current.name) and not self._mark_done(self.current, belief):
            closed.append(self.current)
            self._advance()
        return f"{'; '.join(map(_said_done, closed))}. {self._now()}"

    def _block(self, why: str) -> str:
        subgoal = self.current
        if subgoal is None:
            return f"nothing to block: {self._now()}"
        subgoal.status, subgoal.why = Status.BLOCKED, why or "no reason given"
        self._advance()
        return f"blocked: {subgoal.name}. {self._now()}"

    def _mark_done(self, subgoal: Subgoal, belief: Belief) -> str | None:
        """Close a subgoal if its evidence is there; else return what is missing."""
        condition = self.evidence(subgoal.name)
        missing = condition(belief) if condition else None
        if missing is None:
            subgoal.status, subgoal.proven = Status.DONE, condition is not None
        return missing

    def _advance(self) -> None:
        ready = (each for each in self.plan if each.status is Status.OPEN and not self._waiting(each))
        self.current = next(ready, None)

    def _now(self) -> str:
        """Say what is next; never that all is done, for the environment alone knows that."""
        if self.current:
            return f"now: {self.current.name}"
        if not self.plan:
            return f"no subgoal is open; the task is: {self.goal}"
        if left := [each for each in self.plan if each.status is not Status.DONE]:
            return f"no subgoal can go on: {'; '.join(self._stuck(each) for each in left)}"
        return f"every subgoal is done, but the task goes on: {self.goal}"

    def _stuck(self, subgoal: Subgoal) -> str:
        waiting = self._waiting(subgoal)
        if subgoal.status is Status.OPEN and waiting:
            return f"{subgoal.name} needs {waiting.name}, which is {waiting.status.value}"
        return str(subgoal)

    def _waiting(self, subgoal: Subgoal, besides: Subgoal | None = None) -> Subgoal | None:
        """Return a subgoal that has to be done before this one and is not."""
        needed = (self._find(need) for need in subgoal.needs)
        return next((each for each in needed if each and each is not besides and each.status is not Status.DONE), None)

    def _find(self, name: str) -> Subgoal | None:
        return next((each for each in self.plan if _key(each.name) == _key(name)), None)


def recorded_evidence(answer: str) -> Callable[[str], Condition | None]:
    """Return the evidence of subgoals, by name, as it was when `commit` was answered so: to replay a record by."""

    def evidence(name: str) -> Condition | None:
        told = re.search(rf"(?:^|; )done( on your word)?: {re.escape(name)}(?:; |\. |$)", answer)
        if told and told[1]:
            return None
        missing = None if told else "as recorded"
        return lambda _: missing

    return evidence


def _said_done(subgoal: Subgoal) -> str:
    return f"{'done' if subgoal.proven else 'done on your word'}: {subgoal.name}"


def _key(name: str) -> str:
    return " ".join(name.lower().split())


def _parse(text: str) -> Subgoal:
    """Read `name` or `name needs other, another`."""
    name, _, needs = " ".join(text.split()).partition(" needs ")
    return Subgoal(name.strip(), tuple(need.strip() for need in needs.split(",") if need.strip()))


def _circular(plan: list[Subgoal]) -> bool:
    left = {_key(each.name): {_key(need) for need in each.needs} for each in plan}
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    return bool(left)
