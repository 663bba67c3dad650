"""The workspace H = (B, P, E): answers the four meta-actions and absorbs what the environment showed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from .actions import MetaAction
from .belief import Belief, Fact
from .progress import Progress
from .protocols import Answer, Condition, Experience


class Part(str, Enum):
    """A kind of state, each of which can be left out."""

    BELIEF = "belief"
    PROGRESS = "progress"
    EXPERIENCE = "experience"


@dataclass(frozen=True)
class Manual:
    """A form in which a meta-action can be called: the part it needs, its verb and what it does."""

    part: Part
    verb: str
    form: str
    does: str


MANUAL = (
    Manual(Part.BELIEF, "track", "track [thing]", "says where a thing was seen; track [] sums up where you are"),
    Manual(Part.PROGRESS, "commit", "commit [a | b | c]", "sets a plan of subgoals, `b needs a` where it depends"),
    Manual(Part.PROGRESS, "commit", "commit [done]", "closes the open subgoal; or commit [blocked: why]"),
    Manual(Part.EXPERIENCE, "recall", "recall [query]", "asks what past tasks taught"),
    Manual(Part.EXPERIENCE, "note", "note [insight]", "keeps an insight for future tasks"),
    Manual(Part.BELIEF, "note", "note [fact: a | relation | b]", "writes down a fact"),
)


class Workspace:
    """Belief, Progress and Experience of one episode. A part that is off isn't advertised and answers so.

    Without any part the agent acts alone, as in ReAct.
    """

    def __init__(
        self,
        goal: str,
        evidence: Callable[[str], Condition | None],
        experience: Experience | None = None,
        parts: Iterable[Part] = tuple(Part),
    ) -> None:
        self.parts = frozenset(parts)
        self.belief = Belief()
        self.progress = Progress(goal, evidence)
        self._goal = self._first_goal = goal
        self._experience = experience
        self._latest = ""
        self._panel_recall: str | None = None

    def aim(self, goal: str) -> None:
        """Take in that something else is to be done from now on; what is planned stays until a new plan is made."""
        self._goal = self.progress.goal = goal
        self._panel_recall = None

    @property
    def manual(self) -> list[Manual]:
        """The forms of the meta-actions that are on, as the agent is told them."""
        return [entry for entry in MANUAL if entry.part in self.parts]

    @property
    def verbs(self) -> list[str]:
        """The verbs that are on."""
        return list(dict.fromkeys(entry.verb for entry in self.manual))

    def summary(self) -> str:
        """Render belief and progress, to stand for the exchanges that are left out of a full context."""
        return "\n".join(["(The oldest steps are left out here.)", *self._aim(), *self._state()])

    def panel(self) -> str:
        """Render the whole workspace, to be shown each turn: belief, progress, and what is recalled of the goal."""
        lines = self._state()
        if Part.EXPERIENCE in self.parts:
            if self._panel_recall is None:
                self._panel_recall = self._recall(self._goal, 0).text
            lines += [f"Experience: {self._panel_recall}"]
        return "\n".join(lines)

    def _aim(self) -> list[str]:
        return [f"Your task is now to: {self._goal}"] if self._goal != self._first_goal else []

    def _state(self) -> list[str]:
        lines = []
        if Part.BELIEF in self.parts:
            lines += [f"Belief: {self.belief.situation()}"]
            lines += [f"Known: {'; '.join(str(known.fact) for known in self.belief.things())}."]
        if Part.PROGRESS in self.parts and self.progress.plan:
            lines += [f"Plan: {' | '.join(map(str, self.progress.plan))}. {self.progress.summary()}."]
        return lines

    def absorb(self, observation: str, facts: Sequence[Fact], step: int) -> list[Fact]:
        """Take in an observation and the facts read from it; return those that were news."""
        self._latest = observation
        return self.belief.absorb(facts, step)

    def answer(self, action: MetaAction, step: int) -> Answer:
        """Answer a meta-action; the entries named are those that experience recalled."""
        if action.verb not in self.verbs:
            return Answer(f"{action.verb} is off in this run")
        if action.verb == "recall":
            return self._recall(action.argument, step)
        if action.verb == "note" and not _is_fact(action.argument):
            return Answer(self._note(action.argument, step))
        return Answer(self._change(action, step))

    def replay(self, action: MetaAction, step: int) -> None:
        """Redo what a recorded meta-action did to belief and progress; experience keeps its own record."""
        if action.verb in self.verbs and (action.verb in ("track", "commit") or _is_fact(action.argument)):
            self._change(action, step)

    def _change(self, action: MetaAction, step: int) -> str:
        if action.verb == "commit":
            said = self.progress.commit(action.argument, self.belief)
            return f"{said}. {bearing}" if (bearing := self._bearing(said)) else said
        if action.verb == "note":
            return self._note_fact(action.argument, step)
        if action.argument:
            return self.belief.track(action.argument)
        progress = f" {self.progress.summary()}." if Part.PROGRESS in self.parts else ""
        return self.belief.situation() + progress

    def _bearing(self, said: str) -> str:
        """Say what belief knows of the open subgoal, where an answer of progress ends with it."""
        current = self.progress.current
        if current is None or Part.BELIEF not in self.parts or not said.endswith(f"now: {current.name}"):
            return ""
        return self.belief.bearing(current.name)

    def _recall(self, query: str, step: int) -> Answer:
        if self._experience is None:
            return Answer("nothing relevant in experience")
        return self._experience.recall(query or self._goal, step)

    def _note(self, insight: str, step: int) -> str:
        if Part.EXPERIENCE not in self.parts or self._experience is None:
            return "experience is off in this run; note [fact: a | relation | b] writes belief"
        return self._experience.note(insight, step, self._latest)

    def _note_fact(self, argument: str, step: int) -> str:
        if Part.BELIEF not in self.parts:
            return "belief is off in this run"
        parts = [part.strip() for part in argument.split(":", 1)[1].split("|")]
        if len(parts) != 3 or not all(parts):
            return "not noted: expected note [fact: a | relation | b]"
        fact = Fact(*parts)
        self.belief.note(fact, step)
        return f"noted: {fact}"


def _is_fact(argument: str) -> bool:
    return argument.lower().replace(" ", "").startswith("fact:")
