"""A server's tools as actions: what the agent calls them, how a call is written, and what it is told of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ...harness import VERBS, OutsideFault

if TYPE_CHECKING:
    from mcp import types

SUBMIT = "submit"
"""The action that ends the task."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")
_SLOT, _QUOTED = re.compile(r"\{(\w+)\}"), re.compile(r'"\{(\w+)\}"')
_MOST_TOOLS = 100
_DEEPEST = 4
_LONGEST_FORM = 600
_MOST_CHOICES = 50
_DESCRIBED, _ARGUMENT_DESCRIBED = 300, 100


class UnusableTools(OutsideFault):
    """Tools that a task asks for and that aren't there, or that no agent should be shown."""


@dataclass(frozen=True)
class Offer:
    """A tool as an action."""

    tool: str
    """The name that the server knows."""
    name: str
    """The name that the agent uses: another one where the tool's own would call the harness."""
    form: str
    """How a call is written, with a placeholder for each argument that has to be given."""
    manual: str
    """What it does and which arguments it takes, on one line."""
    writes: bool
    """Whether it may change something: it doesn't say that it only reads."""


@dataclass(frozen=True)
class Offers:
    """The actions of a task, by the names that the agent uses."""

    by_name: Mapping[str, Offer]
    names: Mapping[str, Sequence[str]]
    """For each placeholder that takes one of a few values, these."""

    @property
    def example(self) -> str:
        """A call of the first tool, with some value for each placeholder."""
        form = next(iter(self.by_name.values())).form
        quoted = _QUOTED.sub(lambda slot: f'"{self.names.get(slot[1], [slot[1]])[0]}"', form)
        return _SLOT.sub(lambda slot: self.names.get(slot[1], ["1"])[0], quoted)


def choose(tools: Sequence[types.Tool], allow: Sequence[str], deny: Sequence[str]) -> Offers:
    """Return the tools that are allowed and not denied, as actions.

    Raises UnusableTools for a name or pattern that no tool has, for no tool or too many, and for names that are twice
    or no names.
    """
    for pattern in (*allow, *deny):
        if not any(fnmatchcase(tool.name, pattern) for tool in tools):
            offered = ", ".join(repr(tool.name[:_ARGUMENT_DESCRIBED]) for tool in tools[:_MOST_TOOLS]) or "none"
            raise UnusableTools(f"The task names the tool {pattern!r}, which the server hasn't: it has {offered}.")
    chosen = [tool for tool in tools if _any(tool.name, allow) and not _any(tool.name, deny)]
    if not 0 < len(chosen) <= _MOST_TOOLS:
        raise UnusableTools(
            f"Expected between 1 and {_MOST_TOOLS} tools for the agent, found {len(chosen)} of {len(tools)}: "
            "choose them by `tools.allow` and `tools.deny`."
        )
    placeholders = _Placeholders()
    by_name: dict[str, Offer] = {}
    for tool in chosen:
        if not _NAME.fullmatch(tool.name):
            raise UnusableTools(
                f"The server has a tool named {tool.name[:_ARGUMENT_DESCRIBED]!r}, which is no name for an action: "
                "expected letters, digits, dots, dashes and underscores; leave it out by `tools.deny`."
            )
        offer = _offer(tool, placeholders)
        if offer.name in by_name:
            raise UnusableTools(f"The server has two tools named {offer.name!r}; leave them out by `tools.deny`.")
        by_name[offer.name] = offer
    return Offers(by_name, placeholders.choices)


class _Placeholders:
    """Placeholders by name; one that is taken by something else gets underscores."""

    def __init__(self) -> None:
        self._taken: dict[str, tuple[str, ...]] = {}

    @property
    def choices(self) -> dict[str, Sequence[str]]:
        return {name: values for name, values in self._taken.items() if values}

    def add(self, key: str, values: Sequence[str] = ()) -> str:
        name = re.sub(r"\W", "_", key) or "value"
        while self._taken.setdefault(name, tuple(values)) != tuple(values):
            name += "_"
        return f"{{{name}}}"


def _any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _offer(tool: types.Tool, placeholders: _Placeholders) -> Offer:
    name = f"{tool.name}_tool" if tool.name.lower() in (*VERBS, SUBMIT) else tool.name
    schema = tool.input_schema
    form = f"{name} {_sketch(schema, 'arguments', placeholders, 0)}"
    said = [f"{name}: {_shortened(tool.description or 'no description', _DESCRIBED)}."]
    properties = _mapping(schema.get("properties"))
    if properties:
        required = _texts(schema.get("required"))
        described = (_described(key, _mapping(value), key in required) for key, value in properties.items())
        said.append(f"Arguments: {'; '.join(described)}.")
    return Offer(
        tool=tool.name,
        name=name,
        form=form if len(form) <= _LONGEST_FORM else f"{name} {{arguments}}",
        manual=" ".join(said),
        writes=not (tool.annotations and tool.annotations.read_only_hint),
    )


def _sketch(schema: Mapping[str, Any], key: str, placeholders: _Placeholders, depth: int) -> str:
    """Return JSON that a schema allows, with a placeholder for each value; what isn't required is left out."""
    schema = next(
        (_mapping(each) for each in _list(schema.get("anyOf")) if _mapping(each).get("type") != "null"), schema
    )
    if values := _list(schema.get("enum"))[: _MOST_CHOICES + 1]:
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        if len(texts) <= _MOST_CHOICES and all(text.splitlines() == [text] for text in texts):
            slot = placeholders.add(key, texts)
            return f'"{slot}"' if all(isinstance(value, str) for value in values) else slot
    kind = schema.get("type")
    if kind == "object" and depth < _DEEPEST:
        properties = _mapping(schema.get("properties"))
        parts = (
            f"{json.dumps(each)}: {_sketch(_mapping(properties.get(each)), each, placeholders, depth + 1)}"
            for each in _texts(schema.get("required"))
        )
        return f"{{{', '.join(parts)}}}"
    if kind == "array" and depth < _DEEPEST:
        return f"[{_sketch(_mapping(schema.get('items')), key, placeholders, depth + 1)}]"
    if kind == "boolean":
        return placeholders.add(key, ("true", "false"))
    slot = placeholders.add(key)
    return f'"{slot}"' if kind == "string" else slot


def _described(key: str, schema: Mapping[str, Any], required: bool) -> str:
    kind = schema.get("type")
    traits = [*([kind] if isinstance(kind, str) else []), *([] if required else ["optional"])]
    said = f"{_shortened(key, _ARGUMENT_DESCRIBED)} ({', '.join(traits) or 'any'})"
    description = schema.get("description")
    return f"{said} {_shortened(description, _ARGUMENT_DESCRIBED)}" if isinstance(description, str) else said


def _shortened(text: str, longest: int) -> str:
    """Return a text on one line, whole words of it where it is too long."""
    words = " ".join(text.split()).rstrip(".")
    return words if len(words) <= longest else f"{words[:longest].rpartition(' ')[0]} …"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [each for each in _list(value) if isinstance(each, str)]
