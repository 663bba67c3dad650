"""Where the configuration's files are, and what they say; every error names the file and the line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..harness import WrongUsage
from .keys import BY_NAME, OF_A_SERVER, PROFILES, SECTIONS, UPKEEP

if TYPE_CHECKING:
    from pydantic import BaseModel

PROJECT_NAME = "evoharness.yaml"
VARIABLE = "EVOHARNESS_CONFIG"
"""The environment variable that names another file for the user's own."""
_HOLDS = "the keys of a configuration"


class ConfigurationError(WrongUsage):
    """The configuration can't be used; the message says where, what was expected and what was found."""


@dataclass(frozen=True)
class Said:
    """What a file says of a key: the value, with its paths made absolute, and the line, from 1."""

    value: Any
    line: int


@dataclass(frozen=True)
class ReadFile:
    """A file of the configuration that was read."""

    path: Path
    keys: Mapping[str, Said] = field(default_factory=dict)
    upkeep: Mapping[str, Said] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, Said]] = field(default_factory=dict)


def user_path() -> Path:
    """Return `$EVOHARNESS_CONFIG`, else `config.yaml` in the user's configuration folder."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    from platformdirs import user_config_path

    return user_config_path("evoharness") / "config.yaml"


def project_path(folder: Path) -> Path | None:
    """Return the `evoharness.yaml` of a folder or of the nearest one above it, None where there is none."""
    above = (each / PROJECT_NAME for each in (folder, *folder.parents))
    return next((path for path in above if path.is_file()), None)


def read_user_file() -> ReadFile | None:
    """Return what the user's own file says, None where there is none.

    Raises ConfigurationError; a file that the environment variable names has to be there.
    """
    path = user_path()
    if not path.exists() and not os.environ.get(VARIABLE):
        return None
    return _sound(*examine(path, is_project=False))


def read_project_file(folder: Path) -> ReadFile | None:
    """Return what the file of a folder's project says, None where there is none. Raises ConfigurationError."""
    path = project_path(folder)
    return None if path is None else _sound(*examine(path, is_project=True))


def examine(path: Path, is_project: bool) -> tuple[ReadFile, list[str]]:
    """Return what a file says and every problem with it, each a sentence; nothing is said where there is one."""
    from pydantic import ValidationError

    from ..runs.checked_yaml import YamlFileError, explain, load_yaml
    from .schema import ConfigurationFile, without_keys

    if is_project and _is_planted(path):
        return ReadFile(path), [_PLANTED.format(path=path)]
    try:
        text, content = load_yaml(path, _HOLDS)
        file = ConfigurationFile.model_validate({} if content is None else content)
    except YamlFileError as error:
        return ReadFile(path), [str(error)]
    except ValidationError as error:
        errors = map(without_keys, error.errors())
        return ReadFile(path), [explain(path, text, each, ConfigurationFile, (), _HOLDS) for each in errors]
    said = _Reader(path, text, is_project)
    found = ReadFile(
        path,
        said.section(file, (), besides=SECTIONS),
        said.section(file.upkeep, (UPKEEP,)),
        {name: said.section(profile, (PROFILES, name)) for name, profile in file.profiles.items()},
    )
    problems = said.problems()
    return (ReadFile(path) if problems else found), problems


def _is_planted(path: Path) -> bool:
    """Tell whether somebody else put a file into a folder that isn't theirs, such as one that everybody can write."""
    return path.stat().st_uid not in (os.geteuid(), path.parent.stat().st_uid)


def _sound(found: ReadFile, problems: list[str]) -> ReadFile:
    if problems:
        raise ConfigurationError(problems[0])
    return found


class _Reader:
    """Reads the sections of one file."""

    def __init__(self, path: Path, text: str, is_project: bool) -> None:
        self._path, self._text, self._is_project = path, text, is_project
        self._folder = path.absolute().parent
        self._problems: list[tuple[int, str]] = []

    def section(self, section: BaseModel, prefix: tuple[str, ...], besides: tuple[str, ...] = ()) -> dict[str, Said]:
        """Return what is set in a section."""
        from ..runs.checked_yaml import line_of

        found = {}
        for name, value in section.model_dump(mode="json", exclude_none=True, exclude=set(besides)).items():
            line = line_of(self._text, (*prefix, name))
            if self._is_project and (prefix or not BY_NAME[name].in_project):
                self._problems.append((line, _NOT_HERE.format(key=".".join((*prefix, name)), own=user_path())))
                continue
            found[name] = Said(self._anchored(name, value, line), line)
        for name in OF_A_SERVER:
            if name in found and "model" not in found:
                self._problems.append((found[name].line, _WHOSE.format(key=".".join((*prefix, name)))))
        return found

    def problems(self) -> list[str]:
        """Return what is wrong, in the order of the lines."""
        return [f"{self._path}, line {line}: {problem}" for line, problem in sorted(self._problems)]

    def _anchored(self, name: str, value: Any, line: int) -> Any:
        """Return a value whose paths are absolute, from the folder of the file."""
        if name == "model":
            anchored = _model_from(value, self._folder)
            scheme, colon, rest = anchored.partition(":")
            place = rest if colon and scheme == "scripted" else anchored
            if self._is_project and (Path(place).is_absolute() or colon):
                self._require_inside(name, value, place, line)
            return anchored
        if name == "db" or (name == "adapter" and value != "none"):
            try:
                place = str((self._folder / Path(value).expanduser()).resolve())
            except RuntimeError:
                self._problems.append((line, f"expected `{name}` to begin with a home folder; found {value!r}"))
                return value
            if self._is_project:
                self._require_inside(name, value, place, line)
            return place
        return value

    def _require_inside(self, name: str, value: str, place: str, line: int) -> None:
        if not Path(place).is_absolute() or not Path(place).resolve().is_relative_to(self._folder.resolve()):
            self._problems.append((line, _OUTSIDE.format(key=name, value=value, own=user_path())))


def _model_from(value: str, folder: Path) -> str:
    from ..models import anchored

    return anchored(value, folder)


_WHOSE = "expected `model` beside `{key}`, which belongs to the server of that model"
_NOT_HERE = (
    "`{key}` can't be set by a project's file, since it decides where prompts and keys are sent or what is forgotten; "
    "set it in your own, {own}"
)
_PLANTED = (
    "{path}: this file belongs neither to you nor to whom its folder belongs, so it isn't read; remove it, or "
    "make it your own"
)
_OUTSIDE = (
    "expected `{key}` to name something inside the project's folder, or a model of the catalogue; found {value!r}. "
    "What is elsewhere is set in your own file, {own}"
)
