"""An episode that outgrows the model's context, in the model's own tokens, is summed up and goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import ORACLE, Command, wait_for_steps

LONGEST = 2048 - 256
"""The tokens of a prompt that leave room for a reply in a context of 2,048, which some seven steps fill."""
PLAY = ("--adapter", "none", "--context", 2048, "--show-admissible", "--decode", "admissible", "--max-steps", 10)


def played(evoharness: Command, run: int) -> list[dict[str, Any]]:
    (episode,) = evoharness("inspect", "run", run, "--json").objects[0]["episodes"]
    told = ("number", "reply", "observation", "compacted", "prompt_tokens")
    return [{key: step[key] for key in told} for step in episode["steps"]]


def test_a_full_context_is_summed_up_also_in_a_run_that_was_killed(
    evoharness: Command, process: Callable[..., subprocess.Popen[str]], db: Path
) -> None:
    evoharness("run", "heat-apple", *PLAY)
    shown = evoharness("inspect", "run").out
    whole = played(evoharness, 1)
    prompts = [step["prompt_tokens"] for step in whole]
    left_out = [step["compacted"] for step in whole]
    full = next(step for step, count in enumerate(left_out) if count)

    running = process("run", "heat-apple", *PLAY)
    wait_for_steps(db, len(whole) + 1 + full + 2, running)
    running.kill()
    running.communicate()
    assert evoharness("run", "--resume", 2, "--json").objects[0]["outcome"] == "out of steps"

    assert "context 2,048 tokens" in shown
    assert shown.count("exchanges were left out: the context was full") == sum(map(bool, left_out))
    assert left_out[full] == (full + 1) // 2
    assert prompts[full] < prompts[full - 1]
    assert max(prompts) <= LONGEST < prompts[full - 1] + 2 * (prompts[full - 1] - prompts[full - 2])
    assert played(evoharness, 2) == whole


def test_a_scripted_model_has_no_context(evoharness: Command) -> None:
    refused = evoharness("run", "heat-egg", "--model", f"scripted:{ORACLE}", "--context", 2048)

    assert refused.code == 2
    assert "leave the context out" in refused.err


def test_a_context_that_nothing_fits_ends_the_episode(evoharness: Command) -> None:
    ended = evoharness("run", "heat-egg", "--context", 300, "--json")

    assert (ended.code, ended.objects[0]["outcome"], ended.objects[0]["steps"]) == (1, "out of context", 0)
