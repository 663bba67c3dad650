"""Sees to it that one process at a time plays a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import NotFound, StoreError
from .store import Store


class RunClaimed(StoreError):
    """Another process is playing the run."""


@contextmanager
def playing(store: Store, run: int) -> Iterator[None]:
    """Be the one that plays a run while the block lasts; the run counts as unfinished until it is finished again.

    The claim is a lock on a file beside the store, which the kernel frees however the process ends; a process id
    would be another's by and by. Raises RunClaimed at once while another one plays the run, and NotFound.
    """
    from filelock import FileLock, Timeout

    path = Path(f"{store.path.resolve()}.run-{run}.lock")
    lock = FileLock(path)
    try:
        # The file is locked and removed under the store's own write lock, so that nobody can lock one that is
        # being removed.
        with store.transaction():
            row = store.row("SELECT pid FROM runs WHERE id = ?", [run])
            if row is None:
                raise NotFound(f"There is no run {run} in {store.path}.")
            try:
                lock.acquire(blocking=False)
            except Timeout:
                raise RunClaimed(
                    f"Run {run} is being played already, by process {row['pid']}. "
                    "Wait until that ends, or begin another run."
                ) from None
            except OSError as error:
                raise StoreError(
                    f"The file {path}, which marks the run as being played, cannot be locked: "
                    f"{error.strerror or error}. Keep the store in a folder that can be written."
                ) from error
            store.write("UPDATE runs SET pid = ?, finished = NULL, status = NULL WHERE id = ?", [os.getpid(), run])
        yield
    finally:
        if lock.is_locked:
            try:
                with store.transaction(), suppress(PermissionError):  # Windows removes no file that is open
                    path.unlink(missing_ok=True)
            finally:
                lock.release()
