"""Each term of the reward, worked out by hand."""

from __future__ import annotations

import math

import pytest
from stepping import opening, step

from evoharness_cli.harness import WrongUsage
from evoharness_cli.training.annealing import annealed
from evoharness_cli.training.reward import RewardSettings, reward, step_rewards

PLAIN = RewardSettings(diversity=0.0)
WALK = [
    opening(),
    step(1, "go to shelf 1", "A shelf."),
    step(2, "take mug 1", "You take the mug."),
    step(3, "go to sink 1", "A sink."),
]


def test_what_fades_is_whole_at_first_half_in_the_middle_and_gone_at_the_end() -> None:
    assert annealed(0, 8) == 1.0
    assert annealed(4, 8) == pytest.approx(0.5)
    assert annealed(2, 8) == pytest.approx((1 + math.sqrt(0.5)) / 2)
    assert annealed(8, 8) == annealed(20, 8) == 0.0
    assert annealed(0, 0) == 0.0


def test_winning_counts_ten_and_steps_that_are_left_count_one_in_all() -> None:
    won = reward(WALK, True, 30, 0, PLAIN)
    assert (won.terms["won"], won.terms["efficiency"]) == (10.0, pytest.approx(27 / 30))
    assert won.total == pytest.approx(10.9)
    assert reward(WALK, False, 30, 0, PLAIN).total == 0.0


def test_only_charged_steps_are_used_up() -> None:
    free = [opening(), step(1, "recall [mug]", "", "recall", charged=False), step(2, "take mug 1")]
    assert reward(free, True, 10, 0, PLAIN).terms["efficiency"] == pytest.approx(0.9)


def test_each_of_the_four_verbs_counts_once_and_less_with_every_update() -> None:
    steps = [
        opening(),
        step(1, "recall [mug]", kind="recall"),
        step(2, "recall [cup]", kind="recall"),
        step(3, "track []", kind="track"),
        step(4, "", kind="format"),
    ]
    settings = RewardSettings(anneal_updates=8)
    assert reward(steps, False, 50, 0, settings).terms["diversity"] == 0.5
    assert reward(steps, False, 50, 4, settings).terms["diversity"] == pytest.approx(0.25)
    assert reward(steps, False, 50, 8, settings).terms["diversity"] == 0.0


def test_a_step_like_the_one_before_costs_a_tenth_ten_times_at_most() -> None:
    again = [opening(), *(step(number, "look") for number in range(1, 5)), step(5, "go to sink"), step(6, "look")]
    assert reward(again, False, 50, 0, PLAIN).terms["repeats"] == pytest.approx(-0.3)
    stuck = [opening(), *(step(number, "look") for number in range(1, 41))]
    assert reward(stuck, False, 50, 0, PLAIN).terms["repeats"] == pytest.approx(-1.0)
    # The same words are another step as a call of the harness.
    assert reward([opening(), step(1, "look"), step(2, "look", kind="track")], False, 50, 0, PLAIN).total == 0.0


def test_an_invalid_step_costs_a_tenth() -> None:
    steps = [opening(), step(1, "fly", invalid=True), step(2, "", kind="format", invalid=True), step(3, "look")]
    assert reward(steps, False, 50, 0, PLAIN).terms["invalid"] == pytest.approx(-0.2)


def test_seeing_what_is_new_is_worth_something_while_it_lasts() -> None:
    settings = RewardSettings(diversity=0.0, exploration=0.6, anneal_updates=2)
    steps = [opening("A room."), step(1, "go to a", "A."), step(2, "go to b", "B."), step(3, "go to a", "A.")]
    assert reward(steps, False, 50, 0, settings).total == pytest.approx(0.6 * 2 / 3)
    assert reward(steps, False, 50, 1, settings).total == pytest.approx(0.3 * 2 / 3)
    assert reward(steps, False, 50, 2, settings).total == 0.0


def test_calls_and_tokens_have_their_price_in_a_won_episode_only() -> None:
    steps = [
        opening(),
        step(1, "recall [mug]", kind="recall", prompt=500, written=6),
        step(2, "track []", kind="track", prompt=546, written=4),
        step(3, "take mug 1", prompt=570, written=5),
    ]
    settings = RewardSettings(
        diversity=0.0, verb_prices={"recall": 0.25, "note": 9.0}, read_price=0.005, write_price=0.01
    )
    # 40 and 20 tokens are read after the opening, 15 are written.
    cost = 0.25 + 60 * 0.005 + 15 * 0.01
    gap = 10 - 1 - 0.1 * 20
    assert settings.gap(20) == pytest.approx(gap)
    assert reward(steps, True, 20, 0, settings).terms["cost"] == pytest.approx(-gap * cost / (gap + cost))
    assert reward(steps, False, 20, 0, settings).terms["cost"] == 0.0


def test_the_dearest_and_clumsiest_win_is_worth_more_than_the_best_loss() -> None:
    settings = RewardSettings(exploration=0.5, verb_prices={"recall": 1e9})
    budget = 30
    clumsy = [opening("A."), *(step(n, "recall [x]", "A.", "recall", invalid=True) for n in range(1, budget + 1))]
    verbs = ("track", "commit", "recall", "note")
    lost = [opening(), *(step(n, f"{verb} [x]", f"{n}", verb) for n, verb in enumerate(verbs, 1))]
    assert reward(clumsy, True, budget, 0, settings).total > reward(lost, False, budget, 0, settings).total


def test_prices_that_cant_be_kept_under_the_gap_are_refused() -> None:
    priced = RewardSettings(verb_prices={"recall": 0.1})
    priced.check(50)
    with pytest.raises(WrongUsage, match="With 90 steps a lost episode"):
        priced.check(90)
    RewardSettings().check(90)
    with pytest.raises(WrongUsage, match="found one for ponder"):
        RewardSettings(verb_prices={"ponder": 0.1}).check(50)
    with pytest.raises(WrongUsage, match="0 or more"):
        RewardSettings(write_price=-0.1).check(50)


def test_the_rewards_of_steps_add_up_to_that_of_the_episode() -> None:
    steps = [
        opening(),
        *(step(number, "look", invalid=number == 2) for number in range(1, 4)),
        step(4, "recall [mug]", kind="recall"),
    ]
    found = reward(steps, True, 20, 0, RewardSettings())
    assert step_rewards(steps, found, RewardSettings()) == pytest.approx([0.0, -0.2, -0.1, 10 + 16 / 20 + 0.25])
    assert sum(step_rewards(steps, found, RewardSettings())) == pytest.approx(found.total)
