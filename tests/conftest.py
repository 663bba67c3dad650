"""What tests need of this Python."""

from __future__ import annotations

import os
import signal

import pytest

from evoharness_cli.environments.alfworld.official import is_missing

# What a developer has set for the program isn't to change what it does here.
os.environ["EVOHARNESS_CONFIG"] = os.devnull
# A shell ignores Ctrl-C for what it starts in the background, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs ALFWorld's own engine where there is none, and say so."""
    if item.get_closest_marker("official_engine") and (missing := is_missing()):
        pytest.skip(missing)
