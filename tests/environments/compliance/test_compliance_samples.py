"""The sample cases, played by the command line with replies from files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from reviewing import SAMPLES, write_files

from evoharness_cli.environments.compliance.case import read_case

CHECKS = {"expense-audit": 6, "transaction-review": 7, "vendor-onboarding": 6, "access-recertification": 7}
Evoharness = Callable[..., Any]


def solution(name: str) -> list[str]:
    """Return the replies that come with a sample."""
    replies: list[str] = yaml.safe_load((SAMPLES / "solutions" / f"{name}.yaml").read_text(encoding="utf-8"))
    return replies


def play(evoharness: Evoharness, name: str, replies: list[str], folder: Path) -> Any:
    """Play a sample with these replies; return how the command ended."""
    write_files(folder, {"replies.yaml": yaml.safe_dump(replies)})
    return evoharness("run", SAMPLES / f"{name}.yaml", "--model", f"scripted:{folder / 'replies.yaml'}", "--json")


@pytest.mark.parametrize("name", CHECKS)
def test_its_solution_wins_and_leaves_a_report(evoharness: Evoharness, name: str) -> None:
    script = SAMPLES / "solutions" / f"{name}.yaml"
    ended = evoharness("run", SAMPLES / f"{name}.yaml", "--model", f"scripted:{script}", "--json")
    assert (ended.code, ended.objects[0]["outcome"]) == (0, "won")

    checks = CHECKS[name]
    steps = evoharness("inspect", "run", "--json").steps
    assert steps[-1]["observation"] == (
        f"Submitted with {checks} of {checks} checks settled. "
        f"Score: decisions right: {checks} of {checks}; citations right: {checks} of {checks}; missed exceptions: 0."
    )
    assert [step["action"] for step in steps if step["invalid"]] == []
    assert [step["action"] for step in steps if step["observation"].startswith("not ")] == []
    text = Path(steps[-1]["remark"].removeprefix("report: ")).read_text(encoding="utf-8")
    assert text.count("\n## ") == checks + 1


@pytest.mark.parametrize("name", CHECKS)
def test_doing_nothing_fails(evoharness: Evoharness, tmp_path: Path, name: str) -> None:
    ended = play(evoharness, name, ["submit"], tmp_path)

    assert (ended.code, ended.objects[0]["outcome"]) == (1, "lost")
    assert f"decisions right: 0 of {CHECKS[name]}" in evoharness("inspect", "run", "--json").steps[-1]["observation"]


@pytest.mark.parametrize("name", CHECKS)
def test_to_miss_an_exception_or_a_citation_fails(evoharness: Evoharness, tmp_path: Path, name: str) -> None:
    exception = next(reply for reply in solution(name) if " exception " in reply)
    _, check, _, rule, *quotations = exception.split()
    for instead, score in (
        (f"decide {check} pass {rule} {' '.join(quotations)}", "missed exceptions: 1"),
        (f"decide {check} exception {rule} {other(name, quotations)}", f"citations right: {CHECKS[name] - 1} of"),
    ):
        ended = play(evoharness, name, [*solution(name)[:-1], instead, "submit"], tmp_path)
        assert (ended.code, ended.objects[0]["outcome"]) == (1, "lost")
        assert score in evoharness("inspect", "run", "--json").steps[-1]["observation"]


def other(name: str, quotations: list[str]) -> str:
    """Return a quotation of the solution besides these."""
    kept = sum(reply.startswith("quote ") for reply in solution(name))
    return next(f"q{number}" for number in range(1, kept + 1) if f"q{number}" not in quotations)


def test_the_older_rule_that_would_let_it_pass_is_refused(evoharness: Evoharness, tmp_path: Path) -> None:
    replies = [
        "open claims.csv",
        'quote claims.csv "C-1041,Mara Lindqvist"',
        "decide hotel-1041 pass TRV-2 q1",
        "submit",
    ]
    play(evoharness, "expense-audit", replies, tmp_path)

    refused = evoharness("inspect", "run", "--json").steps[-2]["observation"]
    assert refused == "not decided: TRV-2 is not in force on 2026-04-30: superseded by TRV-6 from 2026-01-01"


@pytest.mark.parametrize(
    ("name", "conflict"),
    [
        ("expense-audit", "C-1045 amount conflicts 96.40 in claims.csv, 69.40 in receipts.md"),
        ("transaction-review", "P-306 date conflicts 2026-03-10 in payments.csv, 2026-03-05 in bank-statement.csv"),
        (
            "vendor-onboarding",
            "account conflicts XX12 0000 0000 1840 3345 in application.md, XX41 0000 0000 2203 9917 in bank-letter.pdf",
        ),
        ("access-recertification", "U-26 department conflicts Payments in accounts.csv, Controlling in staff.json"),
    ],
)
def test_its_documents_conflict_where_it_matters(evoharness: Evoharness, name: str, conflict: str) -> None:
    evoharness("run", SAMPLES / f"{name}.yaml", "--model", f"scripted:{SAMPLES / 'solutions' / f'{name}.yaml'}")

    facts = [fact for step in evoharness("inspect", "run", "--json").steps for fact in step["facts"]]
    assert conflict in [" ".join(fact.values()) for fact in facts]


def test_what_one_audit_noted_is_recalled_by_the_next(evoharness: Evoharness) -> None:
    def recalled(name: str) -> dict[str, Any]:
        evoharness("run", SAMPLES / f"{name}.yaml", "--model", f"scripted:{SAMPLES / 'solutions' / f'{name}.yaml'}")
        steps = evoharness("inspect", "run", "--json").steps
        return next(step for step in steps if step["kind"] == "recall")

    assert recalled("transaction-review")["observation"] == "nothing relevant in experience"
    recalled("expense-audit")
    known = recalled("transaction-review")

    note = "an approval that is dated after the expense or payment does not count as an exception"
    assert f'note: "{note}' in known["observation"]
    assert len(known["recalled"]) >= 1


def test_what_was_decided_in_one_case_is_not_taught_as_a_skill(evoharness: Evoharness) -> None:
    for name in CHECKS:
        evoharness("run", SAMPLES / f"{name}.yaml", "--model", f"scripted:{SAMPLES / 'solutions' / f'{name}.yaml'}")

    kept = [each["text"] for each in evoharness("inspect", "experience", "--json").objects]
    assert kept
    assert not [text for text in kept if " pass " in text or " fail " in text]


def test_the_embedded_model_ends_in_a_recorded_outcome(evoharness: Evoharness) -> None:
    ended = evoharness("run", SAMPLES / "expense-audit.yaml", "--max-steps", 1, "--json")

    assert (ended.code, ended.objects[0]["outcome"]) == (1, "out of steps")
    (step,) = evoharness("inspect", "run", "--json").steps
    assert step["completion_tokens"] > 0
    assert step["kind"] != "format"


def test_an_interrupted_review_goes_on_where_it_was(evoharness: Evoharness, tmp_path: Path) -> None:
    replies = solution("access-recertification")
    assert play(evoharness, "access-recertification", replies[:12], tmp_path).code == 3
    write_files(tmp_path, {"replies.yaml": yaml.safe_dump(replies)})

    assert evoharness("run", "--resume", 1, "--json").code == 0
    steps = evoharness("inspect", "run", "--json").steps
    assert [step["reply"] for step in steps] == replies


@pytest.mark.parametrize("name", CHECKS)
def test_each_document_says_that_it_is_invented_and_each_citation_stands_in_one(name: str) -> None:
    case = read_case(SAMPLES / "cases" / name)
    for document in case.documents.values():
        assert "Invented data for a sample task" in document.content.words, document.name
    assert case.key is not None
    for check, expected in case.key.checks.items():
        assert all(case.rules.lapsed(rule) is None for rule in case.rules.all() if rule.id in expected.rules), check
        for citation in expected.citations:
            document = case.documents[citation.document]
            assert citation.is_in(document.name, document.content.words), (check, citation.words)
