"""The llama.cpp library, loaded on first use and kept quiet: what it logs never reaches the terminal."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

# GGML_LOG_LEVEL_ERROR of ggml.h.
_ERROR = 4
_FUNCTION = re.compile(r"\w+: ")
"""The name of the function that logs, with which most lines begin."""
_errors: list[str] = []
_MOST = 8
# llama.cpp keeps only a pointer to the callback: were it collected, the next log line would end the process.
_callback: Any = None


@cache
def library() -> Any:
    """Return the `llama_cpp` module, imported once, with its log turned to `first_error`."""
    global _callback
    # Two threads on a machine with one busy core collapse unless OpenMP's idle threads sleep.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import llama_cpp

    _callback = llama_cpp.llama_log_callback(_keep)
    llama_cpp.llama_log_set(_callback, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    return llama_cpp


def _keep(level: int, text: bytes, _data: object) -> None:
    if level == _ERROR and len(_errors) < _MOST:
        _errors.append(text.decode(errors="replace").strip())


@contextmanager
def interruptible_after() -> Iterator[None]:
    """Hold Ctrl-C back, and raise KeyboardInterrupt at the end.

    While llama.cpp loads a model it logs, and an exception that is raised within its call of `_keep` is lost.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def forget_errors() -> None:
    """Forget the errors so far, before a call whose failure is to be told by `first_error`."""
    _errors.clear()


def first_error() -> str:
    """Return the error that llama.cpp gave first since `forget_errors`, with ": " before it, or nothing.

    The first is the cause; those after it say which of its callers gave up.
    """
    found = _FUNCTION.sub("", _errors[0], count=1).rstrip(".") if _errors else ""
    return f": {found}" if found else ""


def physical_cores() -> int:
    """Return how many physical cores this process may use, at least 1."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text().strip() if siblings.exists() else str(cpu))
    return max(1, len(cores))
