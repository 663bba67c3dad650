"""Reads the texts of a grammar as symbols.

They are read as the official parser reads them, oddities included: before a symbol white space and `//` comments are
skipped at the start of a line, and tabs anywhere; what follows the first thing that isn't a symbol is dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_START = re.compile(r"^(?://.*|\s*)\n?", re.MULTILINE)
_TABS = re.compile(r"\t*")
_TAG = re.compile(r"[\w()/!<>\-\s,.]+")
_GIVEN = re.compile(r"[^;|{}\n\[\]#]+")
_STATEMENT = re.compile(r"[^|\[\]{}\n<>]+")
_BAR = re.compile(r"\s*\|\s*")
_LITERAL = re.compile(r'[^;|"<>\[\]#{}]*')


@dataclass(frozen=True)
class Literally:
    """Text that is shown as it is."""

    text: str


@dataclass(frozen=True)
class Expand:
    """The text of a rule."""

    rule: str


@dataclass(frozen=True)
class Evaluate:
    """The value of an expression over the variables."""

    expression: str


@dataclass(frozen=True)
class ForEach:
    """A text for each answer to a query, or one text where there is no query."""

    text: Expand | Evaluate
    query: str | None
    is_list: bool
    """Whether the texts are joined as a list, with what the grammar says for none."""


Symbol = Literally | Expand | ForEach


def symbols(text: str) -> tuple[Symbol, ...]:
    """Read a text; there is always a symbol, if only an empty text."""
    found: list[Symbol] = []
    at = 0
    while True:
        symbol, end = _symbol(text, at)
        if found and end == at:
            return tuple(found)
        found.append(symbol)
        at = end


def _symbol(text: str, at: int) -> tuple[Symbol, int]:
    """Return the symbol at a place and where it ends."""
    start = _skip(text, at)
    if text[start : start + 1] == "[":
        inner = _for_each(text, start + 1, is_list=True)
        if inner and (end := _token(text, inner[1], "]")):
            return inner[0], end
    elif text[start : start + 1] == "{":
        if inner := _for_each(text, start, is_list=False):
            return inner
    elif text[start : start + 1] == "#":
        if tag := _expand(text, start):
            return tag
    elif text[start : start + 1] == '"':
        literal = _LITERAL.match(text, start + 1)
        if literal and (end := _token(text, literal.end(), '"')):
            return Literally(literal[0]), end
    literal = _LITERAL.match(text, start)
    assert literal
    return Literally(literal[0]), literal.end()


def _for_each(text: str, at: int, is_list: bool) -> tuple[ForEach, int] | None:
    start = _token(text, at, "{")
    if not start:
        return None
    inner: tuple[Expand | Evaluate, int] | None = _expand(text, start)
    if inner is None:
        statement = _STATEMENT.match(text, _skip(text, start))
        if statement is None:
            return None
        inner = Evaluate(statement[0]), statement.end()
    shown, at = inner
    query = None
    if bar := _BAR.match(text, at):
        given = _GIVEN.match(text, _skip(text, bar.end()))
        if given:
            query, at = given[0], given.end()
    end = _token(text, at, "}")
    return (ForEach(shown, query, is_list), end) if end else None


def _expand(text: str, at: int) -> tuple[Expand, int] | None:
    start = _token(text, at, "#")
    tag = _TAG.match(text, _skip(text, start)) if start else None
    end = _token(text, tag.end(), "#") if tag else 0
    return (Expand(tag[0]), end) if tag and end else None


def _token(text: str, at: int, token: str) -> int:
    """Return where a token ends that comes next, else 0."""
    start = _skip(text, at)
    return start + 1 if text.startswith(token, start) else 0


def _skip(text: str, at: int) -> int:
    while True:
        start = at
        for pattern in (_LINE_START, _TABS):
            if skipped := pattern.match(text, at):
                at = skipped.end()
        if at == start:
            return at
