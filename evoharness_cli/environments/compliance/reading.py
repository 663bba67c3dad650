"""Reads the YAML files of a case strictly: what can't be used is one sentence that names the file and the key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from ...harness import OutsideFault

LARGEST = 200_000
"""The most bytes that a YAML file of a case may have."""
DEEPEST = 20
"""How far lists and mappings may be nested in one."""

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][\w.-]*$", max_length=60)]
"""The name of a check or a rule: one word, so that an action can name it."""
Line = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
"""A text that is not empty."""


class CaseError(OutsideFault):
    """A case that can't be used."""


class Section(BaseModel):
    """What a file of a case may say; other keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=Section)


def read_yaml(path: Path, model: type[Model]) -> Model:
    """Return what a YAML file says. Raises CaseError."""
    content = _load(path)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise CaseError(f"{path}: {explained(error)}.") from None


def explained(error: ValidationError) -> str:
    """Return what was expected and what was found, of the first thing that is wrong."""
    return _said(error.errors()[0])


def _load(path: Path) -> object:
    try:
        if path.stat().st_size > LARGEST:
            raise CaseError(f"{path}: expected at most {LARGEST:,} bytes; found {path.stat().st_size:,}.")
        text = path.read_text(encoding="utf-8-sig")
        _refuse_traps(path, text)
        return yaml.safe_load(text)
    except FileNotFoundError:
        raise CaseError(f"{path}: there is no such file, and a case needs it.") from None
    except OSError as error:
        raise CaseError(f"{path}: it can't be read; {error.strerror}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it can't be read"
        raise CaseError(f"{path}{where}: expected YAML; {problem}.") from None
    except ValueError as error:  # What is not UTF-8, and dates such as 2026-13-01.
        raise CaseError(f"{path}: expected YAML in UTF-8; {error}.") from None


def _refuse_traps(path: Path, text: str) -> None:
    """Refuse aliases, a few lines of which can stand for gigabytes, and nesting, which takes ever longer to read."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise CaseError(f"{path}: expected keys with their values; found lists or mappings nested too deep.")
        if isinstance(event, yaml.AliasEvent):
            raise CaseError(f"{path}: expected plain YAML; found an alias (`*name`), which a case may not use.")


def _said(error: ErrorDetails) -> str:
    place = ".".join(str(part) for part in error["loc"])
    if not place:
        return f"expected keys with their values; found {_shown(error['input'])}"
    if error["type"] == "extra_forbidden":
        return f"unknown key `{place}`"
    if error["type"] == "missing":
        return f"expected the key `{place}`, which is missing"
    if error["type"] == "string_pattern_mismatch":
        return f"expected `{place}` to be one word of letters, digits, `.`, `_` and `-`; found {_shown(error['input'])}"
    message = error["msg"].removeprefix("Value error, ")
    wanted = message.removeprefix("Input should be ").removeprefix("Input should have ")
    if wanted == message:
        return f"`{place}` can't be used: {message[:1].lower()}{message[1:]}; found {_shown(error['input'])}"
    return f"expected `{place}` to be {wanted}; found {_shown(error['input'])}"


def _shown(value: object) -> str:
    shown = "nothing" if value is None else repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
