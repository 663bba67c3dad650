"""The four verbs as tools that a language model calls: their names, what they do, and the schema of their argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..harness import VERBS
from ..harness.actions import NEEDS_ARGUMENT
from ..harness.workspace import MANUAL


@dataclass(frozen=True)
class Tool:
    """One verb. `parameters` is a JSON schema with the one text `argument`, which `Harness.call` takes by that name."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def as_openai(self) -> dict[str, Any]:
        """Return the tool as OpenAI's chat completions, and what is compatible with them, take it."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}

    def as_mcp(self) -> dict[str, Any]:
        """Return the tool as the Model Context Protocol lists it."""
        return {"name": self.name, "description": self.description, "inputSchema": dict(self.parameters)}


def _tool(verb: str) -> Tool:
    forms = [entry for entry in MANUAL if entry.verb == verb]
    needed = verb in NEEDS_ARGUMENT
    argument = {
        "type": "string",
        "description": f"What stands between the brackets{'' if needed else '; it may be empty'}.",
        **({"minLength": 1} if needed else {}),
    }
    return Tool(
        name=verb,
        description=". ".join(f"{entry.form} {entry.does}" for entry in forms) + ".",
        parameters={
            "type": "object",
            "properties": {"argument": argument},
            "required": ["argument"] if needed else [],
            "additionalProperties": False,
        },
    )


TOOLS = tuple(_tool(verb) for verb in VERBS)
"""The four verbs, in the words of the harness's own manual."""
