"""`run`, `inspect` and `eval` on each kind of terminal, in a pipe, and where the encoding is a Windows code page."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ORACLE, ROOT
from rich.cells import cell_len
from rich.console import Console
from terminal import Terminal

from evoharness_cli.cli.screen import row, table

PLAY = """
import sys
from evoharness_cli.__main__ import main
db, oracle = sys.argv[1:]
played = ["put-cd", "heat-egg", "--model", f"scripted:{oracle}", "--max-steps", "9"]
for command in (
    ["run", *played, "--db", db],
    ["inspect", "run", "--plain", "--db", db],
    ["inspect", "runs", "--db", db],
    ["tasks"],
    ["eval", *played, "--method", "react", "--method", "bpe", "--method", "bpe,steps=5", "--out", f"{db}.evaluation"],
):
    sys.argv = ["evoharness", *command]
    try:
        main()
    except SystemExit as ended:
        assert ended.code in (0, None) or (command[0], ended.code) == ("run", 1), ended.code
    print("----", flush=True)
"""
"""Plays all the commands in one process, since most of the time of each goes into starting."""
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
MOVES = re.compile(r"[\n\r]|\x1b\[[0-9;]*[A-HJK]")
"""What goes to another place or clears one: a bar that is drawn again stands where it stood."""
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d|10\d)(?:;\d+)*m")
CODE_PAGES = ("cp1252", "cp850")


class Printed:
    """What the commands printed, each by itself, without what only a terminal understands."""

    def __init__(self, written: bytes, encoding: str = "utf-8") -> None:
        self.raw = written.decode(encoding).replace("\r\n", "\n")
        plain = SEQUENCE.sub("", self.raw)
        self.run, self.steps, self.runs, self.tasks, self.evaluation, _ = plain.split("----\n")

    @property
    def widest(self) -> int:
        """The columns that the widest line has, each time that it is drawn."""
        return max(cell_len(SEQUENCE.sub("", part)) for part in MOVES.split(self.raw))


def on_a_terminal(tmp_path: Path, columns: int, encoding: str = "utf-8", **variables: str) -> Printed:
    program = [sys.executable, "-c", PLAY, str(tmp_path / "experience.db"), str(ORACLE)]
    with Terminal(program, (columns, 30), variables) as terminal:
        assert terminal.ended() == 0, terminal.written.decode(encoding)
        return Printed(terminal.written, encoding)


def in_a_pipe(tmp_path: Path, **variables: str) -> tuple[bytes, bytes]:
    program = [sys.executable, "-c", PLAY, str(tmp_path / "experience.db"), str(ORACLE)]
    ended = subprocess.run(program, capture_output=True, cwd=ROOT, env={**os.environ, **variables}, check=True)
    return ended.stdout, ended.stderr


def check_words(printed: Printed) -> None:
    """Check what is said in every width."""
    assert "Traceback" not in printed.raw
    words = " ".join(printed.run.split())
    assert "put-cd: won 9 steps, 4 of them calls of the harness" in words
    assert "heat-egg: out of steps 9 steps" in words
    assert "run 1: 1 of 2 won. See it with: evoharness inspect run 1" in words
    assert re.search(r"^  9  move cd 1 to drawer 3$", printed.steps, re.MULTILINE)
    assert "won 9 steps (3 commit, 5 environment, 1 recall)" in " ".join(printed.steps.split())
    assert "react against bpe: 0 games only the first won" in " ".join(printed.evaluation.split())


def check_rows(printed: Printed) -> None:
    """Check tables that have a line a row."""
    assert re.search(r"^  1  20\S+  finished  bpe  +scripted:", printed.runs, re.MULTILINE)
    assert re.search(r"^heat-apple +alfworld +Heat an apple", printed.tasks, re.MULTILINE)


def check_sideways(printed: Printed) -> None:
    """Check the evaluation where its methods stand side by side."""
    assert re.search(r"^method +react +bpe +bpe,steps=5$", printed.evaluation, re.MULTILINE)
    assert re.search(r"^rate +50.0% +50.0% +0.0%$", printed.evaluation, re.MULTILINE)
    assert re.search(r"^95% interval +9.5% to 90.5% +9.5% to 90.5% +0.0% to 65.8%$", printed.evaluation, re.MULTILINE)
    assert re.search(r"^pick_heat_then_place_in_recep +0 of 1 +0 of 1 +0 of 1$", printed.evaluation, re.MULTILINE)


def test_eighty_columns(tmp_path: Path) -> None:
    printed = on_a_terminal(tmp_path, 80)

    check_words(printed)
    check_rows(printed)
    check_sideways(printed)
    assert printed.widest <= 80
    assert COLOUR.search(printed.raw)
    assert "╭─ belief ─" in printed.run
    assert "→· find cd" in printed.run


def test_forty_columns(tmp_path: Path) -> None:
    printed = on_a_terminal(tmp_path, 40)

    check_words(printed)
    assert printed.widest <= 40
    assert re.search(r"^method bpe  won 1  of 2  rate 50.0%\n  95% interval 9.5% to 90.5% ", printed.evaluation, re.M)
    assert re.search(r"^task type pick_heat_then_place_in_recep\n  react 0 of 1  bpe 0 of 1", printed.evaluation, re.M)
    assert re.search(r"^run 1  started 20\S+ *\n  status finished  method bpe *\n", printed.runs, re.MULTILINE)
    # No word is cut for want of width.
    assert "Heat an apple and put it on the dining table" in " ".join(printed.tasks.split())


def test_a_dumb_terminal(tmp_path: Path) -> None:
    printed = on_a_terminal(tmp_path, 80, TERM="dumb")

    check_words(printed)
    check_rows(printed)
    check_sideways(printed)
    assert "\x1b" not in printed.raw
    assert printed.widest <= 80
    # Nothing is drawn that would have to be drawn over.
    assert "belief" not in printed.run


def test_no_colour(tmp_path: Path) -> None:
    printed = on_a_terminal(tmp_path, 80, NO_COLOR="1")

    check_words(printed)
    check_sideways(printed)
    assert not COLOUR.search(printed.raw)
    assert printed.widest <= 80


@pytest.mark.parametrize("encoding", CODE_PAGES)
def test_a_terminal_with_a_windows_code_page(tmp_path: Path, encoding: str) -> None:
    printed = on_a_terminal(tmp_path, 80, encoding, PYTHONIOENCODING=encoding, PYTHONUTF8="0")

    check_words(printed)
    check_rows(printed)
    check_sideways(printed)
    assert printed.widest <= 80
    # Everything is shown by characters that the code page has.
    assert "?" not in printed.raw.replace("[?25", "")
    assert "+- belief -" in printed.run
    assert "+ find cd (done)" in printed.run
    assert re.search(r">[·-] take cd", printed.run)


@pytest.mark.parametrize("encoding", ["utf-8", "cp850"])
def test_a_pipe(tmp_path: Path, encoding: str) -> None:
    out, err = in_a_pipe(tmp_path, PYTHONIOENCODING=encoding, PYTHONUTF8="0", COLUMNS="40")
    printed = Printed(out, encoding)

    assert err == b""
    check_words(printed)
    check_rows(printed)
    assert "\x1b" not in printed.raw
    assert "?" not in printed.raw
    # A row is one line, however narrow the terminal behind the pipe.
    assert re.search(r"^bpe +1 +2 +50.0% +9.5% to 90.5% +9.0 +", printed.evaluation, re.MULTILINE)
    assert all(line == line.rstrip() for line in (*printed.runs.splitlines(), *printed.evaluation.splitlines()))
    assert "heat-egg.yaml, episode 2, world " in printed.steps


@pytest.mark.parametrize("width", range(20, 130, 3))
def test_a_table_fits_and_loses_nothing(width: int) -> None:
    columns = ("run#", "task", "what it was about", "seconds#")
    rows = [
        ("1", "heat-apple", "heat an apple and put it on the table", "1,204.5"),
        ("22", "温める-卵", "an egg", "3.0"),
        ("3", "alfworld/a-scope/of-several/parts-that-is-long", "", "0.1"),
    ]
    made = table(*columns)
    for cells in rows:
        row(made, *cells)
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(made)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]

    assert max(map(cell_len, lines)) <= width
    shown = "".join("".join(lines).split())
    for cells in rows:
        # A number is never folded, nor are words other than the one that is longer than any column.
        assert all(any(word in line for line in lines) for cell in cells for word in cell.split() if len(word) < 16)
    assert sum(shown.count(char) for char in "温卵") == 2
