"""evoharness: run language-model agents under a Belief, Progress and Experience harness, and make them better at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .integration import Harness as Harness

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import `Harness` when it is asked for, so that the command line starts without it."""
    if name == "Harness":
        from .integration import Harness

        return Harness
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
