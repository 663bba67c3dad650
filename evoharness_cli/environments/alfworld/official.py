"""The official engine as seen from here: a child process that plays one game after another."""

from __future__ import annotations

import importlib.util
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from ...harness import OutsideFault
from .scene import Scene


class EngineFault(OutsideFault):
    """The engine refused a game or ended."""


class NoOfficialEngine(EngineFault):
    """This Python has no official engine."""


def is_for_this_python() -> bool:
    """Tell whether the official engine is released for this Python."""
    return sys.version_info < (3, 13)


def is_missing() -> str | None:
    """Return a sentence that says why this Python has no official engine, None where it has one."""
    if all(importlib.util.find_spec(package) for package in ("alfworld", "textworld")):
        return None
    if is_for_this_python():
        return "ALFWorld's own engine is not installed: pip install alfworld."
    return (
        f"ALFWorld's own engine is not released for Python {platform.python_version()}; "
        "install evoharness-cli under Python 3.11 or 3.12 to use it."
    )


class OfficialEngine:
    """One engine process. It is started with the first game, used for any number, and ended by `close`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._errors: Any = None

    def __enter__(self) -> OfficialEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def load(self, game: Path) -> Scene:
        """Load a game, start it and return the opening.

        Raises EngineFault where the engine can't play it, NoOfficialEngine where there is none.
        """
        return _scene(self._ask({"op": "load", "path": str(game)}, f"could not load {game}"))

    def step(self, command: str) -> Scene:
        """Play a command."""
        return _scene(self._ask({"op": "step", "command": command}, f"failed on {command!r}"))

    def truth(self) -> list[tuple[str, ...]]:
        """Return the changing part of the engine's own state: predicates over the names it shows."""
        return [tuple(fact) for fact in self._ask({"op": "truth"}, "could not tell its state")["facts"]]

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin and process.stdout
        # A request that a dead process didn't take is still buffered, and closing tries to write it again.
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._errors.close()

    def _ask(self, request: Mapping[str, str], what: str) -> dict[str, Any]:
        process = self._started()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, OSError):
            line = ""
        if not line:
            raise EngineFault(f"the ALFWorld engine {what}: its process ended. {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise EngineFault(f"the ALFWorld engine {what}: {answer['error']}")
        return answer

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            if missing := is_missing():
                raise NoOfficialEngine(missing)
            # Lives as long as the process; `close` closes it.
            self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
            self._process = subprocess.Popen(
                # With -P the folder it is started in, which may hold a module of any name, is not imported from.
                [sys.executable, "-P", "-m", f"{__package__}.engine"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                encoding="utf-8",
            )
        return self._process

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        self.close()
        return f"It last said: {lines[-1]}" if lines else "It said nothing."


def _scene(answer: Mapping[str, Any]) -> Scene:
    return Scene(answer["text"], tuple(answer["admissible"]), answer["won"])
