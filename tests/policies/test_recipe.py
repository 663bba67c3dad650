"""The script of the whole pipeline has the settings by which the policy that comes along was made."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from evoharness_cli.policies import named

ROOT = Path(__file__).parents[2]
STAGE = re.compile(
    r"sft +seed (\d+): (\d+) demonstrations and (\d+) of \w+, slips (\S+), corrections of (\d+) of \w+, rate (\S+)"
)
RL = re.compile(
    r"rl +(\d+) updates of (\d+) games, (\d+) episodes each, rate (\S+),"
    r" price of a call (\S+), bonuses for (\d+) updates"
)


def settings(script: str, *options: str) -> str:
    command = ["bash", str(ROOT / "runs" / script), *options, "--print"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def trainings(recipe: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]]:
    """Return each fine-tuning of a recipe with what was made for it, by kind."""
    found, made = [], defaultdict[str, list[dict[str, Any]]](list)
    for stage in recipe:
        if stage["stage"] == "sft":
            found.append((stage, dict(made)))
            made.clear()
        else:
            made[stage["stage"]].append(stage)
    return found


def test_the_settings_are_those_of_the_card() -> None:
    policy = named("alfworld-smollm2-135m")
    assert policy
    printed = settings("cpu.sh")
    learnt = trainings(policy.card["recipe"])
    stages = STAGE.findall(printed)
    assert len(stages) == len(learnt) > 1

    for (seed, count, other, slips, played, rate), (sft, made) in zip(stages, learnt, strict=True):
        (demos, *others), lora = made["demos"], sft["lora"]
        assert (int(seed), float(slips)) == (demos["seed"], demos["teacher"]["slips"])
        assert (float(rate), sft["epochs"]) == (sft["rate"], 1)
        # The first run was stopped before it had learnt all of its file; some games aren't won.
        learnt_count = min(demos["demonstrations"], sft["updates"] * sft["batch"])
        assert learnt_count <= int(count) <= learnt_count + sft["batch"]
        expected = [(int(other), int(seed) + 1)] if int(other) else []
        assert [(each["games"], each["seed"]) for each in others] == expected
        assert (int(played) > 0) == ("corrections" in made)
        assert f"rank {lora['rank']}, alpha {lora['alpha']:g}, the last {lora['layers']} blocks" in printed
        assert f"batch        {sft['batch']}\n" in printed

    (*_, rl), match = policy.card["recipe"], RL.search(printed)
    assert match
    price = rl["reward"]["verb_prices"]
    assert [float(each) for each in match.groups()] == [
        rl["updates"],
        rl["games"],
        rl["group"],
        rl["rate"],
        price["commit"],
        rl["reward"]["anneal_updates"],
    ]
    assert price["commit"] == price["recall"] == price["track"]
    assert rl["grpo"]["kl"] == 0


@pytest.mark.parametrize("script", ["cpu.sh", "gpu.sh"])
def test_both_scripts_have_all_stages_on_a_small_scale(script: str) -> None:
    printed = settings(script, "--tiny")

    kinds = [line.split()[0] for line in printed.splitlines()]
    assert kinds == ["games", "hard", "houses", "errands", "bank", "adapter", "batch", *["sft"] * 4, "rl", "evaluation"]
    assert "corrections of 4 of hard" in printed
