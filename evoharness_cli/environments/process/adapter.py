"""Programs as an environment of evoharness: what a task file says of one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...harness import WrongUsage
from .. import Finding
from .environment import ProcessEnvironment
from .program import Program


class ProcessNeeds(BaseModel):
    """What a task file says of a program."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Annotated[list[str], Field(min_length=1)]
    """The program and its arguments."""
    folder: Path
    """Where it is started, relative to the task file; that file's own folder where it doesn't say."""
    options: dict[str, Any] = {}
    """What the program is told at `reset`, such as which of its tasks to play."""
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 60
    """Seconds that the program may take for an answer."""

    @model_validator(mode="before")
    @classmethod
    def _beside_the_task(cls, needs: Any) -> Any:
        return {"folder": ".", **needs} if isinstance(needs, dict) else needs


class ProcessAdapter:
    """Starts a program for each task."""

    needs = ProcessNeeds

    def locate(self, place: str) -> list[tuple[str, dict[str, Any]]]:
        """Refuse any place: a program's tasks are files."""
        raise WrongUsage(f"Expected a task file that names a program; there is no place process:{place}.")

    def recognise(self, path: Path) -> list[tuple[str, dict[str, Any]]]:
        """Return nothing: a program isn't run because it lies there."""
        del path
        return []

    def open(self, needs: BaseModel, goal: str | None) -> ProcessEnvironment:
        """Start the program and have it begin the task. Raises ProgramFault."""
        assert isinstance(needs, ProcessNeeds)
        name = f"The program `{shlex.join(needs.command)}`"
        program = Program(needs.command, needs.folder, needs.timeout, name)
        return ProcessEnvironment(program, needs.options, name, goal)

    def examine(self) -> Iterator[Finding]:
        """Find nothing to look at: a program is found where a task names it."""
        yield from ()

    def close(self) -> None:
        """Do nothing: each environment ends its own program."""
