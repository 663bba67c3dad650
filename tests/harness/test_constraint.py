"""What may be said at a step follows from the way of decoding, the names seen and the verbs that are on."""

from __future__ import annotations

from collections.abc import Sequence

from evoharness_cli.harness import Constraint, Decode, FreeText, OneOf
from evoharness_cli.harness.constraint import Pattern, constrain

FORMS = ("go to {place}", "put {object} in {place}", "look")
NAMES = {"place": ["desk 1", "bed 1"], "object": ["pen 1"]}
TRACK: Pattern = ("track [", FreeText(shortest=0), "]")
NOTE: Pattern = ("note [", FreeText(shortest=1), "]")


def patterns(
    decode: Decode, names: dict[str, list[str]], admissible: Sequence[str] = (), verbs: Sequence[str] = ()
) -> tuple[Pattern, ...]:
    constraint = constrain(decode, FORMS, names, admissible, verbs)
    assert isinstance(constraint, Constraint)
    return constraint.patterns


def test_free_decoding_has_no_constraint() -> None:
    assert constrain(Decode.FREE, FORMS, NAMES, ["look"], ["track"]) is None


def test_the_grammar_fills_each_form_with_the_names_seen() -> None:
    places = OneOf(("desk 1", "bed 1"))

    assert patterns(Decode.GRAMMAR, NAMES) == (
        ("go to ", places),
        ("put ", OneOf(("pen 1",)), " in ", places),
        ("look",),
    )


def test_a_form_that_nothing_can_fill_is_left_out() -> None:
    assert patterns(Decode.GRAMMAR, {**NAMES, "object": []}) == (("go to ", OneOf(("desk 1", "bed 1"))), ("look",))


def test_a_placeholder_that_the_environment_does_not_name_takes_free_text() -> None:
    assert patterns(Decode.GRAMMAR, {"place": ["desk 1"]})[1] == (
        "put ",
        FreeText(shortest=1),
        " in ",
        OneOf(("desk 1",)),
    )


def test_the_verbs_follow_and_only_some_need_an_argument() -> None:
    assert patterns(Decode.GRAMMAR, NAMES, verbs=["track", "note"])[-2:] == (TRACK, NOTE)


def test_admissible_decoding_allows_those_actions_and_the_verbs() -> None:
    assert patterns(Decode.ADMISSIBLE, NAMES, ["look", "go to bed 1"], ["track"]) == (
        (OneOf(("look", "go to bed 1")),),
        TRACK,
    )


def test_without_admissible_actions_the_grammar_serves() -> None:
    assert patterns(Decode.ADMISSIBLE, NAMES) == patterns(Decode.GRAMMAR, NAMES)


def test_the_grammar_does_not_use_admissible_actions() -> None:
    assert patterns(Decode.GRAMMAR, NAMES, ["go to bed 1"]) == patterns(Decode.GRAMMAR, NAMES)
