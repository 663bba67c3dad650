"""The small repository as a folder, and opened as an environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from small_repository import FILES, WORK, best_kind, write_files

from evoharness_cli.environments.workspace.environment import Work, WorkspaceEnvironment
from evoharness_cli.environments.workspace.sandbox import Sandbox
from evoharness_cli.environments.workspace.working_copy import WorkingCopy


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A plain folder with the small repository's files."""
    return write_files(tmp_path / "adding", FILES)


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder, of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "evoharness"


@pytest.fixture
def unopened(repository: Path, data_folder: Path) -> Iterator[Callable[..., WorkspaceEnvironment]]:
    """Make the small repository, or another, an environment that wasn't reset yet."""
    del data_folder
    made: list[WorkspaceEnvironment] = []

    def unopened(
        work: Work = WORK, folder: Path = repository, commit: str | None = None, apply_to: Path | None = None
    ) -> WorkspaceEnvironment:
        made.append(WorkspaceEnvironment(WorkingCopy(folder, commit), work, Sandbox(best_kind()), "", apply_to))
        return made[-1]

    yield unopened
    for environment in made:
        environment.close()


@pytest.fixture
def opened(unopened: Callable[..., WorkspaceEnvironment]) -> Callable[..., WorkspaceEnvironment]:
    """Open the small repository, or another, as an environment that was reset."""

    def opened(*arguments: Any, **options: Any) -> WorkspaceEnvironment:
        environment = unopened(*arguments, **options)
        environment.reset()
        return environment

    return opened
