"""Ctrl-C ends every command with one sentence and 130, wherever it is, and doesn't cut short what is written down."""

from __future__ import annotations

import subprocess
import sys

from commands import ROOT

WHILE_TYPER_IS_IMPORTED = """
import signal, sys
class Pressing:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Pressing())
sys.argv = ["evoharness", "tasks"]
from evoharness_cli.__main__ import main
main()
"""
THREE_TIMES = """
import signal
from evoharness_cli.interrupts import count_presses
count_presses()
try:
    signal.raise_signal(signal.SIGINT)
finally:
    signal.raise_signal(signal.SIGINT)
    print("written down", flush=True)
    signal.raise_signal(signal.SIGINT)
    print("not reached", flush=True)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)


def test_while_the_command_line_is_imported() -> None:
    ended = run(WHILE_TYPER_IS_IMPORTED)

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


def test_the_second_press_waits_for_what_the_first_began_and_the_third_does_not() -> None:
    ended = run(THREE_TIMES)

    assert (ended.returncode, ended.stdout) == (130, "written down\n")
    assert ended.stderr == "ending; press Ctrl-C once more to end at once\n"
