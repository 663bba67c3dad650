"""Reads what a report holds, as the page does."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from evoharness_cli.experience.store import Store
from evoharness_cli.report import Subject, opened, write_report


def unpacked(text: str, encoding: str) -> Any:
    """Return what an element of a page holds."""
    return json.loads(text if encoding == "plain" else zlib.decompress(base64.b64decode(text)))


class Page(HTMLParser):
    """The elements of a page, and what those hold that are data, scripts or styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.data: dict[str, Any] = {}
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._held = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember an element."""
        self.tags.append((tag, dict(attrs)))
        self._held = ""

    def handle_data(self, data: str) -> None:
        """Keep what an element holds."""
        self._held += data

    def handle_endtag(self, tag: str) -> None:
        """Keep data, scripts and styles, which hold no other elements."""
        attributes = self.tags[-1][1]
        if tag == "script" and "id" in attributes:
            self.data[str(attributes["id"])] = unpacked(self._held, str(attributes["data-encoding"]))
        elif tag in ("script", "style"):
            (self.scripts if tag == "script" else self.styles).append(self._held)


def named(path: Path) -> Callable[[], Store]:
    """Return what opens a store where a word names none."""
    return lambda: Store.open(path)


def report(what: str | None, db: Path, out: Path) -> Page:
    """Write a report and return its page."""
    with opened(what, named(db)) as subject:
        write_report(subject, out)
    return Page(out.read_text(encoding="utf-8"))


def table(subject: Subject, title: str) -> list[dict[str, Any]]:
    """Return the rows of the table whose title begins so."""
    found = [each for section in subject.sections for each in section.tables if each.title.startswith(title)]
    assert len(found) == 1, [each.title for section in subject.sections for each in section.tables]
    names = [column.removesuffix("#") for column in found[0].columns]
    return [dict(zip(names, row, strict=True)) for row in found[0].rows]
