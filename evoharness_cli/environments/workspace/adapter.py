"""Software tasks as an environment of evoharness."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ...harness import OutsideFault, WrongUsage
from .. import Finding
from .checks import Check
from .environment import Work, WorkspaceEnvironment
from .sandbox import Kind, Limits, NoSandbox, Sandbox, find_sandbox, no_sandbox_hint, sandboxes
from .sandbox.limits import MIB
from .working_copy import WorkingCopy

ENVIRONMENT = "workspace"
_ON_DISK = "file://"
UNSAFE_OPTION = "--unsafe-no-sandbox"


class CommandLimits(BaseModel):
    """What one command may use up, with all that it starts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: int = Field(60, ge=1, strict=True)
    memory_mib: int = Field(1024, ge=16, strict=True)
    processes: int = Field(128, ge=1, strict=True)


class WorkspaceNeeds(BaseModel):
    """What a task file says of a software task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repository: Path
    """A git repository, with files beside it or bare, or a plain folder; relative to the task file."""
    commit: str | None = Field(None, min_length=1)
    """What of the repository is copied; its HEAD by default."""
    request: str = Field(min_length=1)
    """What is to be done; the task's `goal` replaces it."""
    checks: tuple[Check, ...] = Field(min_length=1)
    """What has to pass."""
    protected: tuple[str, ...] = ()
    """Patterns of paths that stay as they are in the commit, such as `tests/**`."""
    setup: tuple[str, ...] = ()
    """Commands that prepare a copy, in the sandbox."""
    tools: Path | None = None
    """A folder that commands may read besides, whose `bin` comes first on their PATH: a virtual environment, say."""
    command_limits: CommandLimits = CommandLimits()

    @field_validator("repository", mode="before")
    @classmethod
    def _without_scheme(cls, given: object) -> object:
        return given.removeprefix(_ON_DISK) if isinstance(given, str) else given


class WorkspaceAdapter:
    """Opens software tasks.

    What a person has to allow anew for each run is no part of a task: that the result is applied to their own files,
    and that commands run without a sandbox where there is none.
    """

    needs: type[BaseModel] = WorkspaceNeeds

    def __init__(self, apply: bool = False, unsafe: bool = False) -> None:
        self._apply = apply
        self._unsafe = unsafe

    def locate(self, place: str) -> list[tuple[str, dict[str, Any]]]:
        """Refuse: a repository says nothing about what is to be done in it."""
        raise WrongUsage(f"expected a task file for the environment {ENVIRONMENT}; found {ENVIRONMENT}:{place}")

    def recognise(self, path: Path) -> list[tuple[str, dict[str, Any]]]:
        """Return nothing, since a task needs a request and checks besides a folder."""
        del path
        return []

    def open(self, needs: BaseModel, goal: str | None) -> WorkspaceEnvironment:
        """Return the environment of one task. Raises OutsideFault where the repository can't be copied."""
        assert isinstance(needs, WorkspaceNeeds)
        given = needs.command_limits
        limits = Limits(seconds=given.seconds, memory=given.memory_mib * MIB, processes=given.processes)
        sandbox, refusal = self._sandbox(needs.tools)
        work = Work(goal or needs.request, needs.checks, needs.setup, needs.protected, limits)
        try:
            copy = WorkingCopy(needs.repository, needs.commit)
        except OSError as error:
            raise OutsideFault(f"The repository {needs.repository} can't be copied: {error}.") from error
        return WorkspaceEnvironment(copy, work, sandbox, refusal, needs.repository if self._apply else None)

    def examine(self) -> Iterator[Finding]:
        """Look at which sandbox works here, and for git."""
        git = shutil.which("git")
        yield Finding("git", git or "not installed", None if git else "install git")
        try:
            kind = find_sandbox()
        except NoSandbox:
            yield Finding("sandbox", no_sandbox_hint(), f"install bubblewrap, or start with {UNSAFE_OPTION}")
            return
        others = [f"{other.value}: {why}" for other, why in sandboxes().items() if why]
        yield Finding("sandbox", " — ".join([kind.value, *others]))

    def close(self) -> None:
        """Nothing is shared by the tasks."""

    def _sandbox(self, tools: Path | None) -> tuple[Sandbox | None, str]:
        """Return what runs commands, or None and why they are refused."""
        try:
            return Sandbox(find_sandbox(), tools), ""
        except NoSandbox as error:
            if self._unsafe:
                return Sandbox(Kind.UNCONFINED, tools), ""
            return None, f"{error}, or start with {UNSAFE_OPTION}"
