"""How what is only there to make a policy try things fades while it learns."""

from __future__ import annotations

import math


def annealed(update: int, updates: int) -> float:
    """Return what is left after `update` updates of a weight that is gone after `updates`: from 1 down to 0.

        1/2 (1 + cos(pi min(u, U) / U))

    the schedule of the diversity term of EvoHarness-RL (arXiv 2608.05446). With `updates` 0 nothing is left at once.
    """
    if updates <= 0:
        return 0.0
    return (1 + math.cos(math.pi * min(update, updates) / updates)) / 2
