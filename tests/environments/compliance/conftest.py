"""Reviews of a small case that a test may change, and commands on a store and data folder of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from reviewing import FILES, Review, write_files
from typer.testing import CliRunner

from evoharness_cli.cli.app import app


@pytest.fixture
def case_folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes the small case with some of its files replaced, added, or left out where None is given."""
    return lambda changed={}: write_files(tmp_path / "small", {**FILES, **changed})


@pytest.fixture
def review(case_folder: Callable[..., Path], tmp_path: Path) -> Callable[..., Review]:
    """Opens a review of the small case, changed as `case_folder` changes it."""
    return lambda changed={}: Review(case_folder(changed), tmp_path / "reports")


@dataclass(frozen=True)
class Played:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects printed, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps of the one episode that `inspect run --json` printed."""
        (episode,) = self.objects[0]["episodes"]
        steps: list[dict[str, Any]] = episode["steps"]
        return steps


@pytest.fixture
def evoharness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Played]:
    """Runs a command in this process."""
    monkeypatch.setenv("EVOHARNESS_DB", str(tmp_path / "experience.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def run(*arguments: object) -> Played:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Played(result.exit_code, result.stdout, result.stderr)

    return run
