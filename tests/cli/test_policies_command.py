"""`evoharness policies`, and the policy that a run takes by default."""

from __future__ import annotations

from commands import Command

from evoharness_cli.policies import policies

NAME = "alfworld-smollm2-135m"


def test_policies_are_listed_and_their_cards_shown(evoharness: Command) -> None:
    listed = evoharness("policies", "--json").objects
    assert [each["name"] for each in listed] == [policy.name for policy in policies()]
    assert NAME in evoharness("policies").out

    card = evoharness("policies", NAME).out
    assert "base_sha256" in card
    assert evoharness("policies", "nobody").code == 2


def test_a_run_takes_the_policy_and_its_bank_unless_told_otherwise(evoharness: Command) -> None:
    evoharness("run", "heat-apple", "--max-steps", 2)
    evoharness("run", "heat-apple", "--max-steps", 1, "--adapter", "none")

    first, second = (evoharness("inspect", "run", number, "--json").objects[0] for number in (1, 2))
    assert first["settings"]["adapter"].endswith(f"{NAME}/adapter.gguf")
    assert second["settings"]["adapter"] is None
    assert "places for apple" in evoharness("inspect", "experience", "apple", "--scope", "alfworld").out
