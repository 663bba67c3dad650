"""Finds the lines that hold a text: by ripgrep where there is one, else in Python, with the same result."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from .files import GIT_FOLDERS, Files, Unusable

MOST = 50
"""Lines that are shown."""
_SECONDS = 30
_LONGEST = 200


@dataclass(frozen=True)
class Hit:
    """A line, counted from 1, that holds the text."""

    file: str
    line: int
    text: str


def search(files: Files, text: str) -> list[Hit]:
    """Return the lines that hold a text, letter by letter, in the order of their files; one more than `MOST` at most.

    Raises Unusable.
    """
    program = shutil.which("rg")
    found = _by_ripgrep(program, files, text) if program else _by_hand(files, text)
    return found[: MOST + 1]


def _by_ripgrep(program: str, files: Files, text: str) -> list[Hit]:
    options = ["--no-config", "--no-ignore", "--hidden", "--no-follow", "--no-messages", "--sort=path", "--null"]
    options += ["--fixed-strings", "--line-number", "--no-heading", "--color=never"]
    options += [f"--glob=!**/{name}" for name in sorted(GIT_FOLDERS)]
    try:
        done = subprocess.run(
            [program, *options, "--regexp", text, "./"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=files.root,
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unusable(f"the search took longer than {_SECONDS} seconds; search for something rarer") from None
    hits = []
    for line in done.stdout.decode("utf-8", "surrogateescape").split("\n"):
        file, found, rest = line.partition("\0")
        number, colon, shown = rest.partition(":")
        if found and colon and number.isdigit():
            hits.append(Hit(file.removeprefix("./"), int(number), shown.rstrip("\r")[:_LONGEST]))
    return hits


def _by_hand(files: Files, text: str) -> list[Hit]:
    hits: list[Hit] = []
    for hit in _hits(files, text):
        hits.append(hit)
        if len(hits) > MOST:
            break
    return hits


def _hits(files: Files, text: str) -> Iterator[Hit]:
    for path, _ in files.all():
        try:
            content = files.text(path)
        except Unusable:
            continue  # A link, a file that is too large, or one that isn't text.
        if text in content:
            for number, line in enumerate(content.split("\n"), 1):
                if text in line:
                    yield Hit(path, number, line.rstrip("\r")[:_LONGEST])
