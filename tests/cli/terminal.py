"""A program on a terminal of its own: what its screen shows, and the keys that are pressed."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import pyte
from commands import ROOT

PATIENCE = 60
"""Seconds after which what was waited for isn't coming."""


class Terminal:
    """A process whose input, output and errors are a terminal of so many columns and rows.

    Its output is kept as it was written, and as a screen that shows what came of it.
    """

    def __init__(self, program: Sequence[str], size: tuple[int, int], variables: Mapping[str, str]) -> None:
        self.written = b""
        self.screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self.screen)
        self._end, inner = pty.openpty()
        self._resize(*size)
        self.settings: list[Any] = termios.tcgetattr(inner)
        # Of another size, these would count for more than the terminal's own.
        outer = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self._inner = inner
        self.process = subprocess.Popen(
            program,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=ROOT,
            env={**outer, "TERM": "xterm-256color", **variables},
            start_new_session=True,
            preexec_fn=_take_terminal,
        )

    @property
    def shown(self) -> str:
        """The screen as text."""
        return "\n".join(row.rstrip() for row in self.screen.display)

    @property
    def text(self) -> str:
        """All that was written, in UTF-8."""
        return self.written.decode().replace("\r\n", "\n")

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._end, keys.encode())

    def until(self, *words: str) -> str:
        """Return the screen once it shows all of some words."""
        return self.until_it(lambda shown: all(each in shown for each in words), " and ".join(words))

    def until_it(self, is_so: Callable[[str], bool], what: str) -> str:
        """Return the screen once it is as it was asked for."""
        while not is_so(self.shown):
            assert self._read(), f"{what} is not on the screen:\n{self.shown}"
        return self.shown

    def resize(self, columns: int, rows: int) -> None:
        """Change the terminal's size, and say so to the process."""
        self._resize(columns, rows)
        self.screen.resize(rows, columns)
        self.process.send_signal(signal.SIGWINCH)

    def ended(self) -> int:
        """Return the exit code when the process has ended, after all that it wrote was read."""
        while self.process.poll() is None:
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode

    @property
    def settings_now(self) -> list[Any]:
        """How the terminal is set now; `settings` is how it was before the process had it."""
        return termios.tcgetattr(self._inner)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._end)
        os.close(self._inner)

    def _read(self, seconds: float = PATIENCE) -> bool:
        """Take in what was written; False where nothing is within so many seconds."""
        ready, _, _ = select.select([self._end], [], [], seconds)
        if not ready:
            return False
        written = os.read(self._end, 65536)
        self.written += written
        self._stream.feed(written)
        return True

    def _resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
