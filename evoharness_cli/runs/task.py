"""Task files: what to do, where, and within which limits."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from ..environments import UnknownEnvironment, load_adapter
from ..harness import Decode, Limits, WrongUsage
from ..models import anchored

_WANTED = {
    "path_type": "a path",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "dict_type": "keys with their values",
    "model_type": "keys with their values",
    "int_type": "a whole number",
}
"""What was expected, for the types of pydantic's errors whose own words say it less well."""


class TaskFileError(WrongUsage):
    """A task file can't be used; the message names the file, the line, what was expected and what was found."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LimitsSection(_Model):
    """What an episode may use up; see `harness.Limits`."""

    steps: int | None = Field(None, ge=1, strict=True)
    completion_tokens: int | None = Field(None, ge=1, strict=True)
    seconds: float | None = Field(None, gt=0, allow_inf_nan=False)
    format_errors: int | None = Field(None, ge=1, strict=True)
    reply_tokens: int | None = Field(None, ge=1, strict=True)
    free_meta: int | None = Field(None, ge=0, strict=True)


class TaskFile(_Model):
    """The keys of a task file."""

    environment: dict[str, Any]
    goal: str | None = Field(None, min_length=1)
    scope: str | None = None
    limits: LimitsSection = LimitsSection()
    model: str | None = None
    adapter: Path | None = None
    decode: Decode | None = None


@dataclass(frozen=True)
class Task:
    """One thing to do. All of it is plain data, so that a run can be taken up again from its record."""

    name: str
    source: str
    """Where it came from, as a person would name it."""
    environment: str
    needs: Mapping[str, Any]
    goal: str | None = None
    scope: str = ""
    """Where in experience it belongs; the environment's name unless the file says otherwise."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """The limits that the file sets; all of them once the task is settled."""
    model: str | None = None
    adapter: str | None = None
    decode: str | None = None

    def settled(
        self,
        limits: Mapping[str, Any],
        decode: Decode | None = None,
        scope: str | None = None,
        needs: Mapping[str, Any] | None = None,
    ) -> Task:
        """Return the task with nothing left to defaults: what is given goes over what its file says.

        Raises WrongUsage for needs that its environment doesn't have.
        """
        wanted = {**self.needs, **(needs or {})}
        try:
            known = load_adapter(self.environment).needs.model_validate(wanted)
        except ValidationError as error:
            first = error.errors()[0]
            raise WrongUsage(
                f"The environment {self.environment} can't take {first['loc'][0]} {_shown(first['input'])}: "
                f"{first['msg']}."
            ) from None
        return replace(
            self,
            needs=known.model_dump(mode="json"),
            limits=asdict(Limits(**{**self.limits, **limits})),
            decode=(decode or Decode(self.decode or Decode.GRAMMAR)).value,
            scope=self.scope if scope is None else scope,
        )


def read_task(path: Path) -> Task:
    """Read a task file. Raises TaskFileError."""
    text, data = _load(path)
    try:
        file = TaskFile.model_validate(data)
    except ValidationError as error:
        raise TaskFileError(_explain(path, text, error.errors()[0], TaskFile, ())) from None
    needs = dict(file.environment)
    name = needs.pop("name", None)
    if not isinstance(name, str):
        line = _line(text, ("environment",))
        raise TaskFileError(
            f"{path}, line {line}: expected `environment.name`, the name of an environment; found {name!r}"
        )
    try:
        adapter = load_adapter(name)
    except UnknownEnvironment as error:
        line = _line(text, ("environment", "name"))
        raise TaskFileError(f"{path}, line {line}: {error}") from None
    try:
        checked = adapter.needs.model_validate(needs)
    except ValidationError as error:
        raise TaskFileError(_explain(path, text, error.errors()[0], adapter.needs, ("environment",))) from None
    found = _absolute(path, text, checked)
    return Task(
        name=path.stem,
        source=str(path),
        environment=name,
        needs=found,
        goal=file.goal,
        scope=name if file.scope is None else file.scope,
        limits=file.limits.model_dump(exclude_none=True),
        model=anchored(file.model, path.parent) if file.model else None,
        adapter=str((path.parent / file.adapter).resolve()) if file.adapter else None,
        decode=file.decode.value if file.decode else None,
    )


def _load(path: Path) -> tuple[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
        if twice := _said_twice(yaml.compose(text, Loader=yaml.SafeLoader)):
            raise TaskFileError(f"{path}, line {twice.start_mark.line + 1}: the key `{twice.value}` is there twice")
        return text, content
    except FileNotFoundError:
        raise TaskFileError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TaskFileError(f"{path}: expected a readable text file in UTF-8; {error}") from None
    except RecursionError:
        raise TaskFileError(f"{path}: expected the keys of a task; found lists or mappings nested too deep") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it can't be read"
        raise TaskFileError(f"{path}{where}: expected YAML; {problem}") from None


def _said_twice(node: yaml.Node | None) -> yaml.ScalarNode | None:
    """Return a key that a mapping has already, the first one from the top."""
    if not isinstance(node, yaml.MappingNode):
        return None
    known: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in known:
            return key
        known.add(key.value)
        if twice := _said_twice(value):
            return twice
    return None


def _absolute(path: Path, text: str, needs: BaseModel) -> dict[str, Any]:
    """Make the paths among the needs absolute, from the task file's folder, and check that they are there."""
    found = needs.model_dump(mode="json", exclude_unset=True)
    for key in found:
        value = getattr(needs, key)
        if isinstance(value, Path):
            there = (path.parent / value).resolve()
            if not there.exists():
                line = _line(text, ("environment", key))
                raise TaskFileError(
                    f"{path}, line {line}: expected `environment.{key}` to name an existing file; there is no {there}"
                )
            found[key] = str(there)
    return found


def _explain(path: Path, text: str, error: ErrorDetails, model: type[BaseModel], prefix: Sequence[str]) -> str:
    place = (*prefix, *error["loc"])
    name = ".".join(str(part) for part in place)
    where = f"{path}, line {_line(text, place)}"
    if error["type"] == "extra_forbidden":
        known = list(_section(model, error["loc"][:-1]).model_fields)
        close = difflib.get_close_matches(str(place[-1]), known, 1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        return f"{where}: unknown key `{name}`; expected one of {', '.join(known)}{hint}"
    if error["type"] == "missing":
        return f"{where}: expected the key `{name}`, which is missing"
    if not place:
        return f"{where}: expected the keys of a task; found {_shown(error['input'])}"
    wanted = error["msg"].removeprefix("Input should be ").split(", unable")[0]
    wanted = _WANTED.get(error["type"], wanted)
    return f"{where}: expected `{name}` to be {wanted}; found {_shown(error['input'])}"


def _section(model: type[BaseModel], loc: Sequence[int | str]) -> type[BaseModel]:
    for part in loc:
        annotation = model.model_fields[str(part)].annotation
        assert isinstance(annotation, type) and issubclass(annotation, BaseModel)
        model = annotation
    return model


def _shown(value: object) -> str:
    shown = "nothing" if value is None else repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _line(text: str, place: Sequence[int | str]) -> int:
    """Return the line, from 1, of the deepest key of a place that the text has."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    line = 1
    for part in place:
        if not isinstance(node, yaml.MappingNode):
            break
        for key, value in node.value:
            if key.value == str(part):
                line, node = key.start_mark.line + 1, value
                break
        else:
            break
    return line
