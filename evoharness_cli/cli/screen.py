"""What reaches the terminal: one console each for output and errors, and text that can't take it over."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.status import Status
from rich.text import Text

from .listing import Listing


class Terminal(Console):
    """A console to which all text is only text, and which shows what its encoding has no characters for by others."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)
        # Lines are folded between words for a person, and left whole for a file or another program.
        self.soft_wrap = not self.is_terminal

    @property
    def spinner(self) -> str:
        """The name of a spinner that can be shown."""
        return "line" if self.options.ascii_only else "dots"

    def status(self, status: RenderableType, **options: Any) -> Status:
        """Show that something goes on, while the context that is returned lasts."""
        return super().status(status, **{"spinner": self.spinner, **options})


out = Terminal()
err = Terminal(stderr=True)

INDENT = 5
"""How far what belongs to a step is indented."""
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_PLAIN = {
    **{"✓": "+", "✗": "!", "→": ">", "·": "-", "…": "..."},
    **{"\u2013": "-", "\u2014": "-", "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'},
}
"""What stands for a character that the terminal's encoding lacks; for any other it is a question mark."""


def _lacks(encoding: str, char: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return True
    return False


_STAND_INS = str.maketrans({char: plain for char, plain in _PLAIN.items() if _lacks(out.encoding, char)})


def safe(text: str) -> str:
    """Return text from elsewhere without what a terminal would obey: control codes and direction overrides."""
    return "".join(
        "\ufffd" if (unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t") or char in _BIDI else char
        for char in text.translate(_STAND_INS)
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


def table(*columns: str) -> Listing:
    """Return an empty table; a column whose name ends in `#` holds numbers."""
    return Listing(columns)


def row(made: Listing, *cells: object) -> None:
    """Add a row of safe text."""
    made.add([safe("" if cell is None else str(cell)) for cell in cells])


def dump(value: Mapping[str, Any]) -> None:
    """Print one JSON object on one line, in ASCII, so that nothing in it can take over a terminal."""
    print(json.dumps(value, default=str), flush=True)
