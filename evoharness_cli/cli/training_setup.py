"""What the commands that train need before they begin: what is installed, a model's place, a way to be stopped."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from types import FrameType

from ..harness import OutsideFault


class Precision(str, Enum):
    """In what the base's weights are computed with."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


def needs_torch() -> None:
    """Raise OutsideFault where what trains isn't installed."""
    # Before torch starts its threads: those that wait for work would keep the cores from those that have some.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    missing = [name for name in ("torch", "transformers", "gguf") if importlib.util.find_spec(name) is None]
    if missing:
        raise OutsideFault(
            f"Training needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed:"
            " pip install 'evoharness-cli[train]'"
        )


def anchored_model(model: str) -> str:
    """Return what means the same model from any working folder."""
    from ..models import anchored

    return anchored(model, Path.cwd())


@contextmanager
def asked_to_stop() -> Iterator[threading.Event]:
    """Have Ctrl-C, or being asked to end, only set an event; the second time it does what it did before."""
    asked = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:
        del number, frame
        asked.set()
        for each, handler in before.items():
            signal.signal(each, handler)
        os.write(2, b"\nsaving; press Ctrl-C once more to end without\n")

    for number in before:
        signal.signal(number, ask)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
