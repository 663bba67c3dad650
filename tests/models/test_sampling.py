from __future__ import annotations

import numpy as np
import pytest

from evoharness_cli.models.sampling import Sampling

LOGITS = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))


def frequencies(sampling: Sampling, draws: int = 20_000) -> list[float]:
    random = np.random.default_rng(7)
    counts = np.bincount([sampling.choose(LOGITS, random) for _ in range(draws)], minlength=4)
    return list(counts / draws)


def test_temperature_zero_takes_the_likeliest() -> None:
    assert frequencies(Sampling(0.0), 10) == [1, 0, 0, 0]


def test_temperature_one_follows_the_model() -> None:
    assert frequencies(Sampling(1.0)) == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.015)


def test_a_lower_temperature_sharpens() -> None:
    squares = np.array([0.25, 0.09, 0.0225, 0.0025])
    assert frequencies(Sampling(0.5)) == pytest.approx(list(squares / squares.sum()), abs=0.015)


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    assert frequencies(Sampling(1.0, 0.6)) == pytest.approx([0.625, 0.375, 0, 0], abs=0.015)
    assert frequencies(Sampling(1.0, 0.4)) == [1, 0, 0, 0]


def test_the_order_of_the_vocabulary_doesnt_matter() -> None:
    random = np.random.default_rng(1)
    chosen = {Sampling(1.0, 0.75).choose(LOGITS[::-1], random) for _ in range(500)}
    assert chosen == {3, 2}


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1.0), Sampling(1.0, 0.9), Sampling(0.01, 0.9)])
def test_what_is_ruled_out_is_never_chosen(sampling: Sampling) -> None:
    random = np.random.default_rng(2)
    logits = np.full(1000, -np.inf, np.float32)
    logits[[3, 999]] = [5.0, 4.0]
    assert {sampling.choose(logits, random) for _ in range(200)} <= {3, 999}
