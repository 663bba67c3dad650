"""What a curator model says is read strictly, and asked for one operation at a time."""

from __future__ import annotations

import pytest

from evoharness_cli.experience.policies.curating import CuratorFull, Form, Operation, ask, read_operation
from evoharness_cli.harness import Constraint, ContextFull, FreeText, OneOf, Reply, Transcript
from evoharness_cli.models import ScriptedModel

FORMS = (Form("add", "adds", fields=("a", "b")), Form("drop", "drops", target=True))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("add: one | two", Operation("add", 0, ("one", "two"))),
        ("ADD : one|two", Operation("add", 0, ("one", "two"))),
        ("drop [7]", Operation("drop", 7)),
        ("drop [8]", None),
        ("drop", None),
        ("drop [7]: why", None),
        ("add [7]: one | two", None),
        ("add: one", None),
        ("add: one | ", None),
        ("add: one | two | three", Operation("add", 0, ("one", "two | three"))),
        ("rm -rf", None),
        ("drop [99999999999999999999999]", None),
    ],
)
def test_an_operation_is_one_of_the_forms_or_none(line: str, expected: Operation | None) -> None:
    assert read_operation(line, FORMS, {7}) == expected


def test_it_is_asked_until_done_or_enough() -> None:
    replies = ["<think>add: x | y</think>\nadd: one | two", "drop [7]", "nonsense", "add: 3 | 4", "done"]
    model = ScriptedModel.of(replies)
    assert ask(model, "t", "s", "m", FORMS, {7}, 9) == [
        Operation("add", 0, ("one", "two")),
        Operation("drop", 7),
        Operation("add", 0, ("3", "4")),
    ]
    assert len(ask(model, "t", "s", "m", FORMS, {7}, 2)) == 2
    assert ask(ScriptedModel.of(["drop [7]", "drop [7]"]), "t", "s", "m", FORMS, {7}, 9) == [Operation("drop", 7)]
    assert ask(ScriptedModel.of(["Done."]), "t", "s", "m", FORMS, {7}, 2) == []


class Small(ScriptedModel):
    """Remembers what it was allowed to say, and has no room to say it."""

    def session(self, task: str) -> Small:
        """Return itself."""
        del task
        return self

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Raise ContextFull."""
        del transcript, max_tokens, seed
        self.allowed = constraint
        raise ContextFull


def test_the_decoder_enforces_the_forms_and_a_full_context_is_a_sentence() -> None:
    model = Small.of([])
    assert isinstance(model, Small)
    allowed = []
    for numbers in ((), (7, 12)):
        with pytest.raises(CuratorFull, match="Name another model with --curator"):
            ask(model, "t", "s", "m", FORMS, numbers, 3)
        allowed.append(model.allowed)

    add = ("add", ": ", FreeText(1, 120), " | ", FreeText(1, 120))
    assert allowed == [
        Constraint((add, ("done",))),
        Constraint((add, ("drop", " [", OneOf(("7", "12")), "]"), ("done",))),
    ]
