"""What tests need of this Python."""

from __future__ import annotations

import pytest

from evoharness_cli.environments.alfworld.official import is_missing


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs ALFWorld's own engine where there is none, and say so."""
    if item.get_closest_marker("official_engine") and (missing := is_missing()):
        pytest.skip(missing)
