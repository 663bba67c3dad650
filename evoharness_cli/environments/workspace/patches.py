"""Keeps what an agent did as a patch file, and applies it to a person's files where they want that."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from .git import GitFault, try_git
from .working_copy import is_repository


def keep(patch: bytes, name: str) -> Path:
    """Keep a patch in the user's data folder and return its file, which the same patch always has. Raises OSError."""
    from platformdirs import user_data_path

    folder = user_data_path("evoharness") / "patches"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{hashlib.sha256(patch).hexdigest()[:10]}.patch"
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as beside:
        beside.write(patch)
    os.replace(beside.name, file)  # noqa: PTH105
    return file


def apply(patch: bytes, repository: Path) -> str:
    """Apply a patch to a person's files, all of it or nothing, and say what became of it."""
    if is_repository(repository) and not (repository / ".git").exists():
        return f"not applied: {repository} is a bare repository, which has no files"
    # Without this, a folder that lies in some other repository would be taken for a part of that one.
    outside = {"GIT_CEILING_DIRECTORIES": str(repository.resolve().parent)}

    def tried(*options: str) -> str | None:
        done = try_git("apply", *options, "-", cwd=repository, stdin=patch, environment=outside)
        if done.returncode == 0:
            return None
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[0].removeprefix("error: ") if said else "git apply refuses it"

    try:
        if (why := tried("--check")) is None:
            why = tried()
            return f"applied to {repository}" if why is None else f"not applied to {repository}: {why}"
        if tried("--check", "--reverse") is None:
            return f"{repository} has these changes already"
    except GitFault as fault:
        why = str(fault)
    return f"not applied to {repository}, where it doesn't fit: {why}"
