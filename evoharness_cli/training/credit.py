"""From episodes to what their replies are weighed with: rewards, advantages, and what forks found out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..harness.episode import ENVIRONMENT
from .advantage import Decision, Group, group_advantages, step_advantages
from .counterfactual import Fork
from .grpo import Weighed
from .reward import Reward, step_rewards
from .rl_settings import RlSettings
from .rollouts import Rollout


@dataclass(frozen=True)
class ScoredGroup:
    """The episodes of one game, what they are worth, and their advantages; `group` is None where all are the same."""

    rollouts: tuple[Rollout, ...]
    rewards: tuple[Reward, ...]
    group: Group | None


def score_group(rollouts: Sequence[Rollout], rewards: Sequence[Reward]) -> ScoredGroup:
    """Return a game's episodes with their advantages."""
    group = group_advantages([each.total for each in rewards], [each.won for each in rollouts])
    return ScoredGroup(tuple(rollouts), tuple(rewards), group)


def weigh(groups: Sequence[ScoredGroup], forks: Sequence[Fork], settings: RlSettings) -> list[Weighed]:
    """Return the episodes of groups that teach something, with the advantage of each reply.

        A of a reply = A of its episode + step_credit * A of its step + fork_weight * value of its call / scale

    where the scale is what the group's advantages were divided by.
    """
    values = {(fork.rollout.episode, fork.step): fork.value for fork in forks}
    found: list[Weighed] = []
    for scored in groups:
        if scored.group is not None:
            found += _weigh(scored, scored.group, values, settings)
    return found


def _weigh(
    scored: ScoredGroup, group: Group, values: Mapping[tuple[int, int], float], settings: RlSettings
) -> list[Weighed]:
    by_step = [[0.0] * len(each.turns) for each in scored.rollouts]
    if settings.step_credit:
        episodes = [_decisions(*each, settings) for each in zip(scored.rollouts, scored.rewards, strict=True)]
        by_step = step_advantages(episodes, settings.discount)
    found = []
    for rollout, advantage, steps in zip(scored.rollouts, group.advantages, by_step, strict=True):
        advantages = [
            advantage
            + settings.step_credit * step
            + settings.fork_weight * values.get((rollout.episode, number), 0.0) / group.scale
            for number, step in enumerate(steps, 1)
        ]
        found.append(Weighed(rollout.turns, advantages))
    return found


def _decisions(rollout: Rollout, reward: Reward, settings: RlSettings) -> list[Decision]:
    """Return the replies of an episode with the state in which each was chosen.

    What the agent saw last stands for it: of the environment, and of its harness where it asked it since.
    """
    rewards = step_rewards(rollout.steps, reward, settings.reward)
    found, seen = list[Decision](), rollout.steps[0].observation
    for before, worth in zip(rollout.steps, rewards, strict=False):
        if before.kind == ENVIRONMENT:
            seen = before.observation
        found.append(Decision((seen, before.observation), worth))
    return found
