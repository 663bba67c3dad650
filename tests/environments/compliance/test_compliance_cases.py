"""Case folders: what makes one, and the sentence that says why one can't be used."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from reviewing import FILES

from evoharness_cli.environments.compliance.adapter import ComplianceAdapter, ComplianceNeeds
from evoharness_cli.environments.compliance.case import read_case
from evoharness_cli.environments.compliance.reading import CaseError
from evoharness_cli.harness import WrongUsage

Write = Callable[..., Path]
CASE, KEY, RULES = FILES["case.yaml"], FILES["key.yaml"], FILES["rules/rules.yaml"]


def test_the_world_is_what_the_documents_hold(case_folder: Write) -> None:
    before = read_case(case_folder()).world

    assert re.fullmatch(r"case-[0-9a-f]{10}", before)
    assert read_case(case_folder({"case.yaml": CASE.replace("small", "other")})).world == before
    assert (
        read_case(case_folder({"evidence/ledger.csv": FILES["evidence/ledger.csv"] + "C-3,1.00,no\n"})).world != before
    )
    assert read_case(case_folder({"rules/rules.yaml": RULES.replace("80 EUR", "85 EUR")})).world != before


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("case.yaml", None, "there is no such file, and a case needs it"),
        ("case.yaml", "", "expected keys with their values; found nothing"),
        ("case.yaml", "- a list", "expected keys with their values; found ['a list']"),
        ("case.yaml", "title: [", "line 1: expected YAML"),
        ("case.yaml", "title: \xff".encode("latin-1"), "expected YAML in UTF-8"),
        ("case.yaml", CASE.replace("2026-03-31", "soon"), "expected `as_of` to be a valid date"),
        ("case.yaml", CASE.replace("2026-03-31", "2026-13-31"), "expected YAML in UTF-8; month must be in 1..12"),
        ("case.yaml", CASE.replace("kind: trial\n", ""), "expected the key `kind`, which is missing"),
        ("case.yaml", CASE + "colour: red\n", "unknown key `colour`"),
        ("case.yaml", CASE.replace("id: cap", "id: the cap"), "expected `checks.0.id` to be one word"),
        ("case.yaml", CASE.replace("id: sign", "id: CAP"), "expected every check to have a name of its own"),
        (
            "case.yaml",
            CASE + "pass_mark: {decisions: 2}\n",
            "expected `pass_mark.decisions` to be less than or equal to 1",
        ),
        ("case.yaml", "a: &a [x]\nb: [*a, *a]\n", "found an alias"),
        ("case.yaml", "[" * 5000 + "]" * 5000, "nested too deep"),
        ("case.yaml", "# " + "a" * 200_000, "expected at most 200,000 bytes; found 200,002"),
        ("rules/rules.yaml", RULES.replace("id: R-2", "id: r-1"), "the rule r-1 stands in rules.yaml already"),
        (
            "rules/rules.yaml",
            RULES.replace("valid_from: 2027-01-01", "valid_from: no"),
            "expected `rules.4.valid_from`",
        ),
        ("rules/rules.yaml", RULES.replace("2025-12-31", "2023-12-31"), "the rule R-4 ends before it begins"),
        ("rules/rules.pdf", "words", "expected rules in a file that ends in .yaml, .yml, .md"),
        ("rules/more.md", "## M-1 Title\n\nText.\n", "rule M-1: expected the key `valid_from`, which is missing"),
        ("rules/more.md", b"\xff", "expected text in UTF-8"),
        ("rules/ledger.csv", "words", "expected every document to have a name of its own; ledger.csv is there 2 times"),
        ("key.yaml", KEY.replace("sign:", "sing:"), "expected the checks of case.yaml, each once; sign is in one"),
        ("key.yaml", KEY.replace("R-3", "R-9"), "sign expects the rule R-9, which the case doesn't have"),
        ("key.yaml", KEY.replace("memo.md", "none.md"), "cap expects none.md, which the case doesn't have"),
        ("key.yaml", KEY.replace("rules: [R-3]", "rules: []"), "a decision needs `rules` and `citations`"),
        ("key.yaml", KEY.replace("decision: pass", "decision: maybe"), "expected `checks.sign.decision` to be 'pass'"),
    ],
)
def test_a_case_that_cannot_be_used_is_one_sentence(
    case_folder: Write, name: str, content: str | bytes | None, said: str
) -> None:
    folder = case_folder({name: content})

    with pytest.raises(CaseError) as error:
        read_case(folder)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value)


def test_a_case_needs_rules_and_a_folder_of_evidence(case_folder: Write) -> None:
    with pytest.raises(CaseError, match=r"rules: expected at least one rule; found none\."):
        read_case(case_folder({"rules/rules.yaml": None}))
    folder = case_folder()
    (folder / "evidence").rename(folder / "papers")
    with pytest.raises(CaseError, match="evidence: there is no such folder"):
        read_case(folder)


def test_cases_are_found_by_folder(case_folder: Write) -> None:
    adapter, folder = ComplianceAdapter(), case_folder()

    assert adapter.recognise(folder) == [("small", {"case": str(folder)})]
    assert adapter.locate(str(folder.parent)) == [("small", {"case": str(folder)})]
    assert adapter.recognise(folder / "evidence") == []
    with pytest.raises(WrongUsage, match=r"with a case\.yaml in it or below it; found none in nowhere"):
        adapter.locate("nowhere")


def test_another_sentence_may_stand_for_the_request(case_folder: Write) -> None:
    environment = ComplianceAdapter().open(ComplianceNeeds(case=case_folder()), "look at it again")

    assert environment.brief.goal == "look at it again"


def test_the_doctor_reads_the_samples() -> None:
    found = {finding.what: finding for finding in ComplianceAdapter().examine()}

    assert found["compliance cases"].found == "4 samples with 26 checks"
    assert found["PDF text"].found.startswith("pypdf ")
    assert [finding.remedy for finding in found.values()] == [None, None]
