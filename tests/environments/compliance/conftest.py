"""Reviews of a small case that a test may change, their reports in a data folder of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reviewing import FILES, Review, write_files


@pytest.fixture
def case_folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes the small case with some of its files replaced, added, or left out where None is given."""
    return lambda changed={}: write_files(tmp_path / "small", {**FILES, **changed})


@pytest.fixture
def review(case_folder: Callable[..., Path], tmp_path: Path) -> Callable[..., Review]:
    """Opens a review of the small case, changed as `case_folder` changes it."""
    return lambda changed={}: Review(case_folder(changed), tmp_path / "reports")


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep reports in a data folder of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
