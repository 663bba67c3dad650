"""Runs the checks of a task where nothing but the agent's changes can make them pass: in a clean copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from .files import Files, Unusable, relative
from .output import readable, shortened
from .results import UnreadableReport, missing, read_junit, read_printed
from .sandbox import Limits, Sandbox

_SHOWN = 2500
"""Characters of a failed check's output that are shown."""


class Check(BaseModel):
    """One check, as a task file says it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str = Field(min_length=1)
    """A shell command, run in the repository's folder; a check passes where its exit code is 0."""
    junit: str | None = None
    """The JUnit XML file that it writes; relative to the repository."""
    tests: tuple[str, ...] = ()
    """Tests that it has to report as passed, with or without their class; it fails where one isn't reported."""


@dataclass(frozen=True)
class Checked:
    """What one check came to."""

    command: str
    fault: str
    """Why it failed; empty where it passed."""
    tests: dict[str, bool]
    """Whether each test that it reported passed."""
    output: str


@dataclass(frozen=True)
class Report:
    """What all checks came to."""

    checked: tuple[Checked, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return not any(each.fault for each in self.checked)

    @property
    def tests(self) -> dict[str, bool]:
        """Whether each test passed, in all the checks that reported it."""
        found: dict[str, bool] = {}
        for each in self.checked:
            for test, passed in each.tests.items():
                found[test] = found.get(test, True) and passed
        return found

    def __str__(self) -> str:
        lines = []
        for each in self.checked:
            lines += [
                f"{'failed' if each.fault else 'passed'}: {each.command}{f' ({each.fault})' if each.fault else ''}"
            ]
            if each.fault and each.output:
                lines += [shortened(each.output, _SHOWN)]
        counted = self.tests
        if counted:
            failed = [test for test, passed in counted.items() if not passed]
            names = f": {', '.join(failed[:20])}{' and more' if len(failed) > 20 else ''}" if failed else ""
            lines += [f"{len(counted) - len(failed)} tests passed, {len(failed)} failed{names}"]
        return "\n".join(lines)


class SetupFailed(Exception):
    """A command that prepares the copy failed; the message says which and what it printed."""


def prepare(folder: Path, setup: Sequence[str], sandbox: Sandbox, limits: Limits) -> None:
    """Run the commands that prepare a copy. Raises SetupFailed, and what the sandbox raises."""
    for command in setup:
        ended = sandbox.run(command, folder, limits)
        if ended.stopped or ended.code:
            said = readable(ended.output).splitlines() or ["it printed nothing"]
            why = ended.stopped or f"exit code {ended.code}"
            raise SetupFailed(f"the setup command {command!r} failed ({why}): {said[-1]}")


def run_checks(folder: Path, checks: Sequence[Check], sandbox: Sandbox, limits: Limits) -> Report:
    """Run each check in a copy that was prepared; see `Sandbox.run` for what it raises."""
    return Report(tuple(_run(folder, check, sandbox, limits) for check in checks))


def _run(folder: Path, check: Check, sandbox: Sandbox, limits: Limits) -> Checked:
    ended = sandbox.run(check.command, folder, limits)
    output = readable(ended.output)
    tests, fault = read_printed(output), ended.stopped
    if not fault and check.junit:
        try:
            tests = read_junit(Files(folder).read(relative(check.junit)))
            fault = "" if tests else f"{check.junit} reports no test"
        except (Unusable, UnreadableReport) as error:
            fault = f"its report {check.junit} can't be read: {error}"
    if not fault and ended.code:
        fault = f"exit code {ended.code}"
    if not fault and (failed := [test for test, passed in tests.items() if not passed]):
        fault = f"{failed[0]} failed"
    if not fault and (absent := missing(tests, check.tests)):
        fault = f"not reported as passed: {', '.join(absent)}"
    return Checked(check.command, fault, tests, output)
