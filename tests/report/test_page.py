"""The page holds all it needs, lets nothing else run or be fetched, and takes no other file's place."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from report_reading import named, report

from evoharness_cli.harness import OutsideFault, WrongUsage
from evoharness_cli.report import opened, write_report


def test_the_policy_lets_its_own_script_and_style_run_and_nothing_else(learnt: Path, tmp_path: Path) -> None:
    page = report(None, learnt, tmp_path / "page.html")
    (policy,) = (
        str(attributes["content"]) for tag, attributes in page.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )  # fmt: skip
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))

    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == f"'{digest(page.scripts)}'"
    assert directives["style-src"] == f"'{digest(page.styles)}'"
    assert set(directives) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}


def digest(texts: list[str]) -> str:
    """Return the hash of the only text, as a policy names it."""
    (text,) = texts
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def test_nothing_is_asked_for_outside_the_file(evaluation: Path, tmp_path: Path) -> None:
    page = report(None, evaluation, tmp_path / "page.html")
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object")
        assert "src" not in attributes
        assert str(attributes.get("href", "#")).startswith("#")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    for text in (*page.scripts, *page.styles):
        assert not re.search(r"https?:|//[a-z]|@import|url\(|innerHTML|insertAdjacentHTML|\beval\b", text)


def test_entries_lead_to_the_episodes_that_voted_on_them(learnt: Path, tmp_path: Path) -> None:
    page = report(None, learnt, tmp_path / "page.html")
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert {"#episode=3", "#episode=5", "#trajectories"} <= set(links)


def test_a_report_is_written_again_and_nothing_else_is_written_over(learnt: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "made" / "page.html", tmp_path / "precious.txt"
    other.write_text("precious")
    report("1", learnt, out)
    report("2", learnt, out)
    with opened("1", named(learnt)) as subject:
        with pytest.raises(WrongUsage, match="isn't a report"):
            write_report(subject, other)
        with pytest.raises(WrongUsage, match="is a folder"):
            write_report(subject, tmp_path)
        with pytest.raises(OutsideFault, match="can't be written"):
            write_report(subject, other / "page.html")

    assert "<title>Run 2 - evoharness</title>" in out.read_text(encoding="utf-8")
    assert other.read_text() == "precious"
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]


def test_what_fails_on_the_way_leaves_the_report_before(learnt: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    report("1", learnt, out)
    before = out.read_bytes()

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with opened(None, named(learnt)) as subject, pytest.raises(KeyboardInterrupt):
        write_report(subject, out, stop)
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
