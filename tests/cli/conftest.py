"""Runs commands in this process on a store of the test's own, and as processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import ROOT, Command, Ended
from typer.testing import CliRunner

from evoharness_cli.cli.app import app


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the test's own store, which commands use by default."""
    path = tmp_path / "experience.db"
    monkeypatch.setenv("EVOHARNESS_DB", str(path))
    return path


@pytest.fixture
def evoharness(db: Path) -> Command:
    """Run a command in this process."""
    assert not db.exists()

    def run(*arguments: object, answer: str | None = None) -> Ended:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=answer)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process(db: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a command as a process of its own."""

    def start(*arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "evoharness_cli", *(str(argument) for argument in arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "EVOHARNESS_DB": str(db)},
        )

    return start
