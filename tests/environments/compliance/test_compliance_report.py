"""The report: every decision's trail, in Markdown that nothing from a document can change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reviewing import FILES, Review

from evoharness_cli.environments.compliance.report import write_report
from evoharness_cli.harness import OutsideFault

Open = Callable[..., Review]


def report(small: Review) -> str:
    """Submit and return the report."""
    remark = small.observe("submit").remark
    path = Path(remark.removeprefix("report: "))
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    return path.read_text(encoding="utf-8")


def test_every_decision_has_its_rule_its_quotations_and_what_led_to_it(review: Open) -> None:
    small = review()
    small.do("open memo.md", 'quote memo.md "signed on: 2026-03-01"', "decide cap fail R-2 q1")
    small.do('quote ledger.csv "C-1,90.00,yes"', "decide cap exception R-2 q1 q2", "escalate sign nobody knows")
    text = report(small)

    assert text.startswith("# A small case\n\nRules as of 2026-03-31. Documents: `case-")
    assert "| cap | C-1 | exception | R-2 |\n| sign | C-1 | escalated |  |\n" in text
    assert (
        "## cap: exception\n\nIs the amount within the cap? (C-1)\n\n"
        "Decided at action 5 by the rule R-2, Cap\n(rules.yaml, in force from 2026-01-01): At most 80 EUR.\n\n"
        "- q1, memo.md, page 1, quoted at action 2: `signed on: 2026-03-01`\n"
        "- q2, ledger.csv, page 1, quoted at action 4: `C-1,90.00,yes`\n\n"
        "Before, at action 3: fail by R-2 on q1\n"
    ) in text
    assert "## sign: escalated\n\nWas it signed? (C-1)\n\nEscalated at action 6: nobody knows\n" in text
    assert "Decisions right: 1 of 2; citations right: 1 of 2; missed exceptions: 0.\n" in text
    assert text.endswith("| cap | right | right |\n| sign | wrong | wrong |\n")


def test_open_checks_and_missed_exceptions_are_named(review: Open) -> None:
    text = report(review())

    assert "## cap: open\n\nIs the amount within the cap? (C-1)\n" in text
    assert "| cap | missed exception | wrong |" in text


def test_without_a_key_there_is_no_score(review: Open) -> None:
    assert "Against the key" not in report(review({"key.yaml": None}))


def test_nothing_from_a_document_is_read_as_markup(review: Open) -> None:
    small = review(
        {
            "evidence/ledger.csv": FILES["evidence/ledger.csv"] + "``` <script>alert(1)</script> `x`\n",
            "case.yaml": FILES["case.yaml"].replace("A small case", '"<b>A</b> [case](http://x) | # *big*"'),
        }
    )
    small.do('quote ledger.csv "``` <script>alert(1)</script> `x`"', "decide cap fail R-2 q1")
    text = report(small)

    assert text.startswith("# \\<b\\>A\\</b\\> \\[case\\](http://x) \\| \\# \\*big\\*\n")
    assert "quoted at action 1: ```` ``` <script>alert(1)</script> `x` ````\n" in text


def test_the_same_review_has_one_report_and_another_one_its_own(review: Open, tmp_path: Path) -> None:
    first, second = review().observe("submit").remark, review().observe("submit").remark
    other = review()
    other.do("escalate cap nobody knows")

    assert first == second
    assert other.observe("submit").remark != first
    assert len(list((tmp_path / "reports").iterdir())) == 2


def test_a_folder_that_cannot_be_written_is_a_fault_outside(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(OutsideFault, match=r"The report .*/file/case-\w{12}\.md can't be written: "):
        write_report(tmp_path / "file", "case", "text")
