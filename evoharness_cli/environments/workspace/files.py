"""The files of a folder in which an agent works: nothing here follows a link or leaves the folder."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from .sandbox.launcher.namespaces import WORKSPACE

LARGEST = 10 * 2**20
"""Bytes of the largest file that is read or written."""
MOST_ENTRIES = 200_000
DEEPEST = 100
"""Folders below folders."""
GIT_FOLDERS = frozenset({".git", "git~1"})
"""Names of folders that git takes for its own, in lower case; they are no part of a repository's files."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe that nobody writes to is not waited for.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Unusable(Exception):
    """A path that can't be used; the message is a sentence for the agent."""


def relative(path: str) -> str:
    """Return a path as the repository has it; what begins with `/workspace/` is in the repository too.

    Raises Unusable for a path that leaves the repository or is one of git's own.
    """
    text = path.strip()
    if text == WORKSPACE or text.startswith(f"{WORKSPACE}/"):
        text = text[len(WORKSPACE) :].lstrip("/")
    parts = PurePosixPath(text).parts
    if "\0" in text or any(not part.isprintable() for part in parts):
        raise Unusable(f"{path!r} is no path")
    if text.startswith("/") or ".." in parts:
        raise Unusable(f"{path} is outside of the repository; name files as `list` does")
    if any(part.lower() in GIT_FOLDERS for part in parts):
        raise Unusable(f"{path} is git's own; use diff to see what changed")
    return "/".join(parts)


class Missing(Unusable):
    """There is nothing at a path."""


class Files:
    """The files below a folder. Paths are relative to it, as `relative` returns them; `""` is the folder itself."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str) -> bytes:
        """Return what a file holds. Raises Unusable."""
        with self._parent(path) as folder:
            try:
                descriptor = os.open(PurePosixPath(path).name or ".", _READ, dir_fd=folder)
            except OSError as error:
                raise _unusable(path, error) from None
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise Unusable(f"{path or '.'} is {'a folder' if stat.S_ISDIR(about.st_mode) else 'no plain file'}")
            if about.st_size > LARGEST:
                raise Unusable(f"{path} has {about.st_size:,} bytes; expected {LARGEST:,} at most")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(LARGEST)
        finally:
            os.close(descriptor)

    def text(self, path: str) -> str:
        """Return what a text file holds. Raises Unusable."""
        content = self.read(path)
        if b"\0" in content:
            raise Unusable(f"{path} is not a text file")
        return content.decode("utf-8", "surrogateescape")

    def write(self, path: str, content: bytes) -> None:
        """Replace a file, or make one with the folders above it, in one go. Raises Unusable."""
        name = PurePosixPath(path).name
        if not name:
            raise Unusable("expected the name of a file to write")
        with self._parent(path, make=True) as folder:
            there = _status(name, folder)
            if there and not stat.S_ISREG(there.st_mode):
                raise Unusable(f"{path} is {'a folder' if stat.S_ISDIR(there.st_mode) else 'a link'}; it isn't written")
            mode = stat.S_IMODE(there.st_mode) & 0o777 if there else 0o644
            # Beside it and then renamed, so that it is whole at any time and no other name of the file changes.
            beside = f".{secrets.token_hex(8)}.evoharness"
            try:
                descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=folder)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    os.fchmod(descriptor, mode)
                    self._give_away(descriptor)
                os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                with suppress(OSError):
                    os.unlink(beside, dir_fd=folder)
                raise _unusable(path, error) from None

    def listed(self, path: str) -> list[tuple[str, bool]]:
        """Return the names in a folder and whether each is a folder, in order, without git's. Raises Unusable."""
        with self._opened(path) as folder, os.scandir(folder) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        return sorted(each for each in found if each[0].lower() not in GIT_FOLDERS)

    def all(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield every plain file and link with its status, in the order of their paths. Raises Unusable."""
        left, count = self._entries(""), 0
        while left:
            path, about = left.pop()
            count += 1
            if count > MOST_ENTRIES or path.count("/") > DEEPEST:
                raise Unusable(f"the repository has too many files or too deep folders at {path}; remove some of them")
            if stat.S_ISDIR(about.st_mode):
                left += self._entries(path)
            elif stat.S_ISREG(about.st_mode) or stat.S_ISLNK(about.st_mode):
                yield path, about

    def _entries(self, folder: str) -> list[tuple[str, os.stat_result]]:
        """Return the paths in a folder, the last one first, without git's."""
        try:
            with os.scandir(self.root / folder) as entries:
                found = [
                    (f"{folder}/{entry.name}" if folder else entry.name, entry.stat(follow_symlinks=False))
                    for entry in entries
                    if entry.name.lower() not in GIT_FOLDERS
                ]
        except OSError as error:
            raise _unusable(folder, error) from None
        return sorted(found, key=lambda each: each[0], reverse=True)

    @contextmanager
    def _parent(self, path: str, make: bool = False) -> Iterator[int]:
        with self._opened("/".join(PurePosixPath(path).parts[:-1]), make) as folder:
            yield folder

    @contextmanager
    def _opened(self, path: str, make: bool = False) -> Iterator[int]:
        """Open a folder part by part, so that no part can be a link; missing ones are made where asked."""
        folder = os.open(self.root, _FOLDER)
        try:
            for part in PurePosixPath(path).parts:
                if make and _status(part, folder) is None:
                    os.mkdir(part, 0o755, dir_fd=folder)
                below = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
                if make:
                    self._give_away(folder)
            yield folder
        except OSError as error:
            raise _unusable(path, error) from None
        finally:
            os.close(folder)

    def _give_away(self, descriptor: int) -> None:
        """Give what root made to the owner of the folder, whom commands run as."""
        if os.geteuid() == 0:
            owner = self.root.stat()
            os.fchown(descriptor, owner.st_uid, owner.st_gid)


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _unusable(path: str, error: OSError) -> Unusable:
    shown = path or "the repository's folder"
    if isinstance(error, FileNotFoundError):
        return Missing(f"there is no {shown}")
    if isinstance(error, NotADirectoryError) or "symbolic links" in (error.strerror or ""):
        return Unusable(f"{shown} is a link, or leads over one or over a file; name the file itself")
    return Unusable(f"{shown} can't be used: {error.strerror}")
