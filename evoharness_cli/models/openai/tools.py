"""The patterns of a constraint as tools that a server's model can call, and a call as the action that it means.

A tool's arguments are texts, not choices among the names seen so far: the tools stand at the beginning of what a server
caches, and would be others at each step. What is filled in is judged by the environment, like any action. Only where a
pattern is nothing but a choice, the choices are what the tool says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...harness import Constraint, OneOf
from ...harness.constraint import Pattern
from .answer import Call

_WORD = re.compile(r"[a-z0-9]+")
_LONGEST_NAME = 64
_FIRST = "what"
"""The argument that nothing comes before but the tool's own words."""


@dataclass(frozen=True)
class Tool:
    """A pattern of replies, under a name; `arguments` name what is filled in, in order."""

    name: str
    pattern: Pattern
    arguments: tuple[str, ...]

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request has it."""
        properties: dict[str, Any] = {name: {"type": "string"} for name in self.arguments}
        if isinstance(only := self.pattern[0], OneOf) and len(self.pattern) == 1:
            properties[self.arguments[0]]["enum"] = list(only.names)
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self._filled([f"{{{name}}}" for name in self.arguments]),
                "parameters": {"type": "object", "properties": properties, "required": list(self.arguments)},
            },
        }

    def action(self, call: Call) -> str:
        """Return the action that a call means, on one line."""
        return self._filled([" ".join(str(call.arguments.get(name, "")).split()) for name in self.arguments])

    def _filled(self, values: Sequence[str]) -> str:
        left = iter(values)
        return "".join(part if isinstance(part, str) else next(left) for part in self.pattern).strip()


def tools_of(constraint: Constraint) -> list[Tool]:
    """Return a tool for each pattern of a constraint."""
    tools: list[Tool] = []
    for pattern in constraint.patterns:
        words = _WORD.findall(" ".join(part for part in pattern if isinstance(part, str)).lower())
        name = _unused("_".join(words)[:_LONGEST_NAME] or "act", [tool.name for tool in tools])
        tools.append(Tool(name, pattern, _arguments(pattern)))
    return tools


def action_of(call: Call, tools: Sequence[Tool]) -> str:
    """Return the action that a call means; one of a tool that there isn't stays as it was called, for the model to see.

    It is then no action of the environment, which says so.
    """
    for tool in tools:
        if tool.name == call.tool:
            return tool.action(call)
    return f"{call.tool} {json.dumps(call.arguments)}"


def _arguments(pattern: Pattern) -> tuple[str, ...]:
    """Name what is filled in by the word before it: `take {what} from {from}`."""
    names: list[str] = []
    words: list[str] = []
    for part in pattern:
        if isinstance(part, str):
            words = _WORD.findall(part.lower())
        else:
            names.append(_unused(words[-1] if names and words else _FIRST, names))
    return tuple(names)


def _unused(name: str, names: Sequence[str]) -> str:
    """Return a name that isn't there yet, with a number where it is."""
    number, found = 1, name
    while found in names:
        number += 1
        found = f"{name}_{number}"
    return found
