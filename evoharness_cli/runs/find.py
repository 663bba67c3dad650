"""What a person types after `evoharness run`, as tasks."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..environments import load_adapter, names
from ..harness import OutsideFault, WrongUsage
from ..samples import sample_folder
from .task import Task, read_task

_SUFFIXES = (".yaml", ".yml")
_NAMES_ENVIRONMENT = re.compile(rb"^environment\s*:", re.MULTILINE)
"""What makes a YAML file in a folder a task, beside the scripts and the data that tasks need."""


class TaskNotFound(WrongUsage):
    """Nothing that can be run has this name."""


def find_tasks(arguments: Iterable[str]) -> list[Task]:
    """Return the tasks of files, folders, sample names, an environment's own files, and `NAME:PLACE`.

    Raises TaskNotFound, TaskFileError, and what the environments raise.
    """
    return [task for argument in arguments for task in _find(argument)]


def sample_tasks() -> list[Path]:
    """Return the files of the sample tasks, in the order of their names."""
    return _task_files(sample_folder())


def _find(argument: str) -> list[Task]:
    if not argument.strip():
        raise TaskNotFound("Expected a task to run, found an empty name.")
    environment, colon, place = argument.partition(":")
    if colon and environment in names():
        return [_own(environment, name, argument, needs) for name, needs in load_adapter(environment).locate(place)]
    path = Path(argument)
    # Names that no file can have (too long, say) are not there either.
    if os.path.isdir(path):  # noqa: PTH112
        return _folder(path)
    if os.path.isfile(path):  # noqa: PTH113
        return [read_task(path)] if path.suffix in _SUFFIXES else _recognised(path)
    return _sample(argument)


def _folder(folder: Path) -> list[Task]:
    if files := _task_files(folder):
        return [read_task(file) for file in files]
    return _recognised(folder)


def _recognised(path: Path) -> list[Task]:
    broken: list[str] = []
    for environment in names():
        try:
            adapter = load_adapter(environment)
        except OutsideFault as error:
            # What another package brings isn't to keep this environment's tasks from being found.
            broken.append(f" {error}")
            continue
        if found := adapter.recognise(path.resolve()):
            return [_own(environment, name, str(path), needs) for name, needs in found]
    raise TaskNotFound(
        f"{path} holds no task: expected a task file (.yaml) or a file of an environment ({', '.join(names())}), "
        f"or a folder of them.{''.join(broken)}"
    )


def _sample(argument: str) -> list[Task]:
    root = sample_folder()
    wanted = argument.removeprefix("sample_tasks/").rstrip("/")
    if wanted and os.path.isdir(root / wanted):  # noqa: PTH112
        return _folder(root / wanted)
    files = sample_tasks()
    for file in files:
        within = file.relative_to(root).with_suffix("").as_posix()
        if wanted.removesuffix(".yaml") in (file.stem, within):
            return [read_task(file)]
    close = difflib.get_close_matches(wanted, [file.stem for file in files], 3)
    hint = f" Did you mean {', '.join(close)}?" if close else ""
    raise TaskNotFound(
        f"No task {argument!r}: it is no file, no folder and no sample task.{hint} "
        "`evoharness tasks` lists the samples."
    )


def _task_files(folder: Path) -> list[Path]:
    """Return the task files below a folder, but for hidden folders such as virtual environments."""
    found = (path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    shown = (path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))
    return sorted(path for path in shown if _NAMES_ENVIRONMENT.search(path.read_bytes()))


def _own(environment: str, name: str, source: str, needs: dict[str, object]) -> Task:
    return Task(name=name, source=source, environment=environment, needs=needs, scope=environment)
