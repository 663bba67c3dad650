"""An episode that outgrows the model's context, in the model's own tokens, is summed up and goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import ORACLE, Command, wait_for_steps

FULL = 7
"""The step before which 2,048 tokens are full, some 200 of them a step."""
PLAY = ("--context", 2048, "--show-admissible", "--decode", "admissible", "--max-steps", FULL + 1)


def played(evoharness: Command, run: int) -> list[dict[str, Any]]:
    (episode,) = evoharness("inspect", "run", run, "--json").objects[0]["episodes"]
    told = ("number", "reply", "observation", "compacted", "prompt_tokens")
    return [{key: step[key] for key in told} for step in episode["steps"]]


def test_a_full_context_is_summed_up_once_also_in_a_run_that_was_killed(
    evoharness: Command, process: Callable[..., subprocess.Popen[str]], db: Path
) -> None:
    evoharness("run", "heat-apple", *PLAY)
    shown = evoharness("inspect", "run").out
    whole = played(evoharness, 1)

    running = process("run", "heat-apple", *PLAY)
    wait_for_steps(db, len(whole) + 1 + FULL + 1, running)
    running.kill()
    running.communicate()
    assert evoharness("run", "--resume", 2, "--json").objects[0]["outcome"] == "out of steps"

    assert "context 2,048 tokens" in shown
    assert shown.count("exchanges were left out: the context was full") == 1
    left_out = [step["compacted"] for step in whole]
    assert [bool(count) for count in left_out] == [False] * (FULL - 1) + [True, False]
    assert left_out[FULL - 1] == FULL // 2
    assert whole[FULL - 1]["prompt_tokens"] < whole[FULL - 2]["prompt_tokens"]
    assert all(step["prompt_tokens"] + 256 <= 2048 for step in whole)
    assert played(evoharness, 2) == whole


def test_a_scripted_model_has_no_context(evoharness: Command) -> None:
    refused = evoharness("run", "heat-egg", "--model", f"scripted:{ORACLE}", "--context", 2048)

    assert refused.code == 2
    assert "leave the context out" in refused.err


def test_a_context_that_nothing_fits_ends_the_episode(evoharness: Command) -> None:
    ended = evoharness("run", "heat-egg", "--context", 300, "--json")

    assert (ended.code, ended.objects[0]["outcome"], ended.objects[0]["steps"]) == (1, "out of context", 0)
