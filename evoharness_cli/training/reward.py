"""What an episode is worth: the published reward of EvoHarness-RL, term by term, and prices besides.

With |t| of T charged steps used, after u updates, S steps that repeat the one before and I invalid ones
(arXiv 2608.05446):

    R = 10 won + won (T - |t|) / T + d(u) R_div - 0.1 min(S, 10) - 0.1 I

R_div is the share of the four meta-actions that were used, d(u) fades (`annealing`). This project adds two terms, both
0 unless asked for:

    + e d(u) N - won g c / (g + c)

N is the share of steps whose observation was new in the episode, so that it pays to look around while e d(u) lasts. c
adds up the prices of calls and tokens; g is how far the worst win is above the best loss, so a dear win is still worth
more than any loss, and nothing is gained by losing cheaply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap

from ..harness import VERBS, Step, WrongUsage
from .annealing import annealed


@dataclass(frozen=True)
class RewardSettings:
    """The weight of each term. Prices are in units of reward."""

    won: float = 10.0
    efficiency: float = 1.0
    diversity: float = 1.0
    """At the first update."""
    exploration: float = 0.0
    """At the first update."""
    repeat: float = 0.1
    """For each repeated step, ten at most."""
    invalid: float = 0.1
    """For each invalid step."""
    anneal_updates: int = 100
    """After so many updates diversity and exploration count nothing."""
    verb_prices: Mapping[str, float] = field(default_factory=dict)
    """For each call of a meta-action, by verb."""
    read_price: float = 0.0
    """For each token that is read after the opening. Reading and writing take the time of an episode, so that these
    prices are also those of time, which itself differs between machines and can't be learnt from reproducibly."""
    write_price: float = 0.0
    """For each token that is written."""

    def gap(self, budget: int) -> float:
        """Return how far the worst win of an episode of `budget` charged steps is above the best loss."""
        worst = self.won - self.repeat * MOST_REPEATS - self.invalid * budget
        return worst - self.diversity - self.exploration

    def check(self, budget: int) -> None:
        """Raise WrongUsage where a verb isn't one, or where prices can't be kept under the gap."""
        if unknown := sorted(set(self.verb_prices) - set(VERBS)):
            raise WrongUsage(f"Expected prices for {', '.join(VERBS)}, found one for {unknown[0]}.")
        if min([self.read_price, self.write_price, *self.verb_prices.values()]) < 0:
            raise WrongUsage("Expected prices of 0 or more, found one below.")
        if self._prices and self.gap(budget) <= 0:
            raise WrongUsage(
                f"With {budget} steps a lost episode can be worth as much as a won one, so that nothing can have a "
                "price: take fewer steps, or lower the penalty of invalid ones."
            )

    @property
    def _prices(self) -> bool:
        return bool(self.read_price or self.write_price or any(self.verb_prices.values()))


MOST_REPEATS = 10
"""Repeated steps that are counted."""


@dataclass(frozen=True)
class Reward:
    """What an episode is worth, by term; penalties and prices are negative."""

    terms: Mapping[str, float]

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.terms.values())


def reward(steps: Sequence[Step], won: bool, budget: int, update: int, settings: RewardSettings) -> Reward:
    """Return what an episode is worth after `update` updates; `budget` is in charged steps, and step 0 the opening."""
    replies = steps[1:]
    fading = annealed(update, settings.anneal_updates)
    left = (budget - sum(step.charged for step in replies)) / budget
    verbs = {step.kind for step in replies} & set(VERBS)
    repeats = min(sum(starmap(is_repeat, pairwise(replies))), MOST_REPEATS)
    return Reward(
        {
            "won": settings.won * won,
            "efficiency": settings.efficiency * won * left,
            "diversity": settings.diversity * fading * len(verbs) / len(VERBS),
            "exploration": settings.exploration * fading * _novelty(steps),
            "repeats": -settings.repeat * repeats,
            "invalid": -settings.invalid * sum(step.invalid for step in replies),
            "cost": -_bounded(_cost(replies, settings), settings.gap(budget)) * won,
        }
    )


def step_rewards(steps: Sequence[Step], found: Reward, settings: RewardSettings) -> list[float]:
    """Return the reward of each reply, which add up to `found`: penalties where they arose, the rest at the end."""
    replies = steps[1:]
    rewards = [-settings.invalid * step.invalid for step in replies]
    repeats = [number for number in range(1, len(replies)) if is_repeat(replies[number - 1], replies[number])]
    for number in repeats[:MOST_REPEATS]:
        rewards[number] -= settings.repeat
    if rewards:
        rewards[-1] += found.total - found.terms["repeats"] - found.terms["invalid"]
    return rewards


def is_repeat(before: Step, step: Step) -> bool:
    """Tell whether a step does what the one before did."""
    return (before.kind, before.action) == (step.kind, step.action)


def _novelty(steps: Sequence[Step]) -> float:
    seen = {steps[0].observation}
    new = 0
    for step in steps[1:]:
        new += step.observation not in seen
        seen.add(step.observation)
    return new / max(1, len(steps) - 1)


def _cost(replies: Sequence[Step], settings: RewardSettings) -> float:
    calls = sum(settings.verb_prices.get(step.kind, 0.0) for step in replies)
    written = sum(step.completion_tokens for step in replies)
    read = sum(
        max(0, after.prompt_tokens - before.prompt_tokens - before.completion_tokens)
        for before, after in pairwise(replies)
    )
    return calls + settings.read_price * read + settings.write_price * written


def _bounded(cost: float, gap: float) -> float:
    """Return about the cost where it is small, and never as much as the gap."""
    return gap * cost / (gap + cost) if cost > 0 else 0.0
