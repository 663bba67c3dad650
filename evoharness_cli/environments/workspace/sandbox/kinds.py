"""The ways to confine a command, each as the command line that does it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from ..removal import remove
from .launcher.namespaces import WORKSPACE
from .launcher.plan import Plan, written
from .limits import MIB, Limits
from .running import CannotConfine, Ended, run, threads_of

NOBODY = 65534
"""Whom a command runs as where a person runs evoharness as root: a user that owns nothing."""

# That of a virtual environment may be a copy, which lies where no command can read it.
_INTERPRETER = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SETTINGS = ("/etc/alternatives", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
_LAUNCHER = Path(__file__).parent / "launcher"
_SEEN_AT = f"/sandbox/{_LAUNCHER.name}"
"""Where the launcher is inside of bubblewrap."""
_MADE = (Path("/"), Path("/tmp"))
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from launcher.start import main; main()"
_PROBE = Limits(seconds=30, memory=256 * MIB, processes=16)


class Kind(str, Enum):
    """How a command is confined."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    UNCONFINED = "unconfined"
    """Not at all, but for its limits."""


@dataclass(frozen=True)
class Sandbox:
    """One way to confine commands. `tools` is a folder that they may read besides, with programs in its `bin`."""

    kind: Kind
    tools: Path | None = None

    @property
    def confines(self) -> bool:
        """Whether it keeps commands from anything."""
        return self.kind is not Kind.UNCONFINED

    def run(self, command: str, folder: Path, limits: Limits) -> Ended:
        """Run a shell command that may write a folder, and start in it.

        The folder has to be `owned`. Raises CannotConfine where the command wasn't started, and OSError.
        """
        with _scratch(self.kind, folder.parent) as scratch:
            plan = self._plan(command, folder, scratch, limits)
            ended = run(_ARGV[self.kind](plan), folder, limits)
        if self.kind in _AT_THEIR_OWN_PATHS:
            # The same command prints the same, wherever the folder happens to be.
            output = ended.output.replace(os.fsencode(folder), WORKSPACE.encode())
            ended = Ended(output.replace(os.fsencode(scratch), b"/tmp"), ended.code, ended.stopped)
        return ended

    def _plan(self, command: str, folder: Path, scratch: Path, limits: Limits) -> Plan:
        user = NOBODY if os.geteuid() == 0 else None
        # In a user namespace the kernel counts what is in it, else all the processes that the user has.
        counted = user if user is not None else os.getuid() if self.kind in _AT_THEIR_OWN_PATHS else None
        processes = limits.processes + (0 if counted is None else threads_of(counted))
        return Plan(
            kind="inside" if self.kind is Kind.BUBBLEWRAP else self.kind.value,
            command=("/bin/sh", "-c", command),
            folder=str(folder),
            scratch=str(scratch),
            readable=(*_SYSTEM, *_SETTINGS, *self._programs()),
            environment=self._environment(scratch),
            limits={
                "seconds": limits.seconds,
                "memory": limits.memory,
                "file": limits.file,
                "processes": processes,
                "scratch": limits.scratch,
            },
            user=user,
        )

    def _programs(self) -> list[str]:
        """Return the folders of this Python, of the tools, and of the Python that the tools are made for."""
        found = [*([self.tools, *_base_of(self.tools)] if self.tools else []), Path(sys.base_prefix)]
        return [str(path) for path in dict.fromkeys(found) if not path.is_relative_to("/usr") and self._reaches(path)]

    def _reaches(self, path: Path) -> bool:
        """Tell whether a command can get to a path: whom root's commands run as may lack the rights to."""
        if os.geteuid() != 0 or self.kind not in _AT_THEIR_OWN_PATHS:
            return True
        return all(part.exists() and part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents))

    def _environment(self, scratch: Path) -> dict[str, str]:
        programs = [f"{folder}/bin" for folder in self._programs()]
        return {
            "PATH": ":".join([*programs, "/usr/local/bin", "/usr/bin", "/bin"]),
            "HOME": f"{scratch}/home",
            "TMPDIR": str(scratch),
            "USER": "agent",
            "LOGNAME": "agent",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "NO_COLOR": "1",
            # What is printed twice is the same, and no compiled files lie about.
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def own(folder: Path) -> None:
    """Give a folder and all that is in it to whom commands run as; nothing to do for those who aren't root."""
    if os.geteuid() == 0:
        os.lchown(folder, NOBODY, NOBODY)
        left = [folder]
        while left:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    os.lchown(entry.path, NOBODY, NOBODY)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(Path(entry.path))


@cache
def works(kind: Kind) -> str:
    """Try a way to confine commands, and return what is in its way; empty where it works."""
    if sys.platform != "linux":
        return "it needs Linux"
    if kind is Kind.BUBBLEWRAP and shutil.which("bwrap") is None:
        return "bwrap is not installed"
    folder = Path(tempfile.mkdtemp(prefix="evoharness-probe-"))
    try:
        own(folder)
        ended = Sandbox(kind).run("echo works > probe && cat probe", folder, _PROBE)
    except (CannotConfine, OSError) as error:
        return str(error)
    finally:
        remove(folder)
    return "" if ended.output == b"works\n" else f"it printed {ended.output.decode('utf-8', 'replace').strip()!r}"


def _launcher_argv(plan: Plan) -> list[str]:
    return [_INTERPRETER, "-I", "-S", "-B", "-c", _START, str(_LAUNCHER.parent), written(plan)]


def _bubblewrap_argv(plan: Plan) -> list[str]:
    """Return the command line of bubblewrap, inside which the launcher takes away the rest."""
    argv = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    argv += ["--die-with-parent", "--new-session", "--hostname", "sandbox"]
    if plan.user is None:
        argv += ["--unshare-user"]
    else:
        argv += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
    size = str(plan.limits["scratch"])
    argv += ["--proc", "/proc", "--dev", "/dev"]
    for path in ("/tmp", "/dev/shm"):
        argv += ["--size", size, "--perms", "1777", "--tmpfs", path]
    argv += ["--perms", "0777", "--dir", plan.environment["HOME"]]
    # Those it makes by itself may be for root alone.
    for folder in sorted({parent for path in (*plan.readable, _SEEN_AT) for parent in Path(path).parents}):
        if folder not in _MADE:
            argv += ["--perms", "0755", "--dir", str(folder)]
    for path in plan.readable:
        there = Path(path)
        if path in _SYSTEM and there.is_symlink():
            argv += ["--symlink", str(there.readlink()), path]
        else:
            argv += ["--ro-bind-try", path, path]
    argv += ["--ro-bind", str(_LAUNCHER), _SEEN_AT]
    argv += ["--bind", plan.folder, WORKSPACE, "--remount-ro", "/"]
    inside = [_INTERPRETER, "-I", "-S", "-B", "-c", _START, str(Path(_SEEN_AT).parent), written(plan)]
    return [*argv, "--", *inside]


_AT_THEIR_OWN_PATHS = (Kind.LANDLOCK, Kind.UNCONFINED)
"""Those in which a command sees the folder, and one for temporary files, where they are."""

_ARGV = {
    Kind.BUBBLEWRAP: _bubblewrap_argv,
    Kind.NAMESPACES: _launcher_argv,
    Kind.LANDLOCK: _launcher_argv,
    Kind.UNCONFINED: _launcher_argv,
}


@contextmanager
def _scratch(kind: Kind, beside: Path) -> Iterator[Path]:
    """Yield the folder for a command's temporary files: `/tmp` where it has one of its own, else made and removed."""
    if kind not in _AT_THEIR_OWN_PATHS:
        yield Path("/tmp")
        return
    folder = Path(tempfile.mkdtemp(prefix="scratch-", dir=beside))
    try:
        (folder / "home").mkdir()
        own(folder)
        yield folder
    finally:
        remove(folder)


def _base_of(tools: Path) -> list[Path]:
    """Return where the Python of a virtual environment is."""
    with suppress(OSError):
        for line in (tools / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "home":
                return [Path(value.strip()).parent]
    return []
