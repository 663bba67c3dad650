"""The configuration as the defaults of the command line's options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from .keys import EVERY, KEYS
from .layers import Configuration


class Parameter(Protocol):
    """An option or argument of a command."""

    name: str
    opts: list[str]


def defaults_of(commands: Mapping[str, Any], configuration: Configuration) -> dict[str, Any]:
    """Return what stands in for the options that aren't given: by command, then by parameter.

    A group of commands has its commands' defaults below their names.
    """
    found = {}
    for name, command in commands.items():
        own = _of_command(name, command.params, configuration)
        found[name] = {**own, **defaults_of(getattr(command, "commands", {}), configuration)}
    return found


def _of_command(name: str, parameters: Iterable[Parameter], configuration: Configuration) -> dict[str, Any]:
    options = {
        f"--{key.name.replace('_', '-')}": configuration.values[key.name].value
        for key in KEYS
        if key.name in configuration.values and (key.commands == EVERY or name in key.commands)
    }
    return {each.name: options[option] for each in parameters for option in each.opts if option in options}
