"""Runs commands in this process, on a store of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evoharness_cli.cli.app import app


@dataclass(frozen=True)
class Ended:
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
def evoharness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a command in this process."""
    monkeypatch.setenv("EVOHARNESS_DB", str(tmp_path / "experience.db"))

    def run(*arguments: object) -> Ended:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    return run
