"""YAML files that people write, read and checked: every error names the file, the line, and what was expected."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic_core import ErrorDetails

from ..harness import WrongUsage

_WANTED = {
    "path_type": "a path",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "dict_type": "keys with their values",
    "model_type": "keys with their values",
    "int_type": "a whole number",
}
"""What was expected, for the types of pydantic's errors whose own words say it less well."""


class YamlFileError(WrongUsage):
    """A YAML file can't be used; the message names the file, the line, what was expected and what was found."""


def load_yaml(path: Path, holds: str) -> tuple[str, object]:
    """Return a file's text and what it says as YAML; `holds` words what was expected in it. Raises YamlFileError."""
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
        if twice := _said_twice(yaml.compose(text, Loader=yaml.SafeLoader)):
            raise YamlFileError(f"{path}, line {twice.start_mark.line + 1}: the key `{twice.value}` is there twice")
        return text, content
    except FileNotFoundError:
        raise YamlFileError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise YamlFileError(f"{path}: expected a readable text file in UTF-8; {error}") from None
    except RecursionError:
        raise YamlFileError(f"{path}: expected {holds}; found lists or mappings nested too deep") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it can't be read"
        raise YamlFileError(f"{path}{where}: expected YAML; {problem}") from None


def explain(
    path: Path, text: str, error: ErrorDetails, model: type[BaseModel], prefix: Sequence[str], holds: str
) -> str:
    """Return the sentence for an error that pydantic found in a file's text.

    `model` is what was validated, `prefix` the keys that it stands below, and `holds` words what the file should hold.
    """
    place = (*prefix, *error["loc"])
    name = ".".join(str(part) for part in place)
    where = f"{path}, line {line_of(text, place)}"
    if error["type"] == "extra_forbidden":
        section = _section(model, error["loc"][:-1])
        known = list(section.model_fields) if section else []
        close = difflib.get_close_matches(str(place[-1]), known, 1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        return f"{where}: unknown key `{name}`" + (f"; expected one of {', '.join(known)}{hint}" if known else "")
    if error["type"] == "missing":
        return f"{where}: expected the key `{name}`, which is missing"
    if not place:
        return f"{where}: expected {holds}; found {shown(error['input'])}"
    return f"{where}: expected `{name}` to be {wanted(error)}; found {shown(error['input'])}"


def wanted(error: ErrorDetails) -> str:
    """Return what was expected, for an error that pydantic found in a value."""
    said = error["msg"].removeprefix("Input should be ").split(", unable")[0]
    return _WANTED.get(error["type"], said)


def shown(value: object) -> str:
    """Return a value as errors show it: cut where it is long."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def line_of(text: str, place: Sequence[int | str]) -> int:
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


def _section(annotation: Any, place: Sequence[int | str]) -> type[BaseModel] | None:
    """Return the model of the section at a place, in lists and mappings of sections too; None where there is none."""
    for part in place:
        if model := _model_of(annotation):
            field = model.model_fields.get(str(part))
            annotation = field.annotation if field else None
        else:
            # What a list or a mapping holds comes last among what its type is made of.
            annotation = next(reversed(get_args(annotation)), None)
    return _model_of(annotation)


def _model_of(annotation: Any) -> type[BaseModel] | None:
    choices = (annotation, *get_args(annotation)) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return next((each for each in choices if isinstance(each, type) and issubclass(each, BaseModel)), None)
