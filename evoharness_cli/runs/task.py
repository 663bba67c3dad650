"""Task files: what to do, where, and within which limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..environments import UnknownEnvironment, load_adapter
from ..harness import Decode, Limits, WrongUsage
from ..models import anchored
from .checked_yaml import YamlFileError, explain, line_of, load_yaml, shown

_HOLDS = "the keys of a task"


class TaskFileError(YamlFileError):
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
                f"The environment {self.environment} can't take {first['loc'][0]} {shown(first['input'])}: "
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
    try:
        text, data = load_yaml(path, _HOLDS)
        file = TaskFile.model_validate(data)
    except YamlFileError as error:
        raise TaskFileError(str(error)) from None
    except ValidationError as error:
        raise TaskFileError(explain(path, text, error.errors()[0], TaskFile, (), _HOLDS)) from None
    needs = dict(file.environment)
    name = needs.pop("name", None)
    if not isinstance(name, str):
        line = line_of(text, ("environment",))
        raise TaskFileError(
            f"{path}, line {line}: expected `environment.name`, the name of an environment; found {name!r}"
        )
    try:
        adapter = load_adapter(name)
    except UnknownEnvironment as error:
        line = line_of(text, ("environment", "name"))
        raise TaskFileError(f"{path}, line {line}: {error}") from None
    try:
        checked = adapter.needs.model_validate(needs)
    except ValidationError as error:
        raise TaskFileError(explain(path, text, error.errors()[0], adapter.needs, ("environment",), _HOLDS)) from None
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


def _absolute(path: Path, text: str, needs: BaseModel) -> dict[str, Any]:
    """Make the paths among the needs absolute, from the task file's folder, and check that they are there."""
    found = needs.model_dump(mode="json", exclude_unset=True)
    for key in found:
        value = getattr(needs, key)
        if isinstance(value, Path):
            found[key] = _there(path, text, key, value)
        elif isinstance(value, tuple):
            found[key] = [_there(path, text, key, each) if isinstance(each, Path) else each for each in value]
    return found


def _there(path: Path, text: str, key: str, value: Path) -> str:
    there = (path.parent / value).resolve()
    if not there.exists():
        line = line_of(text, ("environment", key))
        raise TaskFileError(
            f"{path}, line {line}: expected `environment.{key}` to name an existing file; there is no {there}"
        )
    return str(there)
