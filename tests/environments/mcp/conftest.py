"""The ledger, served over HTTP by this process to all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ledger import Served, serving


@pytest.fixture(scope="session")
def _serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("ledger") / "entries") as served:
        yield served


@pytest.fixture
def served(_serving: Served) -> Served:
    """The ledger without entries."""
    _serving.entries.unlink(missing_ok=True)
    return _serving
