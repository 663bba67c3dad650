"""The examples for other frameworks: what the second game recalls is what the first noted, and it is voted on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.mark.parametrize(
    ("example", "package"),
    [("langgraph_household.py", "langgraph"), ("openai_agents_household.py", "agents")],
)
def test_the_second_game_recalls_what_the_first_noted(tmp_path: Path, example: str, package: str) -> None:
    pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / example), "--db", str(tmp_path / "household.db")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split("second game: ")
    assert first.startswith("first game: won after 10 calls\n  recalled: nothing relevant in experience\n")
    assert second.startswith("won after 11 calls\n")
    assert '[1] note: "the apple is on countertop 1"' in second
    vote = re.search(r"^entry 1, helped ([\d.]+), hurt ([\d.]+): the apple is on countertop 1$", second, re.MULTILINE)
    assert vote
    assert (vote[1], vote[2]) == ("0.33", "0.00")


def test_they_play_with_the_local_model(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, str(EXAMPLES / "langgraph_household.py"), "--db", str(tmp_path / "household.db")),
            *("--model", "smollm2-135m", "--steps", "1"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("game: out of steps after 1 calls") == 2
