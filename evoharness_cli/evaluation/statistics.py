"""Intervals and comparisons of success rates."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt

Z95 = 1.959963984540054
"""The 97.5 per cent quantile of the normal distribution."""


def wilson(successes: int, n: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a success rate, (0, 1) where nothing was tried.

    With p = successes/n: (p + z²/2n ± z·√(p(1-p)/n + z²/4n²)) / (1 + z²/n) (Wilson, JASA 22, 1927).
    """
    if n == 0:
        return 0.0, 1.0
    p = successes / n
    centre = p + z * z / (2 * n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((centre + sign * half) / (1 + z * z / n) for sign in (-1, 1))
    return (0.0 if successes == 0 else low), (1.0 if successes == n else high)


def mcnemar(pairs: Sequence[tuple[bool, bool]]) -> tuple[int, int, float]:
    """Compare two methods on the same games: how many only the first won, how many only the second, and the p-value.

    The exact two-sided test: given b + c games that exactly one method won, the smaller count is binomial with chance
    1/2 (McNemar, Psychometrika 12, 1947).
    """
    first = sum(one and not other for one, other in pairs)
    second = sum(other and not one for one, other in pairs)
    n = first + second
    tail = sum(comb(n, k) for k in range(min(first, second) + 1)) / 2**n
    return first, second, min(1.0, 2 * tail)
