"""Which subgoals of a software task have evidence, and what it takes."""

from __future__ import annotations

import pytest

from evoharness_cli.environments.workspace.evidence import CHECKS, evidence
from evoharness_cli.harness import Belief, Fact
from evoharness_cli.harness.belief import AT, NO, SEARCHED, YES

SHOWN = (
    Fact("shop/cart.py", SEARCHED, YES),
    Fact("shop/money.py", SEARCHED, NO),
    Fact("Cart.total", AT, "shop/cart.py"),
    Fact("shop/cart.py", "is", "changed"),
    Fact("shop/old.py", "is", "unchanged"),
    Fact("TestCart.test_total", "is", "passed"),
    Fact("TestCart.test_tax", "is", "failed"),
    Fact(CHECKS, "is", "failed"),
)


@pytest.mark.parametrize(
    ("subgoal", "missing"),
    [
        ("read shop/cart.py", None),
        ("read cart.py", None),
        ("read `shop/money.py`.", "shop/money.py was not read"),
        ("change shop/cart.py", None),
        ("fix cart.py", None),
        ("update shop/old.py", "shop/old.py is not changed"),
        ("add shop/new.py", "shop/new.py is not changed"),
        ("find Cart.total", None),
        ("find total", None),
        ("find money.py", None),
        ("locate parse", "parse was not seen"),
        ("pass test_total", None),
        ("make TestCart.test_total pass", None),
        ("fix test_tax", "TestCart.test_tax is failed"),
        ("pass test_none", "no check has reported test_none"),
        ("pass the checks", "the check is failed"),
        ("pass all tests", "the check is failed"),
    ],
)
def test_evidence_is_asked_of_subgoals(subgoal: str, missing: str | None) -> None:
    belief = Belief()
    belief.absorb(SHOWN, 1)
    condition = evidence(subgoal)

    assert condition is not None
    assert condition(belief) == missing


@pytest.mark.parametrize("subgoal", ["think", "decide what to do", "read the report", "submit"])
def test_other_wordings_are_the_agents_to_judge(subgoal: str) -> None:
    assert evidence(subgoal) is None
