"""Progress and notes of belief, step by step, from what was recorded; the environment isn't needed for it."""

from __future__ import annotations

from collections.abc import Iterable

from ..harness import Part, Workspace
from ..harness.actions import MetaAction, read_action
from ..harness.progress import recorded_evidence

Subgoals = list[tuple[str, str, str, bool]]
"""A plan: of each subgoal its name, its status, what is to be said of that, and whether it is worked on."""


class Replay:
    """Applies the recorded calls of one episode again.

    Whether there was evidence for a subgoal is read from the answer that the agent was given.
    """

    def __init__(self, goal: str, parts: Iterable[Part]) -> None:
        self._answer = ""
        self._workspace = Workspace(goal, lambda name: recorded_evidence(self._answer)(name), None, parts)

    def apply(self, number: int, action: str, answer: str) -> None:
        """Apply a call, which was answered so."""
        call = read_action(action)
        if isinstance(call, MetaAction):
            self._answer = answer
            self._workspace.replay(call, number)

    def plan(self) -> Subgoals:
        """Return the plan as it is now."""
        progress = self._workspace.progress
        return [
            (each.name, each.status.value, _said(str(each), each.name, each.needs), each is progress.current)
            for each in progress.plan
        ]

    def noted(self, number: int) -> list[tuple[str, str, str]]:
        """Return the facts that the agent wrote down at a step."""
        return [
            (known.fact.subject, known.fact.relation, known.fact.object)
            for known in self._workspace.belief.all()
            if known.noted and known.step == number
        ]


def _said(shown: str, name: str, needs: tuple[str, ...]) -> str:
    """Return what the harness says of a subgoal besides its name."""
    words = shown.removeprefix(name).strip(" ()")
    return "; ".join(filter(None, (words, f"needs {', '.join(needs)}" if needs else "")))
