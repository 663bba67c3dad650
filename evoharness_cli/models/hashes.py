"""The cache folder and the SHA-256 of large files, which is computed once for each state of a file."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..harness import OutsideFault

CACHE_VARIABLE = "EVOHARNESS_CACHE"


class CacheNotWritable(OutsideFault):
    """The cache folder can't be written."""


def cache_folder() -> Path:
    """Return the folder of what can be made again: `EVOHARNESS_CACHE`, else the user's cache folder."""
    if folder := os.environ.get(CACHE_VARIABLE):
        return Path(folder).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("evoharness")


def make_folder(path: Path) -> None:
    """Create a folder of the cache; raises CacheNotWritable."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_writable(path, error) from error


def not_writable(path: Path, error: OSError) -> CacheNotWritable:
    """Return the error that says that this path of the cache can't be written."""
    return CacheNotWritable(
        f"Expected to write to the cache at {path}, found: {error.strerror or error}."
        f" Set {CACHE_VARIABLE} to a folder that can be written and has space."
    )


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256 in hex, remembered in the cache until its size or time of change differ."""
    path = path.resolve()
    state = file_state(path)
    note = cache_folder() / "hashes" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"
    known = read_note(note)
    if {key: known.get(key) for key in state} == state and isinstance(known.get("sha256"), str):
        return str(known["sha256"])
    digest = compute_sha256(path)
    # Without a place to remember it the hash is computed again next time, which is slower and no less right.
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        write_note(note, {"path": str(path), **state, "sha256": digest})
    return digest


def compute_sha256(path: Path) -> str:
    """Return a file's SHA-256 in hex, reading all of it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_state(path: Path) -> dict[str, int]:
    """Return what changes when a file is written: its size in bytes and its time of change in nanoseconds."""
    found = path.stat()
    return {"size": found.st_size, "mtime_ns": found.st_mtime_ns}


def read_note(path: Path) -> Mapping[str, object]:
    """Return the JSON object in a file; empty when there is none or it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_note(path: Path, content: Mapping[str, object]) -> None:
    """Write a JSON object in one go: a reader sees the old or the new one. Raises OSError."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
        written = Path(file.name)
        try:
            json.dump(content, file)
            file.close()
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)
