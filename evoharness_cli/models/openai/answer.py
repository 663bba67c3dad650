"""What a server answers, as far as it is read: what was said, thought and called, and the tokens that it counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ...harness import Reply


@dataclass(frozen=True)
class Usage:
    """Tokens that a server counted; `cached` of those of the prompt were there before."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt + other.prompt, self.cached + other.cached, self.completion + other.completion)

    def reply(self, text: str = "") -> Reply:
        """Return a reply that cost so much."""
        return Reply(text, self.prompt, self.completion, self.prompt - self.cached)


@dataclass(frozen=True)
class Call:
    """A tool that the model calls, with its arguments."""

    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class Answer:
    """One reply of a model. `reasoning` is what the server took apart from it as thought."""

    content: str
    reasoning: str
    call: Call | None
    usage: Usage


class Unreadable(Exception):
    """The answer isn't one; the message says what was found instead, `usage` what it cost nevertheless."""

    def __init__(self, found: str, usage: Usage | None = None) -> None:
        super().__init__(found)
        self.usage = usage or Usage()


def read_answer(body: bytes) -> Answer:
    """Read the body of an answer. Raises Unreadable."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise Unreadable(f"no JSON: {_beginning(body)}") from None
    usage = _usage(content)
    try:
        read = _Body.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise Unreadable(f"JSON of another form: at {place}, {first['msg'].lower()}", usage) from None
    if read.error is not None:
        raise Unreadable(f"an error: {said_in(content)}", usage)
    if not read.choices:
        raise Unreadable("no choices", usage)
    message = read.choices[0].message
    call = message.tool_calls[0].function if message.tool_calls else None
    return Answer(
        message.content or "",
        message.reasoning_content or message.reasoning or "",
        Call(call.name, call.arguments) if call else None,
        usage,
    )


def said_in(body: object) -> str:
    """Return what the body of an error says, on one line; it may be JSON of several forms, or a text."""
    if isinstance(body, dict):
        for key in ("error", "message", "detail", "msg"):
            if body.get(key):
                return said_in(body[key])
    if isinstance(body, list) and body:
        return said_in(body[0])
    said = body if isinstance(body, str) else json.dumps(body, default=str)
    return _one_line(said)


def _one_line(text: str, longest: int = 300) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def _beginning(body: bytes) -> str:
    return _one_line(body[:200].decode(errors="replace"), 80) or "an empty body"


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Function(_Read):
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)

    @field_validator("arguments", mode="before")
    @classmethod
    def _parsed(cls, arguments: object) -> object:
        """Read the arguments, which are JSON in a text; what is no object stands for none, and the call is refused."""
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                arguments = {}
        return arguments if isinstance(arguments, dict) else {}


class _ToolCall(_Read):
    function: _Function


class _Message(_Read):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_ToolCall] | None = None

    @field_validator("content", mode="before")
    @classmethod
    def _joined(cls, content: object) -> object:
        """Join a content that comes in parts."""
        if not isinstance(content, list):
            return content
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


class _Choice(_Read):
    message: _Message


class _Body(_Read):
    choices: list[_Choice] = []
    error: Any = None

    @field_validator("choices", mode="before")
    @classmethod
    def _none_is_empty(cls, choices: object) -> object:
        return [] if choices is None else choices


class _Details(_Read):
    cached_tokens: int | None = Field(None, ge=0)


class _Counted(_Read):
    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)
    prompt_tokens_details: _Details | None = None


def _usage(content: object) -> Usage:
    """Return the tokens that an answer states, none where it doesn't, or not as numbers."""
    try:
        counted = _Counted.model_validate(content["usage"] if isinstance(content, dict) else None)
    except (KeyError, ValidationError):
        return Usage()
    details = counted.prompt_tokens_details
    cached = (details.cached_tokens if details else None) or 0
    return Usage(counted.prompt_tokens, min(cached, counted.prompt_tokens), counted.completion_tokens)
