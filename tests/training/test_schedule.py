from __future__ import annotations

import pytest

pytest.importorskip("torch")

from evoharness_cli.training.schedule import Order, learning_rate


def test_each_epoch_shows_each_example_once_in_an_order_of_its_own() -> None:
    order = Order(count=10, batch=4, seed=3)
    assert order.batches == 3
    epochs = [[order.of(3 * epoch + number) for number in range(3)] for epoch in range(2)]
    for epoch in epochs:
        assert [len(batch) for batch in epoch] == [4, 4, 2]
        assert sorted(index for batch in epoch for index in batch) == list(range(10))
    assert epochs[0] != epochs[1]
    assert epochs[0][0] == Order(count=10, batch=4, seed=3).of(0) != Order(count=10, batch=4, seed=4).of(0)


def test_the_rate_rises_and_then_falls_to_a_tenth() -> None:
    rates = [learning_rate(update, 100, 1.0, 0.1) for update in range(100)]
    assert rates[:10] == pytest.approx([0.1 * step for step in range(1, 11)])
    assert rates[10] == 1.0
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[-1] == pytest.approx(0.1, abs=1e-3)
    assert learning_rate(0, 1, 1.0, 0.05) == 1.0
