"""Which value of a key counts: of the command line, a variable, the project's file, the user's own, or a profile."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..models import is_served
from .files import ConfigurationError, ReadFile, Said, read_project_file, read_user_file, user_path
from .keys import KEYS, OF_A_SERVER, PROFILES


class Source(StrEnum):
    """Who set a value."""

    COMMAND_LINE = "command line"
    ENVIRONMENT = "environment"
    PROJECT = "project"
    PROFILE = "profile"
    USER = "user"
    DEFAULT = "default"


@dataclass(frozen=True)
class Value:
    """What counts for a key, who set it, and where: a variable, or a file and its line."""

    value: Any
    source: Source
    where: str = ""


Layer = Mapping[str, Value]


@dataclass(frozen=True)
class Configuration:
    """What is set, by key; a key that nobody set is not in it."""

    values: Layer
    upkeep: Layer


def configure(folder: Path, profile: str | None = None, model: str | None = None) -> Configuration:
    """Return what counts in a folder, for a command line that names a `profile` and a `model` where it does.

    The command line goes before the environment, that before the project's file, and that before the user's own. A
    profile's keys come right after those of the place that chose it. What belongs to a model counts with that model
    only: an adapter that is set in the model's place or before it; a server for `openai:` models, and where a profile
    names the model, not one that comes after it.

    Raises ConfigurationError.
    """
    user = read_user_file()
    given = {key: value for key, value in (("profile", profile), ("model", model)) if value is not None}
    layers: list[Layer] = [
        {key: Value(value, Source.COMMAND_LINE) for key, value in given.items()},
        _variables(),
        _of_file(read_project_file(folder), Source.PROJECT),
        _of_file(user, Source.USER),
    ]
    chosen = next((place for place, layer in enumerate(layers) if "profile" in layer), None)
    if chosen is not None:
        layers.insert(chosen + 1, _of_profile(user, layers[chosen]["profile"]))
    values: dict[str, Value] = {}
    places: dict[str, int] = {}
    for place, layer in enumerate(layers):
        for key in layer.keys() - values.keys():
            values[key], places[key] = layer[key], place
    for key in ("adapter", *OF_A_SERVER):
        if key in values and not _belongs(key, values, places):
            del values[key]
    upkeep = user.upkeep if user else {}
    return Configuration(values, {key: _said(each, user, Source.USER) for key, each in upkeep.items()})


def _belongs(key: str, values: Layer, places: Mapping[str, int]) -> bool:
    """Tell whether a key that belongs to a model counts with the one that is used."""
    model = values.get("model")
    if model is None:
        return True
    if key in OF_A_SERVER and not is_served(str(model.value)):
        return False
    return places[key] <= places["model"] or (key in OF_A_SERVER and model.source != Source.PROFILE)


def _variables() -> Layer:
    given = {key.name: os.environ[key.variable] for key in KEYS if os.environ.get(key.variable)}
    if not given:
        return {}
    from pydantic import ValidationError

    from ..runs.checked_yaml import shown, wanted
    from .schema import Keys, without_keys

    variables = {key.name: key.variable for key in KEYS}
    try:
        read = Keys.model_validate_strings(given)
    except ValidationError as error:
        first = without_keys(error.errors()[0])
        variable = variables[str(first["loc"][0])]
        raise ConfigurationError(
            f"Expected the environment variable {variable} to be {wanted(first)}; found {shown(first['input'])}."
        ) from None
    values = read.model_dump(mode="json", exclude_unset=True)
    return {key: Value(value, Source.ENVIRONMENT, variables[key]) for key, value in values.items()}


def _of_file(file: ReadFile | None, source: Source) -> Layer:
    return {key: _said(each, file, source) for key, each in file.keys.items()} if file else {}


def _of_profile(user: ReadFile | None, chosen: Value) -> Layer:
    profiles = user.profiles if user else {}
    if chosen.value not in profiles:
        close = difflib.get_close_matches(str(chosen.value), profiles, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        by = f" (set by {chosen.where})" if chosen.where else ""
        raise ConfigurationError(
            f"Expected a profile among the `{PROFILES}` of {user_path()} ({', '.join(profiles) or 'which has none'}); "
            f"found {chosen.value!r}{by}.{hint}"
        )
    return {key: _said(each, user, Source.PROFILE) for key, each in profiles[chosen.value].items()}


def _said(said: Said, file: ReadFile | None, source: Source) -> Value:
    return Value(said.value, source, f"{file.path if file else ''}, line {said.line}")
