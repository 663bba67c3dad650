"""What reaches the terminal: one console each for output and errors, and text that can't take it over."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, markup=False, emoji=False)
# Lines are folded between words for a person, and left whole for a file or another program.
out.soft_wrap, err.soft_wrap = not out.is_terminal, not err.is_terminal

INDENT = 5
"""How far what belongs to a step is indented."""
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def safe(text: str) -> str:
    """Return text from elsewhere without what a terminal would obey: control codes and direction overrides."""
    return "".join(
        "\ufffd" if (unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t") or char in _BIDI else char
        for char in text
    )


def line(*parts: tuple[str, str] | str) -> Text:
    """Return one line of safe text; a part is a string or a string with its style."""
    text = Text()
    for part in parts:
        words, style = part if isinstance(part, tuple) else (part, "")
        text.append(safe(words), style)
    return text


def indented(text: str, style: str = "") -> Text | Padding:
    """Return safe text of several lines, each of them indented, folded ones too where a person reads."""
    if out.is_terminal:
        return Padding(Text(safe(text), style), (0, 0, 0, INDENT))
    return Text("\n".join(" " * INDENT + part for part in safe(text).splitlines() or [""]), style)


def table(*columns: str) -> Table:
    """Return an empty table whose columns fold rather than cut; a name that ends in `#` is right-aligned."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column.rstrip("#"), justify="right" if column.endswith("#") else "left", overflow="fold")
    return made


def row(made: Table, *cells: object) -> None:
    """Add a row of safe text."""
    made.add_row(*(Text(safe("" if cell is None else str(cell))) for cell in cells))


def dump(value: Mapping[str, Any]) -> None:
    """Print one JSON object on one line, in ASCII, so that nothing in it can take over a terminal."""
    print(json.dumps(value, default=str), flush=True)
