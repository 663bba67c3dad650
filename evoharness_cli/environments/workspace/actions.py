"""What an agent can do in a repository, read from its replies."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from .edits import Edit, Unclear, read_blocks

FORMS = (
    "list {folder}",
    "read {file}",
    "read {file} {from}-{to}",
    "search {text}",
    'replace {file} "{old}" with "{new}"',
    'write {file} "{content}"',
    "run {command}",
    "check",
    "diff",
    "submit",
)


@dataclass(frozen=True)
class List:
    """Show what is in a folder."""

    folder: str


@dataclass(frozen=True)
class Read:
    """Show a file, or its lines from `first` to `last`, counted from 1."""

    file: str
    first: int = 1
    last: int | None = None


@dataclass(frozen=True)
class Search:
    """Show the lines that hold a text, letter by letter."""

    text: str


@dataclass(frozen=True)
class Replace:
    """Replace parts of a file, each of which stands there exactly once."""

    file: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Write:
    """Write a whole file."""

    file: str
    content: str


@dataclass(frozen=True)
class Run:
    """Run a shell command."""

    command: str


@dataclass(frozen=True)
class Check:
    """Run the checks of the task."""


@dataclass(frozen=True)
class Diff:
    """Show what was changed."""


@dataclass(frozen=True)
class Submit:
    """Say that the task is done."""


Action = List | Read | Search | Replace | Write | Run | Check | Diff | Submit

_WORD = re.compile(r"(\w+)(?:[ \t]+(.*))?", re.DOTALL)
_LINES = re.compile(r"(?P<file>.+?)(?:[ \t]+(?P<first>\d+)(?:[ \t]*-[ \t]*(?P<last>\d+))?)?")
_TEXT = r'"(?:[^"\\]|\\.)*"'
_REPLACE = re.compile(rf"(?P<file>\S.*?)[ \t]+(?P<old>{_TEXT})[ \t]+with[ \t]+(?P<new>{_TEXT})")
_WRITE = re.compile(rf"(?P<file>\S.*?)[ \t]+(?P<content>{_TEXT})")
_ALONE: dict[str, Action] = {"check": Check(), "diff": Diff(), "submit": Submit()}


def read_action(text: str) -> Action | None:
    """Return the action, or None where the text is none. Raises Unclear for an edit that can't be made out."""
    match = _WORD.fullmatch(text.strip())
    if match is None:
        return None
    verb, rest = match[1].lower(), (match[2] or "").strip(" \t")
    if verb in _ALONE:
        return None if rest else _ALONE[verb]
    if verb == "list":
        return None if "\n" in rest else List(rest or ".")
    if not rest.strip():
        return None
    if verb == "run":
        return Run(rest)
    if verb in ("replace", "write"):
        return _edit(verb, rest)
    if "\n" in rest:
        return None
    if verb == "search":
        return Search(rest)
    if verb == "read" and (lines := _LINES.fullmatch(rest)):
        return Read(lines["file"], int(lines["first"] or 1), int(lines["last"] or lines["first"] or 0) or None)
    return None


def _edit(verb: str, rest: str) -> Replace | Write:
    file, newline, body = rest.partition("\n")
    if newline and verb == "write":
        # What stands between the tags ends where its last line does.
        return Write(file.strip(), body if body.endswith("\n") or not body else f"{body}\n")
    if newline:
        return Replace(file.strip(), read_blocks(body))
    if verb == "write" and (match := _WRITE.fullmatch(rest)):
        return Write(match["file"], _said(match["content"]))
    if verb == "replace" and (match := _REPLACE.fullmatch(rest)):
        return Replace(match["file"], (Edit(_said(match["old"]), _said(match["new"])),))
    form = 'replace FILE "old" with "new"' if verb == "replace" else 'write FILE "content"'
    raise Unclear(f"expected {form} with texts as in JSON, or an action of several lines whose first is `{verb} FILE`")


def _said(text: str) -> str:
    try:
        said = json.loads(text)
    except ValueError as error:
        raise Unclear(f"expected a text as in JSON, in quotes, with \\n for the end of a line; {error}") from None
    assert isinstance(said, str)
    return said
