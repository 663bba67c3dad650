"""What a section of the report is made of. All of it is text; the page's template turns none of it into markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Link:
    """Words that lead to an episode of the report, by its key."""

    text: str
    episode: str


Cell = str | Sequence[str | Link]
"""What stands in one cell: words, or words and links one below the other."""


@dataclass(frozen=True)
class Table:
    """A table; a column's name that ends in `#` is that of numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Plot:
    """A picture: the SVG element that shows it, and in words what it shows."""

    title: str
    svg: str
    says: str


@dataclass(frozen=True)
class Section:
    """A part of the report below its own heading."""

    title: str
    remarks: Sequence[str] = field(default=())
    plots: Sequence[Plot] = field(default=())
    tables: Sequence[Table] = field(default=())
