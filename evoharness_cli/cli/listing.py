"""A table that stays readable in whatever width there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_GAP = 2
_LEAST = 16
"""What a column of text keeps when the width is scarce, if it needs as much."""
_LONGEST_WORD = 30
"""A longer word, such as a path, may be folded within."""


class Listing:
    """Rows under named columns. Numbers are never folded, and text between words as far as it can be.

    Where that leaves no room for some column the table is turned on its side; where that is too wide as well, each row
    becomes a paragraph of names and values. A file or another program gets each row on one line, as wide as it is.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        """`columns` are the names; one that ends in `#` holds numbers, which are aligned to the right."""
        self._names = [column.rstrip("#") for column in columns]
        self._numeric = [column.endswith("#") for column in columns]
        self._rows: list[tuple[str, ...]] = []

    def add(self, cells: Sequence[str]) -> None:
        """Add a row, of as many cells as there are columns."""
        self._rows.append(tuple(cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        if not console.is_terminal:
            yield from self._lines()
        elif self._upright_needs() <= width:
            yield self._upright()
        elif len(self._rows) > 1 and self._sideways_needs() <= width:
            yield self._sideways()
        else:
            yield from self._paragraphs(width)

    def _widths(self) -> list[int]:
        """Return how wide each column is where nothing is folded."""
        return [max(map(_width, column)) for column in zip(self._names, *self._rows, strict=True)]

    def _upright_needs(self) -> int:
        columns = zip(self._names, *self._rows, strict=True)
        least = (
            max(map(_width if numeric else _least, column))
            for column, numeric in zip(columns, self._numeric, strict=True)
        )
        return sum(least) + _GAP * (len(self._names) - 1)

    def _sideways_needs(self) -> int:
        columns = [self._names, *self._rows]
        return sum(max(map(_width, column)) for column in columns) + _GAP * (len(columns) - 1)

    def _upright(self) -> Table:
        made = _empty_table()
        for name, numeric in zip(self._names, self._numeric, strict=True):
            made.add_column(name, justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
        for cells in self._rows:
            made.add_row(*map(Text, cells))
        return made

    def _sideways(self) -> Table:
        made = _empty_table()
        made.add_column(self._names[0], style="bold", no_wrap=True)
        for cells in self._rows:
            made.add_column(Text(cells[0]), justify="right", no_wrap=True)
        for index, name in enumerate(self._names[1:], 1):
            made.add_row(name, *(Text(cells[index]) for cells in self._rows))
        return made

    def _paragraphs(self, width: int) -> Iterator[Text | Padding]:
        for cells in self._rows:
            text, used = Text(overflow="fold"), 0
            for name, cell in zip(self._names, cells, strict=True):
                if not cell:
                    continue
                pair = Text.assemble((name, "bold"), f" {cell}")
                if used and used + _GAP + pair.cell_len > width - _GAP:
                    text.append("\n")
                    used = 0
                elif used:
                    text.append(" " * _GAP)
                    used += _GAP
                text.append_text(pair)
                used += pair.cell_len
            first, *rest = text.split("\n")
            yield first
            yield from (Padding(line, (0, 0, 0, _GAP), expand=False) for line in rest)

    def _lines(self) -> Iterator[Text]:
        widths = self._widths()
        for cells in (self._names, *self._rows):
            padded = (
                _padded(cell, width, numeric) for cell, width, numeric in zip(cells, widths, self._numeric, strict=True)
            )
            yield Text((" " * _GAP).join(padded).rstrip())


def _empty_table() -> Table:
    return Table(box=None, pad_edge=False, header_style="bold")


def _width(cell: str) -> int:
    return max(map(cell_len, cell.splitlines()), default=0)


def _least(cell: str) -> int:
    """Return the width in which a text can stand: nothing of it, or its longest word, is folded there."""
    word = max(map(cell_len, cell.split()), default=0)
    return min(_width(cell), max(_LEAST, word if word <= _LONGEST_WORD else 0))


def _padded(cell: str, width: int, numeric: bool) -> str:
    cell = " ".join(cell.splitlines())
    return " " * (width - cell_len(cell)) + cell if numeric else set_cell_size(cell, max(width, cell_len(cell)))
