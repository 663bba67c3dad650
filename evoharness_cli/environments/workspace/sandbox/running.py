"""Runs a confined command: reads what it prints, looks at what it uses, and ends it when that is too much."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .launcher.start import STARTED
from .limits import MIB, Limits

_TURN = 0.2
"""Seconds between two looks at what a command uses."""
_GRACE = 2.0
"""Seconds that the launcher has to end by itself, and for what is still in the pipe to be read."""
_BLOCK = 65536


@dataclass(frozen=True)
class Ended:
    """What a command printed, its exit code, and why it was stopped where it was.

    A code over 128 is 128 and the number of the signal that ended it.
    """

    output: bytes
    code: int
    stopped: str = ""


class CannotConfine(Exception):
    """The command wasn't started, since what confines it can't be had here."""


def run(argv: Sequence[str], folder: Path, limits: Limits) -> Ended:
    """Run a launcher's command line to its end; `folder` is the one that the command writes.

    Raises CannotConfine where the launcher doesn't start the command, and OSError.
    """
    confirmed, confirms = os.pipe()
    with os.fdopen(confirmed, "rb") as confirmation:
        try:
            process = _launched(argv, confirms)
        finally:
            os.close(confirms)
        with process:
            try:
                ended = _followed(process, folder, limits)
            finally:
                _end(process)
        if confirmation.read() != STARTED:
            said = ended.output.decode("utf-8", "replace").strip().splitlines()
            raise CannotConfine(said[-1] if said else f"the launcher ended with {ended.stopped or ended.code}")
        return ended


def _launched(argv: Sequence[str], confirms: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=confirms,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # Only what the launcher itself needs: what this process was given is no business of the command's.
        env={"PATH": os.defpath, "LANG": "C.UTF-8"},
        cwd="/",
        start_new_session=True,
    )


def _followed(process: subprocess.Popen[bytes], folder: Path, limits: Limits) -> Ended:
    assert process.stdout
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    output = bytearray()
    use = _Use(process.pid, folder, limits)
    stopped, more = "", True
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while process.poll() is None and not stopped:
            if not more:
                # It closed its output and goes on without it.
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_TURN)
            elif selector.select(_TURN):
                more = _read(pipe, output, limits.output)
            stopped = use.too_much(len(output))
        until = time.monotonic() + _GRACE
        while more and not stopped and time.monotonic() < until and selector.select(_TURN):
            more = _read(pipe, output, limits.output)
            stopped = use.too_much_printed(len(output))
    _end(process)
    return Ended(bytes(output[: limits.output]), process.returncode, stopped)


def _read(pipe: int, output: bytearray, most: int) -> bool:
    """Read what is there, one byte over the limit at most; False at the end."""
    try:
        block = os.read(pipe, min(_BLOCK, most + 1 - len(output)))
    except BlockingIOError:
        return True
    output += block
    return bool(block)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the launcher, which ends all else with it."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class _Use:
    """What a command and all that it started use up."""

    def __init__(self, launcher: int, folder: Path, limits: Limits) -> None:
        self._launcher = launcher
        self._folder = folder
        self._limits = limits
        self._until = time.monotonic() + limits.seconds
        self._next_look = time.monotonic() + _TURN
        self._size = size_of(folder)
        self._free = _free_bytes(folder)

    def too_much_printed(self, printed: int) -> str:
        """Say that too much was printed; empty where it was not."""
        most = self._limits.output
        return f"it printed more than {most // MIB} MiB" if printed > most else ""

    def too_much(self, printed: int) -> str:
        """Say what is too much; empty while nothing is."""
        limits, now = self._limits, time.monotonic()
        if now > self._until:
            return f"it ran longer than {limits.seconds} seconds"
        if now < self._next_look:
            return self.too_much_printed(printed)
        self._next_look = now + _TURN
        processes = list(_descendants(self._launcher))
        if len(processes) > limits.processes:
            return f"it started more than {limits.processes} processes"
        if sum(map(_memory, processes)) > limits.memory:
            return f"it took more than {limits.memory // MIB} MiB of memory"
        if self._filled() > limits.disk:
            return f"it wrote more than {limits.disk // MIB} MiB"
        return ""

    def _filled(self) -> int:
        """Return how much was added to the folder; only measured while the disk has lost as much as that."""
        if self._free - _free_bytes(self._folder) <= self._limits.disk:
            return 0
        return size_of(self._folder) - self._size


def threads_of(user: int) -> int:
    """Return how many threads of a user there are, since the kernel's limit counts all of them together."""
    return sum(int(status["Threads"]) for status in _statuses() if int(status["Uid"].split()[1]) == user)


def _descendants(launcher: int) -> Iterator[dict[str, str]]:
    """Yield the status of what the launcher started; the launcher itself is not the command's."""
    children: dict[str, list[dict[str, str]]] = {}
    for status in _statuses():
        children.setdefault(status["PPid"], []).append(status)
    left = [*children.get(str(launcher), [])]
    while left:
        status = left.pop()
        yield status
        left += children.get(status["Pid"], [])


def _statuses() -> Iterator[dict[str, str]]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield _status(folder)


def _status(process: Path) -> dict[str, str]:
    lines = (process / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def _memory(status: dict[str, str]) -> int:
    """Return the bytes of a process's own memory; a process that has ended has none."""
    return 1024 * sum(int(status.get(key, "0").split()[0]) for key in ("RssAnon", "RssShmem"))


def _free_bytes(folder: Path) -> int:
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize


def size_of(folder: Path) -> int:
    """Return the bytes on disk of all that is in a folder."""
    total, left = 0, [str(folder)]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
    return total
