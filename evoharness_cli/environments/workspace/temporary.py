"""A folder for what one process works with: locked while that lives, so that what killed ones left can be removed."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from .removal import remove

_PREFIX = "evoharness-workspace-"
_JUST_MADE = 60
"""Seconds in which a folder may not be locked yet."""


class TemporaryFolder:
    """A folder of this process's own. Those of processes that were killed are removed when the next one is made."""

    def __init__(self) -> None:
        _remove_left_over()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        if os.geteuid() == 0:
            # Whom commands run as has to pass through; nobody sees what is in it.
            self.path.chmod(0o711)

    def close(self) -> None:
        """Remove the folder."""
        if self._lock >= 0:
            remove(self.path)
            os.close(self._lock)
            self._lock = -1


def _remove_left_over() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            about = folder.lstat()
            if about.st_uid != os.geteuid() or time.time() - about.st_mtime < _JUST_MADE:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(folder)
            finally:
                os.close(lock)
