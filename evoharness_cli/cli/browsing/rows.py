"""A list of rows under named columns, of any length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

_GAP = 2


class Rows(ScrollView, can_focus=True):
    """Rows of which one is at the cursor; the names of their columns stay above. The keys of pagers work as well.

    Textual's own table looks at every cell of every row before it shows the first. With 10,000 episodes that takes ten
    seconds, and half a second here, where a row is drawn when it is seen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open"),
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup,b", "page(-1)", show=False),
        Binding("home,g", "jump(0)", show=False),
        Binding("end,G", "jump(-1)", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--names", "rows--cursor"}
    DEFAULT_CSS = """
    Rows { height: 1fr; background: $surface; scrollbar-size-horizontal: 0; }
    Rows > .rows--names { background: $panel; text-style: bold; }
    Rows > .rows--cursor { background: $primary 40%; }
    Rows:focus > .rows--cursor { background: $primary; color: $text; text-style: bold; }
    """
    cursor: reactive[int] = reactive(0)
    """The number of the row at the cursor, counted from 0."""

    class Reached(Message):
        """The cursor is at another row now."""

        def __init__(self, row: int) -> None:
            self.row = row
            super().__init__()

    class Chosen(Message):
        """A row was chosen."""

        def __init__(self, row: int) -> None:
            self.row = row
            super().__init__()

    def __init__(self, columns: Sequence[str]) -> None:
        """`columns` are their names; one that ends in `#` is aligned to the right."""
        super().__init__()
        self._names = [Text(column.removesuffix("#")) for column in columns]
        self._numeric = [column.endswith("#") for column in columns]
        self._rows: Sequence[Sequence[Text]] = ()
        self._widths: list[int] = []

    def show(self, rows: Sequence[Sequence[Text]]) -> None:
        """Show other rows, and put the cursor on the first of them."""
        self._rows = rows
        self._widths = [max(cell.cell_len for cell in column) for column in zip(self._names, *rows, strict=True)]
        self.virtual_size = Size(1 + sum(self._widths) + _GAP * len(self._widths), len(rows) + 1)
        self.cursor = 0
        self.scroll_home(animate=False)
        self.refresh()
        if rows:
            self.post_message(self.Reached(0))

    def render_line(self, y: int) -> Strip:
        """Draw a line of the widget."""
        number = self.scroll_offset.y + y - 1
        if y == 0:
            return self._strip(self._names, "rows--names")
        if not 0 <= number < len(self._rows):
            return Strip.blank(self.size.width, self.rich_style)
        return self._strip(self._rows[number], "rows--cursor" if number == self.cursor else "")

    def _strip(self, cells: Sequence[Text], component: str) -> Strip:
        text = Text(" ", no_wrap=True)
        for cell, width, numeric in zip(cells, self._widths, self._numeric, strict=True):
            space = " " * (width - cell.cell_len)
            text.append(space if numeric else "").append_text(cell).append(("" if numeric else space) + " " * _GAP)
        style = self.get_component_rich_style(component) if component else self.rich_style
        strip = Strip(text.render(self.app.console), text.cell_len)
        left = self.scroll_offset.x
        return strip.crop_extend(left, left + self.size.width, None).apply_style(style)

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a row."""
        return min(max(cursor, 0), max(len(self._rows) - 1, 0))

    def watch_cursor(self, cursor: int) -> None:
        """Bring the cursor into view, and say where it is."""
        room = max(self.size.height - 1, 1)
        top = self.scroll_offset.y
        if cursor < top or cursor >= top + room:
            self.scroll_to(y=cursor if cursor < top else cursor - room + 1, animate=False, force=True)
        self.refresh()
        if self._rows:
            self.post_message(self.Reached(cursor))

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        self.cursor += by

    def action_page(self, by: int) -> None:
        """Move the cursor by what is seen at once."""
        self.cursor += by * max(self.size.height - 1, 1)

    def action_jump(self, to: int) -> None:
        """Move the cursor to the first row, or by -1 to the last."""
        self.cursor = to if to >= 0 else len(self._rows) + to

    def action_choose(self) -> None:
        """Choose the row at the cursor."""
        if self._rows:
            self.post_message(self.Chosen(self.cursor))

    def on_click(self, event: Click) -> None:
        """Move the cursor to a row; one that has it already is chosen."""
        number = self.scroll_offset.y + event.y - 1
        if event.y > 0 and number < len(self._rows):
            if number == self.cursor:
                self.action_choose()
            self.cursor = number
