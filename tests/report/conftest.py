"""What reports are made of: a real evaluation, and a store in which three episodes recalled what others noted."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_making import ORACLE, played

from evoharness_cli.evaluation.contenders import read_contender
from evoharness_cli.evaluation.evaluate import begin, play
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.play import Result
from evoharness_cli.runs.settings import RunSettings

GAMES = ("put-cd", "look-at-book", "put-remotecontrol")
METHODS = ("react", "bpe", "bpe,steps=4")


class Silent:
    """Watches an evaluation and says nothing."""

    def began(self, label: str, seed: int, done: int, won: int, of: int) -> None:
        """Do nothing."""

    def ended(self, result: Result) -> None:
        """Do nothing."""


@pytest.fixture(scope="session")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of an evaluation of three methods on three games."""
    out = tmp_path_factory.mktemp("evaluation") / "compared.db"
    contenders = [read_contender(method, RunSettings(ORACLE), {}, None) for method in METHODS]
    begin(out, find_tasks(GAMES), contenders, [0])
    play(out, 2, Silent())
    return out


@pytest.fixture(scope="session")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that played the same games three times, so that it recalls and votes on what it noted."""
    path = tmp_path_factory.mktemp("learnt") / "learnt.db"
    for _ in range(3):
        played(path, ("heat-egg", "look-at-keychain"), RunSettings(ORACLE))
    return path
