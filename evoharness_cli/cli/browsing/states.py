"""What an agent believed and planned after each step, derived from the record without its environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...experience.journal import EpisodeRecord
from ...harness import VERBS, MetaAction, Part, Status, Step, Workspace, parse_reply
from ...harness.progress import recorded_evidence
from ...runs.settings import Method


@dataclass(frozen=True)
class Believed:
    """Where the agent was and what it had searched, and the facts that stood, each with the step that showed it."""

    situation: str
    facts: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """Belief and progress after a step; None for a part that was off."""

    belief: Believed | None
    plan: tuple[tuple[Status, str], ...] | None
    """Each subgoal with where it stands."""
    current: int | None = None
    """Which subgoal was the open one."""


def states(episode: EpisodeRecord, steps: Sequence[Step]) -> list[State]:
    """Return the state after each of the recorded steps.

    Whether there was evidence for a subgoal is taken from what the agent was told. A fact carries the step at which it
    was news, which is all that is recorded.
    """
    told = ""
    parts = Method(episode.settings["method"]).parts
    workspace = Workspace(episode.goal, lambda name: recorded_evidence(told)(name), parts=parts)
    found = []
    for step in steps:
        told = step.observation
        if step.kind in VERBS:
            action = parse_reply(step.reply).action
            if isinstance(action, MetaAction):
                workspace.replay(action, step.number)
        else:
            workspace.absorb(step.observation, step.facts, step.number)
        found.append(state_of(workspace))
    return found


def state_of(workspace: Workspace) -> State:
    """Return what a workspace holds now."""
    belief, progress = workspace.belief, workspace.progress
    known = None
    if Part.BELIEF in workspace.parts:
        known = Believed(belief.situation(), tuple(map(str, belief.things())))
    if Part.PROGRESS not in workspace.parts:
        return State(known, None)
    plan = tuple((subgoal.status, str(subgoal)) for subgoal in progress.plan)
    current = next((place for place, each in enumerate(progress.plan) if each is progress.current), None)
    return State(known, plan, current)
