"""A review: what is shown, what can be quoted and decided, and what its end says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reviewing import FILES, Review

from evoharness_cli.harness import VERBS, Decode, Environment
from evoharness_cli.harness.constraint import OneOf, constrain

Open = Callable[..., Review]

SIGNED = 'quote memo.md "signed on: 2026-03-01"'
RIGHT = (SIGNED, "decide cap exception R-2 q1", 'quote ledger.csv "C-1,90.00,yes"', "decide sign pass R-3 q2")


def test_it_tells_the_task_the_checks_and_the_documents(review: Open) -> None:
    small = review()
    environment: Environment = small.environment

    assert environment.brief.goal == "decide both checks"
    assert environment.brief.kind == "trial"
    assert environment.brief.world.startswith("case-")
    assert small.first.text == (
        "Case: A small case, as of 2026-03-31\nChecks:\n"
        "- cap (C-1): Is the amount within the cap? [open]\n- sign (C-1): Was it signed? [open]\n"
        "Rules: rules.yaml\nEvidence: ledger.csv, memo.md"
    )
    assert "exception" not in small.first.text.replace("pass, fail, exception", "")


def test_the_key_is_no_document(review: Open) -> None:
    small = review()

    assert small.do("open key.yaml") == "there is no document key.yaml; there are rules.yaml, ledger.csv, memo.md"
    assert small.do("open ../key.yaml").startswith("there is no document")
    assert small.do("search citations") == "No line holds 'citations'."


def test_a_document_is_shown_in_lines_of_its_own(review: Open) -> None:
    small = review()

    assert small.do("open MEMO.md") == (
        "memo.md, page 1 of 1:\n| # Memo on C-1\n| \n| - amount: 95 EUR\n| - signed on:   2026-03-01\n| \n"
        "| The night was   long."
    )


def test_a_long_document_has_pages(review: Open) -> None:
    small = review({"evidence/long.txt": "".join(f"line {number} is here\n" for number in range(400))})

    first = small.do("open long.txt")
    assert first.startswith("long.txt, page 1 of 3:\n| line 0 is here\n")
    assert first.endswith("It goes on: open long.txt 2")
    assert small.belief.value("long.txt", "searched") == "no"
    assert small.do("open long.txt 4") == "the pages of long.txt are 1 to 3; there is no page 4"
    assert small.do("open long.txt 2", "open long.txt 3").endswith("| line 399 is here")
    assert small.belief.value("long.txt", "searched") == "yes"
    assert small.do('quote long.txt "line 170 is here line 171 is here"').startswith("q1, long.txt: ")


def test_a_search_finds_lines_that_hold_all_words_in_every_document(review: Open) -> None:
    small = review()

    assert small.do("search c-1 AMOUNT") == "No line holds 'c-1 AMOUNT'."
    assert small.do('search "at most"') == (
        "rules.yaml, page 1:\n| - {id: R-1, title: Cap, text: At most 100 EUR., valid_from: 2024-01-01}\n"
        "rules.yaml, page 1:\n"
        "| - {id: R-2, title: Cap, text: At most 80 EUR., valid_from: 2026-01-01, supersedes: [R-1]}"
    )


def test_a_search_that_finds_too_much_says_so(review: Open) -> None:
    small = review({"evidence/many.txt": "the same\n" * 50})

    found = small.do("search same").splitlines()
    assert len(found) == 2 * 20 + 1
    assert found[-1] == "30 more lines hold it; search for something rarer."


def test_many_documents_are_listed_in_part(review: Open) -> None:
    small = review({f"evidence/{number:03}.txt": "words" for number in range(110)})

    assert small.first.text.endswith(", 099.txt and 12 more, which a search finds")
    assert len(small.do("open none.md")) < 1200


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (SIGNED, "q1, memo.md: signed on: 2026-03-01"),
        ('quote memo.md "The night was long."', "q1, memo.md: The night was long."),
        ('quote memo.md "95 EUR - signed"', "q1, memo.md: 95 EUR - signed"),
        ('quote memo.md "The night was short."', "not quoted: these words don't stand in memo.md"),
        (
            'quote memo.md "the night was long."',
            "not quoted: these words don't stand in memo.md; with other capitals they do",
        ),
        ('quote ledger.csv "signed on: 2026-03-01"', "not quoted: these words don't stand in ledger.csv"),
        ('quote memo.md "a"', "not quoted: expected 3 to 500 characters; found 1"),
        (f'quote memo.md "{"a" * 501}"', "not quoted: expected 3 to 500 characters; found 501"),
        (
            'quote rules.yaml "At most 80 EUR."',
            "not quoted: a rule is named by its id in decide; quote what the evidence says",
        ),
        ('quote none.md "abc"', "there is no document none.md; there are rules.yaml, ledger.csv, memo.md"),
    ],
)
def test_a_quotation_has_to_stand_in_the_document_word_for_word(review: Open, action: str, said: str) -> None:
    assert review().do(action) == said


def test_the_same_words_are_one_quotation(review: Open) -> None:
    small = review()

    assert small.do(SIGNED, 'quote ledger.csv "C-2"', SIGNED) == "q1, memo.md: signed on: 2026-03-01"
    assert small.environment.names()["quotations"] == ["q1", "q2", "q1 q2"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("decide cap exception R-2 q1", "cap: exception by R-2 on q1"),
        ("decide CAP Exception r-2 Q1, q2", "cap: exception by R-2 on q1, q2"),
        ("decide cap fail R-2 q1 q1", "cap: fail by R-2 on q1"),
        (
            "decide cap pass R-1 q1",
            "not decided: R-1 is not in force on 2026-03-31: superseded by R-2 from 2026-01-01",
        ),
        (
            "decide cap pass R-4 q1",
            "not decided: R-4 is not in force on 2026-03-31: it was valid from 2024-01-01 until 2025-12-31",
        ),
        ("decide cap pass R-5 q1", "not decided: R-5 is not in force on 2026-03-31: it is valid from 2027-01-01"),
        (
            "decide cap pass R-2",
            'not decided: expected a quotation; keep one with quote DOCUMENT "WORDS"',
        ),
        (
            "decide cap pass R-2 q9",
            "not decided: q9 is neither a rule of the case nor a quotation that you kept; "
            'expected a quotation; keep one with quote DOCUMENT "WORDS"',
        ),
        ("decide cap pass q1", "not decided: expected one rule; found none"),
        ("decide cap pass R-2 R-3 q1", "not decided: expected one rule; found 2"),
        (
            "decide cap escalated R-2 q1",
            "not decided: expected one of pass, fail, exception, needs-evidence after the check; found escalated",
        ),
        (
            "decide cap",
            "not decided: expected one of pass, fail, exception, needs-evidence after the check; "
            'expected one rule; found none; expected a quotation; keep one with quote DOCUMENT "WORDS"',
        ),
        ("decide top pass R-2 q1", "not decided: there is no check top; there are cap, sign"),
        ("escalate top it is not mine", "not escalated: there is no check top; there are cap, sign"),
        ("escalate cap it is not mine", "cap: escalated: it is not mine"),
    ],
)
def test_a_decision_needs_a_rule_in_force_and_a_quotation(review: Open, action: str, said: str) -> None:
    small = review()
    small.do(SIGNED, 'quote ledger.csv "C-2"')
    settled = not said.startswith("not ")

    assert small.do(action) == said
    assert (small.belief.value("cap", "is") is not None) is settled


def test_a_decision_can_be_changed_until_it_is_submitted(review: Open) -> None:
    small = review()
    small.do(SIGNED, "decide cap fail R-2 q1", "decide cap exception R-2 q1")

    assert small.belief.value("cap", "is") == "exception"
    assert "- cap (C-1): Is the amount within the cap? [exception by R-2 on q1]" in small.do("list")
    assert "- q1, memo.md: signed on: 2026-03-01" in small.do("list")
    assert small.do("escalate cap ask the owner") == "cap: escalated: ask the owner"
    assert small.belief.value("cap", "is") == "escalated"


def test_all_right_is_a_success(review: Open) -> None:
    small = review()
    small.do(*RIGHT)
    last = small.observe("submit")

    assert (last.done, last.success) == (True, True)
    assert last.text == (
        "Submitted with 2 of 2 checks settled. "
        "Score: decisions right: 2 of 2; citations right: 2 of 2; missed exceptions: 0."
    )


@pytest.mark.parametrize(
    ("actions", "score"),
    [
        ((), "decisions right: 0 of 2; citations right: 0 of 2; missed exceptions: 1"),
        (
            (*RIGHT, "decide cap fail R-2 q1"),
            "decisions right: 1 of 2; citations right: 2 of 2; missed exceptions: 1",
        ),
        (
            (*RIGHT, "decide cap exception R-3 q1"),
            "decisions right: 2 of 2; citations right: 1 of 2; missed exceptions: 0",
        ),
        (
            (*RIGHT, 'quote memo.md "The night was long."', "decide cap exception R-2 q3"),
            "decisions right: 2 of 2; citations right: 1 of 2; missed exceptions: 0",
        ),
        (
            (*RIGHT, "escalate sign nobody knows"),
            "decisions right: 1 of 2; citations right: 1 of 2; missed exceptions: 0",
        ),
    ],
)
def test_what_is_not_all_right_fails_and_is_scored(review: Open, actions: tuple[str, ...], score: str) -> None:
    small = review()
    for action in actions:
        small.do(action)
    last = small.observe("submit")

    assert (last.done, last.success) == (True, False)
    assert last.text.endswith(f"Score: {score}.")


def test_a_case_may_ask_for_less(review: Open) -> None:
    mark = FILES["case.yaml"] + "pass_mark: {decisions: 0.5, citations: 0.5, missed_exceptions: 1}\n"
    small = review({"case.yaml": mark})
    small.do('quote ledger.csv "C-1,90.00,yes"', "decide sign pass R-3 q1")

    assert small.observe("submit").success


def test_without_a_key_a_review_is_done_when_every_check_is_settled(review: Open) -> None:
    small = review({"key.yaml": None})
    small.do(SIGNED, "decide cap fail R-2 q1")
    assert not small.observe("submit").success

    small.do("escalate sign nobody knows")
    last = small.observe("submit")
    assert (last.success, last.text) == (True, "Submitted with 2 of 2 checks settled.")


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("  Open   memo.md ", "Open memo.md"),
        ("list", "list"),
        ("submit", "submit"),
        ("decide cap", "decide cap"),
        ('quote memo.md "a "word" in it"', 'quote memo.md "a "word" in it"'),
        ("open", None),
        ("quote memo.md", None),
        ("quote memo.md words", None),
        ("decide", None),
        ("escalate cap", None),
        ("submit now", None),
        ("run memo.md", None),
        ("", None),
    ],
)
def test_an_action_is_read_or_not_at_all(review: Open, words: str, read: str | None) -> None:
    assert review().environment.read(words) == read


def test_held_replies_name_what_was_read_and_kept(review: Open) -> None:
    small = review({"evidence/long.txt": "line\n" * 1000})

    def held() -> dict[str, list[tuple[str, ...]]]:
        environment = small.environment
        constraint = constrain(Decode.GRAMMAR, environment.forms, environment.names(), (), VERBS)
        assert constraint is not None
        return {
            str(parts[0]): [part.names for part in parts if isinstance(part, OneOf)] for parts in constraint.patterns
        }

    assert held()["open "] == [("rules.yaml", "ledger.csv", "long.txt", "memo.md")]
    assert "decide " not in held()

    small.do("open rules.yaml", "open long.txt", SIGNED)
    assert held()["open "][-1] == ("2",)
    assert held()["decide "] == [
        ("cap", "sign"),
        ("pass", "fail", "exception", "needs-evidence"),
        ("R-1", "R-2", "R-3", "R-4", "R-5"),
        ("q1",),
    ]


def test_the_same_actions_are_answered_the_same_again(review: Open) -> None:
    actions = ("open memo.md", "search C-1", *RIGHT, "list", "open ledger.csv", "submit")

    first, second = review(), review()
    assert [first.observe(action) for action in actions] == [second.observe(action) for action in actions]
