"""Where the configuration reaches the command line: it gives the defaults of a command's options."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PROFILED = ("run", "eval")
"""The commands that take `--profile` themselves, besides the program."""
UNCONFIGURED = ("config",)
"""The commands that say what is wrong with the configuration, and so don't need it."""


def defaults_for(name: str, command: Any, arguments: Sequence[str], profile: str | None) -> Mapping[str, Any]:
    """Return the configured defaults of a command, below its name, given the arguments that follow it.

    Help shows the program's own defaults, whatever is configured. Raises ConfigurationError.
    """
    options = list(_options(arguments))
    if name in UNCONFIGURED or "--help" in options:
        return {}
    from ..configuration.defaults import defaults_of
    from ..configuration.layers import configure

    chosen = _value("--profile", arguments) or profile
    return defaults_of({name: command}, configure(Path.cwd(), chosen, _value("--model", arguments)))


def share_profile(option: Any, commands: Mapping[str, Any]) -> None:
    """Let the commands that play take the program's option `--profile` as well."""
    for name in PROFILED:
        shared = copy.copy(option)
        shared.expose_value = False
        commands[name].params.append(shared)


def _options(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments before the mark after which nothing is an option."""
    return arguments[: list(arguments).index("--")] if "--" in arguments else arguments


def _value(option: str, arguments: Sequence[str]) -> str | None:
    """Return what the arguments give an option, None where they don't."""
    options = _options(arguments)
    for number, each in enumerate(options):
        if each == option:
            return next(iter(options[number + 1 :]), None)
        if each.startswith(f"{option}="):
            return each.removeprefix(f"{option}=")
    return None
