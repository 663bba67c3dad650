"""How much better than expected an episode was, or a step of it: what its tokens are weighed with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_SAME = 1e-9
"""Rewards that differ by no more are the same."""


@dataclass(frozen=True)
class Group:
    """The advantages of the episodes of one task, and the deviation by which they were divided."""

    advantages: tuple[float, ...]
    scale: float


def group_advantages(rewards: Sequence[float], won: Sequence[bool]) -> Group | None:
    """Return the advantages of episodes of one task, None where all are worth the same, which teaches nothing.

        A_i = (R_i - mean R) / max(1, deviation of R), and A_i = R_i - mean R where all were won

    Group-relative advantages are those of GRPO (Shao et al. 2024, arXiv 2402.03300). Dividing by a small deviation
    would blow up what tells wins apart, a few steps, to the size of what tells a win from a loss (Liu et al. 2025,
    arXiv 2503.20783), so a deviation below 1 never divides.
    """
    mean = sum(rewards) / len(rewards)
    if max(rewards) - min(rewards) <= _SAME:
        return None
    deviation = math.sqrt(sum((each - mean) ** 2 for each in rewards) / len(rewards))
    scale = 1.0 if all(won) else max(1.0, deviation)
    return Group(tuple((each - mean) / scale for each in rewards), scale)


@dataclass(frozen=True)
class Decision:
    """A step of an episode: what was before the agent when it chose, and what came of it at once."""

    anchor: tuple[str, ...]
    """Steps with the same anchor were chosen in the same state."""
    reward: float


def step_advantages(episodes: Sequence[Sequence[Decision]], discount: float) -> list[list[float]]:
    """Return the advantage of each step among those of its group's episodes that were chosen in the same state.

        A_t = (G_t - mean G) / max(1, deviation of G),   G_t = sum_k discount^k r_(t+k)

    over the steps that share an anchor; 0 for a step that is alone (GiGPO, Feng et al. 2025, arXiv 2505.10978).
    """
    returns = [_returns([step.reward for step in steps], discount) for steps in episodes]
    together: dict[tuple[str, ...], list[float]] = {}
    for steps, found in zip(episodes, returns, strict=True):
        for step, value in zip(steps, found, strict=True):
            together.setdefault(step.anchor, []).append(value)
    return [
        [_standing(value, together[step.anchor]) for step, value in zip(steps, found, strict=True)]
        for steps, found in zip(episodes, returns, strict=True)
    ]


def _returns(rewards: Sequence[float], discount: float) -> list[float]:
    found: list[float] = []
    following = 0.0
    for each in reversed(rewards):
        following = each + discount * following
        found.append(following)
    return found[::-1]


def _standing(value: float, others: Sequence[float]) -> float:
    mean = sum(others) / len(others)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in others) / len(others))
    return (value - mean) / max(1.0, deviation)
