"""The statistics, against values worked out elsewhere."""

from __future__ import annotations

import pytest

from evoharness_cli.evaluation.statistics import mcnemar, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_the_wilson_interval(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_mcnemar_counts_only_games_that_one_method_won() -> None:
    both = [(True, True)] * 50 + [(False, False)] * 30

    assert mcnemar(both) == (0, 0, 1.0)
    assert mcnemar([*both, *[(True, False)] * 9, (False, True)]) == (9, 1, pytest.approx(22 / 1024))
    assert mcnemar([*both, *[(True, False)] * 3, *[(False, True)] * 3]) == (3, 3, 1.0)
