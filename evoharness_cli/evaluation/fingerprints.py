"""What the tasks of an evaluation are, whatever they are called and wherever their files lie."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from ..runs.task import Task


def tasks_sha256(tasks: Iterable[Task]) -> str:
    """Return the SHA-256, in hex, of settled tasks in their order, with what their files hold in place of the paths.

    A file that isn't there counts as its path.
    """
    digest = hashlib.sha256()
    for task in tasks:
        needs = {key: _content(value) for key, value in task.needs.items()}
        said = [task.environment, needs, task.goal, task.scope]
        digest.update(json.dumps(said, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()


def shared_needs(tasks: Sequence[Task]) -> dict[str, Any]:
    """Return what tasks need besides their files, such as an engine: the value, or the values where they differ."""
    values: dict[str, dict[str, Any]] = {}
    for task in tasks:
        for key, value in task.needs.items():
            if value != [] and not _is_file(value) and not _are_files(value):
                values.setdefault(key, {})[json.dumps(value, sort_keys=True, default=str)] = value
    each = {key: list(found.values()) for key, found in values.items()}
    return {key: found[0] if len(found) == 1 else found for key, found in each.items()}


def _content(value: object) -> object:
    if _are_files(value):
        return [_content(each) for each in value]
    if not _is_file(value):
        return value
    with Path(str(value)).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _are_files(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list) and bool(value) and all(map(_is_file, value))


def _is_file(value: object) -> bool:
    try:
        return isinstance(value, str) and Path(value).is_file()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False
