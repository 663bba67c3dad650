"""Records `evoharness run` on a sample task as an animated picture, docs/recording.svg.

    python docs/record.py --model scripted:tests/scripts/alfworld-oracle.yaml

The command runs on a terminal of its own; each step that its screen shows becomes a frame, by Rich's export to SVG. A
frame stands for as long as it takes to read, whatever the model took. Where pictures don't move, the end is seen.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

COLUMNS, ROWS = 96, 34
SECONDS, LAST_SECONDS = 1.6, 6.0
"""How long a frame stands, and the last one."""

REDRAWN = re.compile(rb"(?=\r\x1b\[2K\x1b\[1A)")
"""Begins what draws the lower part of the screen anew; before it, the screen is complete."""
AT_STEP = re.compile(r"^\S +step (\d+) of \d+ *$", re.MULTILINE)
OTHER_NAMES = {"brown": "yellow", "brightbrown": "bright_yellow"}

FRAME = """\
<style>{styles}</style>
<g class="frame" style="animation-name: {unique_id}">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
<!-- chrome -->{chrome}<!-- {width} {height} {terminal_x} {terminal_y} {char_height} {line_height} -->
"""
PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">
<style>
text {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {size}px; }}
.frame {{ visibility: hidden; animation: {seconds}s step-end infinite; }}
.frame:last-of-type {{ visibility: visible; }}
@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none; }} }}
{timing}
</style>
{chrome}
<g transform="translate({x}, {y})">
{frames}
</g>
</svg>
"""


def main() -> None:
    """Record a run and write the picture."""
    parser = argparse.ArgumentParser(description="Record `evoharness run` as a picture.")
    parser.add_argument("--task", default="heat-apple", help="what to play (default: %(default)s)")
    parser.add_argument("--model", help="what plays it (default: the program's own default)")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("recording.svg"))
    asked = parser.parse_args()
    command = ["run", asked.task, *(["--model", asked.model] if asked.model else [])]
    frames = list(frames_of(screens(command)))
    asked.out.write_text(picture(frames, f"evoharness {' '.join(command)}"), encoding="utf-8")
    print(f"{asked.out}: {len(frames)} frames, {asked.out.stat().st_size / 1000:.0f} kB")


def screens(command: list[str]) -> Iterator[pyte.Screen]:
    """Run a command on a terminal and yield its screen whenever it is complete; it is the same object each time."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    written = b""
    for more in output(command):
        *complete, written = REDRAWN.split(written + more)
        for part in complete:
            stream.feed(part)
            yield screen
    stream.feed(written)
    yield screen


def output(command: list[str]) -> Iterator[bytes]:
    """Yield what a command writes to a terminal, on a store of its own. Raises CalledProcessError."""
    end, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with tempfile.TemporaryDirectory() as folder:
        variables = {"EVOHARNESS_DB": f"{folder}/experience.db", "TERM": "xterm-256color"}
        playing = subprocess.Popen(
            [sys.executable, "-m", "evoharness_cli", *command],
            stdin=subprocess.DEVNULL,
            stdout=inner,
            stderr=inner,
            env={**os.environ, **variables},
        )
        os.close(inner)
        # Reading fails once nobody can write any more.
        while more := _read(end):
            yield more
        if playing.wait() > 1:
            raise subprocess.CalledProcessError(playing.returncode, command)


def _read(end: int) -> bytes:
    try:
        return os.read(end, 65536)
    except OSError:
        return b""


def frames_of(shown: Iterator[pyte.Screen]) -> Iterator[list[Text]]:
    """Yield the lines of each screen that is worth a frame: the first with another step to come, and the last."""
    drawn = ((match[1] if (match := AT_STEP.search("\n".join(screen.display))) else "", screen) for screen in shown)
    lines: list[Text] = []
    for step, group in groupby(((step, _lines(screen)) for step, screen in drawn), key=lambda each: each[0]):
        first, *rest = (each for _, each in group)
        lines = rest[-1] if rest else first
        if step:
            yield first
    yield lines


def _lines(screen: pyte.Screen) -> list[Text]:
    lines = []
    for row in range(screen.lines):
        text = Text()
        chars = (screen.buffer[row][column] for column in range(screen.columns))
        for (colour, bold, italic), alike in groupby(chars, key=lambda char: (char.fg, char.bold, char.italics)):
            words = "".join(char.data for char in alike)
            text.append(words, Style(color=_colour(colour), bold=bold, italic=italic))
        text.rstrip()
        lines.append(text)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    if re.fullmatch("[0-9a-f]{6}", name):
        return f"#{name}"
    return OTHER_NAMES.get(name) or name.replace("bright", "bright_")


def picture(frames: list[list[Text]], title: str) -> str:
    """Return the frames as one animated SVG."""
    total = SECONDS * (len(frames) - 1) + LAST_SECONDS
    drawn, timing, chrome, numbers = [], [], "", list[str]()
    for place, lines in enumerate(frames):
        name = f"f{place}"
        console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
        console.print(*lines, *[""] * (ROWS - len(lines)), sep="\n", highlight=False)
        svg, rest = console.export_svg(title=title, code_format=FRAME, unique_id=name).split("<!-- chrome -->")
        chrome, numbers = rest.split("<!--")[0], re.findall(r"[\d.]+", rest.split("<!--")[1])
        drawn.append(re.sub(r' clip-path="[^"]*"', "", svg))
        begin, end = SECONDS * place / total, SECONDS * (place + 1) / total
        until = f" {end:.2%} {{ visibility: hidden; }}" if place + 1 < len(frames) else ""
        timing.append(
            f"@keyframes {name} {{ 0% {{ visibility: hidden; }} {begin:.2%} {{ visibility: visible; }}{until} }}"
        )
    width, height, x, y, size, _ = numbers
    return PICTURE.format(
        width=width,
        height=height,
        title=escape(title),
        size=size,
        seconds=f"{total:.1f}",
        timing="\n".join(timing),
        chrome=chrome,
        x=x,
        y=y,
        frames="\n".join(drawn),
    )


if __name__ == "__main__":
    main()
