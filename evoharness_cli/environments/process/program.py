"""A child process that answers one JSON line with another, with a time limit, however it behaves."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ...harness import OutsideFault

LONGEST_LINE = 1 << 20
"""Bytes that one answer may have."""
GRACE = 2.0
"""Seconds that a program has to end once its input has ended, and again once it was asked to."""
_CHUNK = 1 << 16
_SHOWN = 200
_LAST_WORDS = 4096


class ProgramFault(OutsideFault):
    """A program that can't be started, ended, is too slow, or says something else than one JSON object a request."""


class Program:
    """A program that was started; `name` is what messages call it.

    Its standard error is listened to while an answer is waited for, and the end of it is kept for messages. It leads a
    process group of its own, so that Ctrl-C doesn't reach it and what it starts can be ended with it.
    """

    def __init__(self, command: Sequence[str], folder: Path, timeout: float, name: str) -> None:
        """Start a program in a folder, with `timeout` seconds for each answer. Raises ProgramFault."""
        self._name = name
        self._timeout = timeout
        self._heard = bytearray()
        self._errors = b""
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
            raise ProgramFault(f"{name} can't be started in {folder}: {why}.") from error
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)

    def ask(self, request: Mapping[str, object]) -> dict[str, Any]:
        """Return the answer to a request.

        Raises ProgramFault where there is none in time, where it is no JSON object on one line, and where the program
        said something unasked or ended. The program is then ended.
        """
        try:
            return self._read_answer(self._exchange(json.dumps(request).encode() + b"\n"))
        except BaseException:
            self._end(grace=0)
            raise

    def close(self) -> None:
        """End the program and what it started; may be repeated."""
        self._end(grace=GRACE)

    @property
    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        assert self._process.stdin and self._process.stdout and self._process.stderr
        return self._process.stdin, self._process.stdout, self._process.stderr

    def _exchange(self, unsent: bytes) -> bytes:
        """Send a line and return the one that comes back."""
        stdin, stdout, stderr = self._pipes
        if stdin.closed:
            raise ProgramFault(f"{self._name} was ended before; nothing can be asked of it.")
        self._hear(stdout)
        if self._heard:
            raise ProgramFault(f"{self._name} said something unasked: {_shown(self._heard)}.")
        deadline = time.monotonic() + self._timeout
        with selectors.DefaultSelector() as waiting:
            waiting.register(stdin, selectors.EVENT_WRITE)
            waiting.register(stdout, selectors.EVENT_READ)
            waiting.register(stderr, selectors.EVENT_READ)
            while b"\n" not in self._heard:
                if (left := deadline - time.monotonic()) <= 0:
                    raise ProgramFault(f"{self._name} didn't answer in {self._timeout:g} seconds.{self._last_words()}")
                for key, _ in waiting.select(left):
                    if key.fileobj is stdin:
                        unsent = self._send(unsent)
                        if not unsent:
                            waiting.unregister(stdin)
                    elif key.fileobj is stderr:
                        if not self._listen(stderr):
                            waiting.unregister(stderr)
                    elif not self._hear(stdout):
                        raise self._ended()
                if len(self._heard) > LONGEST_LINE:
                    raise ProgramFault(f"{self._name} said a line of more than {LONGEST_LINE:,} bytes.")
        line, _, rest = self._heard.partition(b"\n")
        self._heard = rest
        return bytes(line)

    def _send(self, unsent: bytes) -> bytes:
        """Send what the pipe takes and return the rest; a program that no longer listens may still say why."""
        try:
            return unsent[os.write(self._pipes[0].fileno(), unsent) :]
        except BrokenPipeError:
            return b""

    def _hear(self, stdout: IO[bytes]) -> bool:
        """Take in what was said; False at its end."""
        chunk = stdout.read(_CHUNK)
        self._heard += chunk or b""
        return chunk != b""

    def _listen(self, stderr: IO[bytes]) -> bool:
        """Take in what was said on standard error; False at its end."""
        chunk = stderr.read(_CHUNK)
        self._errors = (self._errors + (chunk or b""))[-_LAST_WORDS:]
        return chunk != b""

    def _read_answer(self, line: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise ProgramFault(f"Expected one JSON object on one line of {self._name}, found {_shown(line)}.")
        return answer

    def _ended(self) -> ProgramFault:
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return ProgramFault(f"{self._name} closed its output.{self._last_words()}")
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        return ProgramFault(f"{self._name} ended {how}.{self._last_words()}")

    def _last_words(self) -> str:
        """Return the last line on standard error as a sentence of its own, with a space before it."""
        stderr = self._pipes[2]
        self._listen(stderr)
        lines = self._errors.decode(errors="replace").strip().splitlines()
        return f" It last said: {lines[-1][:_SHOWN]}" if lines else ""

    def _end(self, grace: float) -> None:
        if self._pipes[0].closed:
            return
        for pipe in self._pipes:
            pipe.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace)
                break
            self._signal(number)
        self._process.wait()
        # What it started may have outlived it.
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _shown(said: bytes | bytearray) -> str:
    text = bytes(said[: _SHOWN + 1]).decode(errors="replace").strip()
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...") if text else "an empty line"
