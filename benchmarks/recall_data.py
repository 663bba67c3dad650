"""The labelled questions of `benchmarks.recall`: a bank, what is asked of it, and how an answer is judged."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from evoharness_cli.experience.entries import scopes_above

FOLDER = Path(__file__).parent / "recall_queries"
FITTING = ("plain", "reworded")
NOTHING_FITS = ("distractor", "elsewhere", "foreign")
SHOWN = 5
"""How many entries an answer has at most, of every contender."""

Ranked = Sequence[tuple[str, float]]
"""The names of entries and their scores, best first."""


@dataclass(frozen=True)
class Item:
    """An entry of the bank."""

    id: str
    kind: str
    scope: str
    text: str
    world: str | None = None
    when: str | None = None

    @property
    def said(self) -> str:
        """All of its words."""
        return f"{self.text} (when {self.when})" if self.when else self.text

    def holds_for(self, question: Question) -> bool:
        """Tell whether it can be recalled where the question is asked."""
        return self.scope in scopes_above(question.scope) and self.world in (None, question.world)


@dataclass(frozen=True)
class Question:
    """What is asked, where, in which half and form it is, and the entries that belong in the answer."""

    text: str
    form: str
    half: str
    scope: str
    world: str | None
    right: frozenset[str]


@dataclass(frozen=True)
class Marks:
    """How a contender did; an entry that doesn't belong in an answer counts wherever it is given."""

    f1: float
    """2 TP / (2 TP + FP + FN) over the entries of all answers."""
    precision: float
    recall: float
    empty_right: float
    """The share of the questions without a fitting entry that were answered by nothing."""


def read_bank() -> list[Item]:
    """Return the bank."""
    return [Item(**each) for each in _read("bank.yaml")]


def read_questions() -> list[Question]:
    """Return the questions of both halves."""
    return [
        Question(text, form, each["half"], each["scope"], each.get("world"), frozenset(each.get("right", ())))
        for each in _read("queries.yaml")
        for form in (*FITTING, *NOTHING_FITS)
        for text in each.get(form, ())
    ]


def mark(questions: Iterable[Question], answers: Callable[[Question], Ranked], floor: float) -> Marks:
    """Judge what a contender answers when it gives what scores at least `floor`, five entries at most."""
    right = wrong = missed = empty = unfit = 0
    for question in questions:
        given = {name for name, score in answers(question)[:SHOWN] if score >= floor}
        right += len(given & question.right)
        wrong += len(given - question.right)
        missed += len(question.right - given)
        unfit += not question.right
        empty += not question.right and not given
    return Marks(
        f1=2 * right / max(1, 2 * right + wrong + missed),
        precision=right / max(1, right + wrong),
        recall=right / max(1, right + missed),
        empty_right=empty / max(1, unfit),
    )


def best_floor(questions: Sequence[Question], answers: Callable[[Question], Ranked]) -> float:
    """Return the floor with the best F1, halfway between the two scores that it parts."""
    scores = sorted({score for question in questions for _, score in answers(question)[:SHOWN]})
    # Some hundred quantiles tell floors apart as finely as so many questions can.
    steps = scores[:: max(1, len(scores) // 200)]
    floors = [(low + high) / 2 for low, high in itertools.pairwise(steps)] or [0.0]
    return max(floors, key=lambda floor: mark(questions, answers, floor).f1)


def _read(name: str) -> list[dict[str, str]]:
    read: list[dict[str, str]] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return read
