"""How much memory this process may have."""

from __future__ import annotations

import os
from pathlib import Path

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says how much the processes of a container may have together."""


def memory() -> int:
    """Return the bytes of memory that the machine has, or its container where that may have less."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([whole, *(limit for limit in map(_limit, _LIMITS) if limit)])


def _limit(path: str) -> int | None:
    try:
        said = Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(said) if said.isdigit() else None
