"""The example of docs/environments.md is a package that installs, is found by its entry point, and passes its test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "example-environment"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example is installed from its own project file, without what it depends on."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    subprocess.run([*pip, "--target", folder, EXAMPLE], check=True)
    return folder


def python(installed: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(installed), "EVOHARNESS_DB": str(installed / "experience.db")},
        check=False,
    )


def test_its_task_is_solved_through_the_command_line(installed: Path) -> None:
    task, solution = EXAMPLE / "tasks" / "deliver.yaml", EXAMPLE / "tasks" / "deliver.solution.txt"
    played = python(installed, "-m", "evoharness_cli", "run", task, "--model", f"scripted:{solution}", "--quiet")

    assert (played.returncode, played.stdout) == (0, "deliver: won, 9 steps\n"), played.stderr


def test_its_own_test_passes(installed: Path) -> None:
    tested = python(installed, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider", EXAMPLE / "tests")

    assert tested.returncode == 0, tested.stdout
    assert re.search(r"\b5 passed\b", tested.stdout)


def test_without_it_there_is_no_such_environment() -> None:
    refused = python(ROOT, "-m", "evoharness_cli", "run", EXAMPLE / "tasks" / "deliver.yaml")

    assert refused.returncode == 2
    assert "unknown environment 'parcels'; known: alfworld" in refused.stderr
