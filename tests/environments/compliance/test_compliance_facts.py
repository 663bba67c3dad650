"""What belief holds of a review, and when its subgoals are done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reviewing import Review

Open = Callable[..., Review]


def test_rules_say_whether_they_are_in_force_and_since_when(review: Open) -> None:
    small = review()
    assert small.belief.value("R-2", "in force") is None

    small.do("open rules.yaml")
    assert small.belief.track("R-2") == "R-1 superseded by R-2 (step 1); R-2 in force from 2026-01-01 (step 1)"
    assert small.belief.track("R-1") == "R-1 not in force (step 1); R-1 superseded by R-2 (step 1)"
    assert [small.belief.value(rule, "in force") for rule in ("R-3", "R-4", "R-5")] == ["from 2024-01-01", "no", "no"]


def test_rules_in_markdown_are_read_like_those_in_yaml(review: Open) -> None:
    text = (
        "# Policy\n\nWords.\n\n## M-2: Signature\n\n- **Valid from:** 2025-02-01\n- Supersedes: R-3, R-9\n\nAll sign.\n"
    )
    small = review({"rules/more.md": text})
    small.do("open more.md")

    assert small.belief.value("M-2", "in force") == "from 2025-02-01"
    assert small.do('quote ledger.csv "C-1"', "decide sign pass R-3 q1").endswith("superseded by M-2 from 2025-02-01")
    assert small.do("decide sign pass M-2 q1") == "sign: pass by M-2 on q1"


def test_a_rule_is_known_from_the_page_that_names_it(review: Open) -> None:
    sections = (f"## M-{number} Title\n\nValid from: 2024-01-01\n\n{'words ' * 495}\n\n" for number in (10, 1))
    small = review({"rules/more.md": "".join(sections)})
    small.do("open more.md")
    assert small.environment.names()["rule"] == ["M-10"]

    small.do("open more.md 2")
    assert small.environment.names()["rule"] == ["M-10", "M-1"]


def test_what_was_not_read_is_known(review: Open) -> None:
    small = review()
    small.do("open memo.md")

    assert small.belief.situation().endswith("searched 1 of 3. not searched: rules.yaml, ledger.csv.")


def test_documents_that_state_different_values_conflict_once_both_were_read(review: Open) -> None:
    small = review()
    small.do("open memo.md")
    assert small.belief.subjects("conflicts") == []

    small.do("open ledger.csv")
    assert small.belief.track("C-1 amount") == "C-1 amount conflicts 95 EUR in memo.md, 90.00 in ledger.csv (step 2)"


def conflicts(review: Open, **documents: str) -> dict[str, str]:
    """Return the conflicts between documents, named `one_md` for `one.md`, that are read in turn."""
    files = {f"evidence/{name.replace('_', '.')}": text for name, text in documents.items()}
    small = review({"evidence/ledger.csv": None, "evidence/memo.md": None, **files})
    for name in documents:
        small.do(f"open {name.replace('_', '.')}")
    return {key: small.belief.value(key, "conflicts") or "" for key in small.belief.subjects("conflicts")}


KEYLESS = {"key.yaml": None}


@pytest.fixture
def keyless(review: Open) -> Open:
    """Opens a review without a key, so that its documents can be others."""
    return lambda changed: review({**KEYLESS, **changed})


def test_csv_json_and_markdown_state_keys_alike(keyless: Open) -> None:
    found = conflicts(
        keyless,
        a_csv="# comment\nid,cost_centre,state\nP-1,Sales,open\nP-2,Field,open\n",
        b_json='{"items": [{"id": "P-1", "cost centre": "Service", "state": "Open"}, {"id": "P-3", "state": "shut"}]}',
        c_md="## About P-2\n\n**State**: closed\n",
    )

    assert found == {
        "P-1 cost centre": "Sales in a.csv, Service in b.json",
        "P-2 state": "open in a.csv, closed in c.md",
    }


def test_the_same_amount_is_no_conflict_however_it_is_written(keyless: Open) -> None:
    assert conflicts(keyless, a_txt="total: 1,240.00 EUR\n", b_md="- **total:** 1240\n") == {}


def test_what_a_document_says_of_itself_is_no_conflict(keyless: Open) -> None:
    assert conflicts(keyless, a_txt="date: 2026-01-01\nfrom: A\n", b_txt="date: 2026-02-02\nfrom: B\n") == {}


def test_a_key_with_several_values_in_one_document_says_nothing(keyless: Open) -> None:
    assert conflicts(keyless, a_txt="leg: north\nleg: south\n", b_txt="leg: east\n") == {}


def test_subgoals_close_on_evidence(review: Open) -> None:
    small = review()
    plan = 'open memo.md | quote memo.md | quote "C-1," | decide cap | escalate sign'
    assert small.commit(plan).endswith("now: open memo.md")

    assert small.commit("done") == "not yet: memo.md was not opened. now: open memo.md"
    small.do("open memo.md")
    assert small.commit("done") == "done: open memo.md. now: quote memo.md"
    small.do('quote ledger.csv "C-2"')
    assert "nothing was quoted from memo.md" in small.commit("done")
    small.do('quote memo.md "signed on: 2026-03-01"')
    assert small.commit("done") == 'done: quote memo.md. now: quote "C-1,"'
    assert "nothing like 'C-1,' was quoted" in small.commit("done")
    small.do('quote ledger.csv "C-1,90.00"')
    assert small.commit("done") == 'done: quote "C-1,". now: decide cap'
    assert "cap is still open" in small.commit("done")
    small.do("decide cap exception R-2 q2")
    small.do("escalate sign nobody knows")
    assert small.commit("done").startswith("done: decide cap; done: escalate sign. every subgoal is done")


def test_a_document_that_was_read_in_part_is_not_read(review: Open) -> None:
    small = review({"evidence/long.txt": "line\n" * 1000})
    small.do("open long.txt")

    small.commit("read long.txt")
    assert "of long.txt you read 1 of 2 pages" in small.commit("done")
    small.do("open long.txt 2")
    assert small.commit("done").startswith("done: read long.txt")


def test_a_check_that_is_not_there_cannot_be_settled(review: Open) -> None:
    small = review()
    small.commit("decide top")

    assert "there is no check top" in small.commit("done")


def test_a_subgoal_in_other_words_is_the_agents_to_tell(review: Open) -> None:
    assert review().environment.evidence("be careful") is None
