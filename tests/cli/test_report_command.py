"""`evoharness report` writes a page of what it is told, and says in a sentence what it can't show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ORACLE, ROOT, Command

SCRIPT = f"scripted:{ORACLE}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, in which the command is given."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_run_and_all_of_the_store(evoharness: Command, here: Path) -> None:
    for game in ("put-cd", "look-at-book"):
        evoharness("run", game, "--model", SCRIPT, "--json")

    one = evoharness("report", 2)
    assert (one.code, one.out.split(" (")[0], one.out.split()[-1]) == (0, "wrote run-2.html", "1")
    assert "Run 2" in (here / "run-2.html").read_text(encoding="utf-8")
    (printed,) = evoharness("report", "--out", "all.html", "--json").objects
    assert printed == {"report": "all.html", "episodes": 2, "bytes": (here / "all.html").stat().st_size}


def test_an_evaluation_and_what_goes_wrong(evoharness: Command, here: Path) -> None:
    evoharness("eval", "put-cd", "--model", SCRIPT, "--method", "react", "--method", "bpe", "--out", "compared.db")
    assert evoharness("report", "compared.db").code == 0
    assert "Comparison" in (here / "compared.html").read_text(encoding="utf-8")

    for arguments, code, words in (
        (("nothing",), 2, "none of these"),
        ((".",), 2, "found no log.jsonl in it"),
        ((99, "--db", "compared.db"), 2, "There is no run 99"),
        (("compared.db", "--out", "compared.db"), 2, "isn't a report"),
        (("compared.html",), 3, "not an SQLite database"),
        ((), 2, "There is no store at"),
    ):
        ended = evoharness("report", *arguments)
        assert (ended.code, ended.err.count("error: ")) == (code, 1)
        assert words in " ".join(ended.err.split())


def test_open_shows_it_in_the_browser_that_is_set(evoharness: Command, here: Path, db: Path) -> None:
    evoharness("run", "put-cd", "--model", SCRIPT, "--json")
    browser = here / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {here / "shown"}\n')
    browser.chmod(0o755)
    subprocess.run(
        [sys.executable, "-m", "evoharness_cli", "report", "--out", here / "page.html", "--open"],
        check=True, cwd=ROOT, env={**os.environ, "EVOHARNESS_DB": str(db), "BROWSER": f"{browser} %s"},
    )  # fmt: skip

    assert (here / "shown").read_text() == (here / "page.html").as_uri()


def test_without_matplotlib_it_says_how_to_get_it(evoharness: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ended = evoharness("report")

    assert ended.code == 3
    assert "pip install 'evoharness-cli[report]'" in " ".join(ended.err.split())
