"""The sample tasks by `evoharness run`: won by their solutions, not won by doing nothing, and one teaches the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_repository import best_kind
from typer.testing import CliRunner

from evoharness_cli.cli.app import app
from evoharness_cli.samples import sample_folder

SAMPLES = sample_folder() / "workspace"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.yaml"))
TAUGHT = ("bug-report", "feature")
"""Two tasks in one repository: what the first one notes is of use in the second."""


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store and the data folder of the test's own."""
    best_kind()
    monkeypatch.setenv("EVOHARNESS_DB", str(tmp_path / "experience.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "experience.db"


def ran(*arguments: str, code: int = 0) -> list[dict[str, Any]]:
    """Run a command and return the JSON objects that it printed."""
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def steps(run: int) -> list[dict[str, Any]]:
    """Return the steps of a run's one episode."""
    (shown,) = ran("inspect", "run", str(run))
    (episode,) = shown["episodes"]
    steps: list[dict[str, Any]] = episode["steps"]
    return steps


def test_there_are_six_of_rising_length() -> None:
    assert NAMES == ["bug-report", "dependency-upgrade", "failing-test", "feature", "flaky-test", "refactoring"]
    assert sorted(path.stem for path in (SAMPLES / "solutions").iterdir()) == NAMES


def won(run: int, name: str, tmp_path: Path) -> list[dict[str, Any]]:
    """Run a sample with its solution, which has to win and leave the sample as it is; return its steps."""
    before = {path: path.read_bytes() for path in (SAMPLES / "repositories").rglob("*") if path.is_file()}

    (*_, ended) = ran("run", str(SAMPLES / f"{name}.yaml"), "--model", f"scripted:{SAMPLES}/solutions/{name}.yaml")

    assert (ended["outcome"], ended["success"]) == ("won", True)
    played = steps(run)
    assert not [step for step in played if step["kind"] == "format" or "not done: " in step["observation"]]
    assert {"subject": "the check", "relation": "is", "object": "passed"} in [
        fact for step in played for fact in step["facts"]
    ]
    assert len(list((tmp_path / "data" / "evoharness" / "patches").iterdir())) == run
    assert {path: path.read_bytes() for path in before} == before
    return played


@pytest.mark.parametrize("name", [name for name in NAMES if name not in TAUGHT])
def test_its_solution_wins(name: str, tmp_path: Path) -> None:
    won(1, name, tmp_path)


def test_the_solutions_of_two_win_and_what_one_noted_the_other_recalls(tmp_path: Path) -> None:
    first, second = (won(run, name, tmp_path) for run, name in enumerate(TAUGHT, 1))

    noted = next(step for step in first if step["kind"] == "note")
    before, after = (next(step for step in played if step["kind"] == "recall") for played in (first, second))
    pitfall = noted["action"].removeprefix("note [").removesuffix("]")
    assert before["observation"] == "nothing relevant in experience"
    assert f'note: "{pitfall}"' in after["observation"]
    assert f"[{after['recalled'][0]}] note" in after["observation"]
    assert noted["observation"] == f"noted as [{after['recalled'][0]}]"


@pytest.mark.parametrize("name", NAMES)
def test_doing_nothing_does_not_win(name: str, tmp_path: Path) -> None:
    (tmp_path / "nothing.txt").write_text("submit\n")

    (*_, ended) = ran(
        *("run", str(SAMPLES / f"{name}.yaml"), "--max-steps", "1", "--model", f"scripted:{tmp_path}/nothing.txt"),
        code=1,
    )

    assert (ended["outcome"], ended["success"]) == ("out of steps", False)
    assert steps(1)[-1]["observation"].startswith("not accepted yet, since a check fails")
