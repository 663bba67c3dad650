"""Advantages, worked out by hand."""

from __future__ import annotations

import pytest

from evoharness_cli.training.advantage import Decision, group_advantages, step_advantages


def test_a_group_is_measured_by_its_mean_and_deviation() -> None:
    group = group_advantages([10.0, 0.0, 0.0, 10.0], [True, False, False, True])
    assert group is not None
    assert group.advantages == (1.0, -1.0, -1.0, 1.0)
    assert group.scale == 5.0


def test_a_deviation_below_one_blows_nothing_up() -> None:
    group = group_advantages([0.0, -0.1], [False, False])
    assert group is not None
    assert group.advantages == pytest.approx((0.05, -0.05))


def test_where_all_won_nothing_is_divided() -> None:
    group = group_advantages([10.0, 4.0], [True, True])
    assert group is not None
    assert group.advantages == (3.0, -3.0)


def test_a_group_in_which_all_are_worth_the_same_teaches_nothing() -> None:
    assert group_advantages([0.0, 0.0, 0.0], [False] * 3) is None


def test_a_step_is_measured_against_those_in_the_same_state() -> None:
    room, hall = ("room", "room"), ("hall", "hall")
    won = [Decision(room, 0.0), Decision(hall, 10.0)]
    lost = [Decision(room, -0.1), Decision(room, 0.0)]
    advantages = step_advantages([won, lost], 0.5)
    # Returns in the room: 5, -0.1 and 0; their mean is 4.9 / 3.
    mean = 4.9 / 3
    deviation = (((5 - mean) ** 2 + (0.1 + mean) ** 2 + mean**2) / 3) ** 0.5
    assert advantages[0] == pytest.approx([(5 - mean) / deviation, 0.0])
    assert advantages[1] == pytest.approx([(-0.1 - mean) / deviation, -mean / deviation])
