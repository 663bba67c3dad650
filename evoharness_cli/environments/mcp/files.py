"""Where a task's commands are run: its own folder, or a fresh copy of the files that it names."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...harness import OutsideFault
from .needs import TASK


class FilesFault(OutsideFault):
    """Files of which no copy can be made."""


class Place:
    """The folder in which commands are run. Of `files` a copy is made, which `close` removes."""

    def __init__(self, task: Path, files: Path | None) -> None:
        """Raises FilesFault where the files can't be copied."""
        self._task = task
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self.folder = str(task)
        if files is not None:
            self._copy = tempfile.TemporaryDirectory(prefix="evoharness-")
            # Servers say where they are in real paths, which begin differently where the temporary folder is a link.
            self.folder = str(Path(self._copy.name).resolve())
            try:
                shutil.copytree(files, self.folder, symlinks=True, dirs_exist_ok=True)
            except (OSError, shutil.Error) as error:
                self._copy.cleanup()
                raise FilesFault(f"The files {files} can't be copied: {error}.") from error

    def filled_in(self, command: Sequence[str] | None) -> list[str]:
        """Return a command with the task's folder filled in; an empty one for none."""
        return [part.replace(TASK, str(self._task)) for part in command or ()]

    def hidden(self, text: str) -> str:
        """Return a text in which the copy's folder, which is another one each time, is the current one."""
        return text.replace(self.folder, ".") if self._copy else text

    def close(self) -> None:
        """Remove the copy."""
        if self._copy:
            self._copy.cleanup()


def digest(files: Path | None) -> str:
    """Return a digest of the names and the content of a folder's files. Raises FilesFault."""
    found = hashlib.sha256()
    try:
        for path in sorted(files.rglob("*")) if files else ():
            if path.is_file() and not path.is_symlink():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                found.update(f"{path.relative_to(files or path).as_posix()} {content}\n".encode())
    except OSError as error:
        raise FilesFault(f"The files {files} can't be read: {error}.") from error
    return found.hexdigest()
