"""In which order examples are learnt, and how fast: functions of the update's number, so that a resumed run goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Order:
    """`count` examples in batches of `batch`, each epoch in an order of its own; its last batch may be smaller."""

    count: int
    batch: int
    seed: int

    @property
    def batches(self) -> int:
        """How many batches an epoch has."""
        return -(-self.count // self.batch)

    def of(self, update: int) -> list[int]:
        """Return which examples the batch of an update holds; updates are counted from 0."""
        epoch, number = divmod(update, self.batches)
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        order: list[int] = torch.randperm(self.count, generator=generator).tolist()
        return order[number * self.batch : (number + 1) * self.batch]


def learning_rate(update: int, updates: int, peak: float, warmup: float) -> float:
    """Return the learning rate of an update, counted from 0: a linear rise to `peak`, then a half cosine to a tenth.

    `warmup` is the share of all updates that the rise takes, at least one.
    """
    rise = max(1, round(updates * warmup))
    if update < rise:
        return peak * (update + 1) / rise
    done = (update - rise) / max(1, updates - rise)
    return peak * (0.1 + 0.9 * (1 + math.cos(math.pi * done)) / 2)
