"""The mistakes that the teacher makes on purpose, so that demonstrations show how they are recovered from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 3
"""Mistakes in an episode."""
_AGAIN = 0.3
"""The chance that what was refused is tried again, each time."""
_MOST_TIMES = 3


@dataclass(frozen=True)
class Mistake:
    """A wrong reply, which kind of mistake it is, and how likely it is beside others."""

    kind: str
    text: str
    weight: float = 1.0


class Mistakes:
    """Decides when a mistake is made, by a seeded generator and a chance before each action."""

    def __init__(self, rng: random.Random, chance: float) -> None:
        self._rng, self._chance = rng, chance
        self._made = 0

    def choose(self, possible: Sequence[Mistake]) -> Mistake | None:
        """Return one of the mistakes that are possible now, or None, as mostly."""
        # One number is drawn each time, so that an episode goes on the same whatever was possible before.
        is_time = self._rng.random() < self._chance
        if not is_time or not possible or self._made >= MOST:
            return None
        self._made += 1
        return self._rng.choices(possible, [each.weight for each in possible])[0]

    def times(self) -> int:
        """Return how often in a row what is refused is tried."""
        times = 1
        while times < _MOST_TIMES and self._rng.random() < _AGAIN:
            times += 1
        return times

    def happens(self, chance: float) -> bool:
        """Tell, at random, whether something happens that does with a chance."""
        return self._rng.random() < chance

    def pick(self, names: Sequence[str]) -> str:
        """Return one of the names, which is drawn evenly."""
        return self._rng.choice(names)
