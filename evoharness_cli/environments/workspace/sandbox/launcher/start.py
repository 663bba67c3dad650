"""Confines itself as a plan says, runs the command, and ends with it and with all that it started.

Standard input is a pipe on which it confirms that the command starts, which nothing that the command prints can do.

Three processes take part: this one, which waits; with namespaces a first process in them, whose end is the end of all
others there; and the command's own. Each dies when the one before it does. Without namespaces this process adopts what
the command leaves behind, and ends it.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from . import kernel, landlock, namespaces, privileges, seccomp
from .plan import Plan, read_plan

STARTED = b"+"
"""What confirms that the command starts; without it, what was in the way is on standard error."""
_NOT_STARTED, _NOT_FOUND = 125, 127
_LINUX = sys.platform == "linux"
"""Elsewhere commands can only run unconfined, and what they leave behind stays."""
_GRACE = 5
"""Seconds after which a command that should have ended long ago is ended here, whoever else forgot to."""


def main() -> NoReturn:
    """Do as the plan on the command line says."""
    plan = read_plan(sys.argv[1])
    try:
        code = _RUN[plan.kind](plan)
    except (OSError, kernel.UnknownMachine, landlock.TooOld) as error:
        print(error, file=sys.stderr, flush=True)
        code = _NOT_STARTED
    os._exit(code)


def _run_in_namespaces(plan: Plan) -> int:
    _die_with_parent(signal.SIGKILL)
    namespaces.leave()
    signal.alarm(plan.limits["seconds"] + _GRACE)
    first = os.fork()
    if first:
        return _waited(first)
    _die_with_parent(signal.SIGKILL)
    namespaces.build_root(plan)
    command = _start(plan)
    # As the first process it inherits what others leave behind.
    while True:
        ended, status = os.wait()
        if ended == command:
            return _code(status)


def _run_inside(plan: Plan) -> int:
    _confine(plan)
    os.chdir(namespaces.WORKSPACE)
    _execute(plan)


def _run_supervised(plan: Plan) -> int:
    _die_with_parent(signal.SIGTERM)
    if _LINUX:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)

    def end(*_: int | FrameType | None) -> NoReturn:
        _end_descendants()
        os._exit(128 + signal.SIGTERM)

    for stop in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(stop, end)
    signal.alarm(plan.limits["seconds"] + _GRACE)
    os.chdir(plan.folder)
    command = _start(plan)
    code = _waited(command)
    _end_descendants()
    return code


_RUN = {
    "namespaces": _run_in_namespaces,
    "inside": _run_inside,
    "landlock": _run_supervised,
    "unconfined": _run_supervised,
}


def _start(plan: Plan) -> int:
    """Start the command in a process of its own and return its id."""
    command = os.fork()
    if command:
        return command
    try:
        os.setsid()
        for stop in (signal.SIGTERM, signal.SIGALRM):
            signal.signal(stop, signal.SIG_DFL)
        _confine(plan)
        # Only now, since a process that becomes another user has to ask anew.
        _die_with_parent(signal.SIGKILL)
        _execute(plan)
    except BaseException as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(_NOT_STARTED)


def _confine(plan: Plan) -> None:
    privileges.give_up(plan)
    if plan.kind == "landlock":
        landlock.restrict(plan)
    if plan.kind != "unconfined":
        seccomp.filter_calls(alone=plan.kind == "landlock")


def _execute(plan: Plan) -> NoReturn:
    # Python ignores these, and what it executes would go on to.
    for stop in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(stop, signal.SIG_DFL)
    os.write(0, STARTED)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        os.execvpe(plan.command[0], plan.command, dict(plan.environment))
    except OSError as error:
        print(f"{plan.command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(_NOT_FOUND)


def _die_with_parent(stop: signal.Signals) -> None:
    if _LINUX:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, int(stop))


def _waited(process: int) -> int:
    _, status = os.waitpid(process, 0)
    return _code(status)


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _end_descendants() -> None:
    """End all that the command left behind; what loses its parent becomes a child of this process and is next."""
    with suppress(ChildProcessError):
        while True:
            for child in _children():
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    if not _LINUX:
        return []
    with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123
        return [int(child) for child in file.read().split()]
