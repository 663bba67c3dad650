"""The llama.cpp library, loaded on first use and kept quiet: what it logs never reaches the terminal."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from functools import cache
from pathlib import Path
from typing import Any

# GGML_LOG_LEVEL_ERROR of ggml.h.
_ERROR = 4
_errors: deque[str] = deque(maxlen=8)
# llama.cpp keeps only a pointer to the callback: were it collected, the next log line would end the process.
_callback: Any = None


@cache
def library() -> Any:
    """Return the `llama_cpp` module, imported once, with its log turned to `last_error`."""
    global _callback
    # Two threads on a machine with one busy core collapse unless OpenMP's idle threads sleep.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import llama_cpp

    _callback = llama_cpp.llama_log_callback(_keep)
    llama_cpp.llama_log_set(_callback, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    return llama_cpp


def _keep(level: int, text: bytes, _data: object) -> None:
    if level == _ERROR:
        _errors.append(text.decode(errors="replace").strip())


def last_error() -> str:
    """Return and forget what llama.cpp last gave as an error, with ": " before it, or nothing."""
    found = _errors[-1].rstrip(".") if _errors else ""
    _errors.clear()
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
