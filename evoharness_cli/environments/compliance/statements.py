"""What documents state as keys with values, and where two of them state different values for one key."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ...harness import Fact
from .documents import Document

CONFLICTS = "conflicts"
"""The relation of a key to the values that documents state for it."""
MOST = 5000
"""The most statements that are taken from one document."""
MOST_SHOWN = 20
"""The most conflicts that one document brings up."""

_ID = re.compile(r"\b[A-Za-z]{1,8}-\d[\w-]*\b")
"""What names a record: `C-1041`."""
_HEADING = re.compile(r"#{1,6}\s+(?P<words>.*)")
_PAIR = re.compile(r"[>*\s-]*(?P<key>[A-Za-z][\w /()-]{0,39}?)\**\s*:\**\s+\**(?P<value>\S.{0,119}?)[*\s]*")
_AMOUNT = re.compile(r"(?:[A-Z]{3}|[€$£])?\s*(?P<number>-?\d[\d,]*(?:\.\d+)?)\s*(?:[A-Z]{3}|[€$£%])?")
_OF_THE_DOCUMENT = frozenset(
    (
        *("about", "author", "date", "dated", "document", "from", "issued", "note", "page"),
        *("prepared by", "re", "reference", "signed", "subject", "title", "to", "version"),
    )
)
"""Keys that say something of the document itself, where no record is named; those differ without a conflict."""


@dataclass(frozen=True)
class _Stated:
    value: str
    document: str

    @property
    def compared(self) -> str | Decimal:
        """The value as it is compared: an amount as its number, a text without case."""
        if match := _AMOUNT.fullmatch(self.value.strip()):
            return Decimal(match["number"].replace(",", ""))
        return " ".join(self.value.casefold().split()).rstrip(".")


class Statements:
    """What the documents that were read state, by key."""

    def __init__(self) -> None:
        self._stated: dict[str, list[_Stated]] = {}

    def add(self, document: Document) -> list[Fact]:
        """Take in a document and return where it and those before it state different values."""
        conflicts = []
        for key, value in _once(_statements(document)).items():
            stated = self._stated.setdefault(key.casefold(), [])
            stated.append(_Stated(value, document.name))
            if len({each.compared for each in stated}) > 1:
                said = ", ".join(f"{each.value} in {each.document}" for each in stated)
                conflicts.append(Fact(key, CONFLICTS, said))
        return conflicts[:MOST_SHOWN]


def _once(statements: Iterator[tuple[str, str]]) -> dict[str, str]:
    """Return what a document states, without the keys of which it states several values itself."""
    found: dict[str, str] = {}
    ambiguous = set()
    for _, (key, value) in zip(range(MOST), statements, strict=False):
        if found.setdefault(key, value) != value:
            ambiguous.add(key)
    return {key: value for key, value in found.items() if key not in ambiguous}


def _statements(document: Document) -> Iterator[tuple[str, str]]:
    suffix, content = document.path.suffix.lower(), document.content
    if suffix == ".csv":
        return _of_table(content.text)
    if suffix == ".json" and not content.flaw:
        return _of_object(json.loads(content.text))
    return _of_text(content.text)


def _of_text(text: str) -> Iterator[tuple[str, str]]:
    """Yield `key: value` lines; a heading with an id names the record that those below it belong to."""
    record = ""
    for line in text.splitlines():
        if heading := _HEADING.fullmatch(line):
            named = _ID.search(heading["words"])
            record = named[0] if named else ""
        elif (pair := _PAIR.fullmatch(line)) and (record or _key(pair["key"]) not in _OF_THE_DOCUMENT):
            yield _joined(record, pair["key"]), pair["value"]


def _of_table(text: str) -> Iterator[tuple[str, str]]:
    """Yield the cells of a table below its header; the first cell of a row names its record."""
    rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    try:
        header = next(rows, [])
        for row in rows:
            for column, cell in zip(header[1:], row[1:], strict=False):
                if row[0].strip() and column.strip() and cell.strip():
                    yield _joined(row[0].strip(), column), cell.strip()
    except csv.Error:
        return  # What is left of a damaged table is text only.


def _of_object(value: object) -> Iterator[tuple[str, str]]:
    """Yield the values of nested objects; one whose first value is an id is the record of what is below it."""
    left: list[tuple[str, str, object]] = [("", "", value)]
    while left:
        record, path, value = left.pop()
        if isinstance(value, dict):
            first = next(iter(value.values()), None)
            if isinstance(first, str) and _ID.fullmatch(first):
                record, path = first, ""
            left += [(record, f"{path} {key}".strip(), each) for key, each in reversed(value.items())]
        elif isinstance(value, list):
            left += [(record, path, each) for each in reversed(value) if isinstance(each, dict)]
        elif path and value is not None and (record or _key(path) not in _OF_THE_DOCUMENT):
            yield _joined(record, path), str(value)


def _joined(record: str, key: str) -> str:
    return f"{record} {_key(key)}".strip()


def _key(words: str) -> str:
    """Return a key as it is compared: `cost_centre` is `cost centre`."""
    return " ".join(words.lower().replace("_", " ").replace("-", " ").split())
