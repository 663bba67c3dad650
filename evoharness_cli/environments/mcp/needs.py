"""What a task file says of a server and of what is to be done with its tools."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

TASK = "{task}"
"""What stands for the task's folder in a command."""

Command = Annotated[list[str], Field(min_length=1)]
Text = Annotated[str, Field(min_length=1)]


class Approve(str, Enum):
    """Which calls a person is asked about: those of tools that don't say they only read, none, or all."""

    WRITING = "writing"
    NONE = "none"
    ALL = "all"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Server(_Section):
    """A server: a command that speaks on standard input and output, or the address of one that speaks HTTP."""

    command: Command | None = None
    env: list[str] = []
    """Names of environment variables that the command may see where they are set, besides PATH, HOME and the like."""
    url: Text | None = None
    headers: dict[str, str] = {}
    """Sent with each request; `$NAME` stands for the value of an environment variable."""
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 60
    """Seconds for the connection, and for each call."""


class Tools(_Section):
    """The tools that the agent has: names, or patterns such as `read_*`."""

    allow: list[str] = ["*"]
    deny: list[str] = []


class Success(_Section):
    """How it is found out whether the request was fulfilled: by a command, by a tool's answer, or by a person."""

    command: Command | None = None
    """Exits with 0 where it was; the agent's answer is its standard input."""
    tool: Text | None = None
    """Called with `arguments`; its result has to hold `expect`, or what the regular expression `matches` finds."""
    arguments: dict[str, Any] = {}
    expect: Text | None = None
    matches: Text | None = None
    person: bool = False

    @model_validator(mode="before")
    @classmethod
    def _person_as_a_word(cls, value: Any) -> Any:
        return {"person": True} if value == "person" else value


def _one_way_to_connect(server: Server) -> Server:
    if (server.command is None) == (server.url is None):
        raise PydanticCustomError("one_way", "keys with either `command` or `url` among them")
    return server


def _one_way_to_judge(success: Success) -> Success:
    if [success.command is not None, success.tool is not None, success.person].count(True) != 1:
        raise PydanticCustomError("one_way", "`person`, or keys with either `command` or `tool` among them")
    if success.tool is not None and (success.expect is None) == (success.matches is None):
        raise PydanticCustomError("one_way", "keys with either `expect` or `matches` beside `tool`")
    try:
        re.compile(success.matches or "")
    except re.error as error:
        raise PydanticCustomError("regex", "keys with a regular expression as `matches`") from error
    return success


class McpNeeds(_Section):
    """What a task file says of a task at a server."""

    server: Annotated[Server, AfterValidator(_one_way_to_connect)]
    request: Text
    """What is to be done; the goal of the task."""
    success: Annotated[Success, AfterValidator(_one_way_to_judge)]
    tools: Tools = Tools()
    approve: Approve = Approve.WRITING
    files: Path | None = None
    """A folder of which each attempt gets a fresh copy, in which the commands are then run."""
    folder: Path
    """Where the commands are run otherwise, relative to the task file; that file's own folder where it doesn't say."""

    @model_validator(mode="before")
    @classmethod
    def _beside_the_task(cls, needs: Any) -> Any:
        return {"folder": ".", **needs} if isinstance(needs, dict) else needs
