"""A slip of an environment's author is one sentence that names the environment, the call and what was expected."""

from __future__ import annotations

import pytest
from rooms import Replies, TwoRooms

from evoharness_cli.harness import Decode, Episode, Fact, FreeText, OneOf, OutsideFault, Settings, Workspace
from evoharness_cli.harness.constraint import constrain, is_among


def played(environment: TwoRooms) -> None:
    list(Episode(environment, Replies(["go to kitchen 1"]), Workspace("bring", environment.evidence)).play())


@pytest.mark.parametrize(
    ("method", "answer", "said"),
    [
        ("reset", "You are here.", "TwoRooms.reset() returned 'You are here.'; expected an Observation with a text."),
        ("step", None, "TwoRooms.step('go to kitchen 1') returned None; expected an Observation with a text."),
        ("facts", None, "TwoRooms.facts() returned None; expected a list of Facts."),
        ("facts", [("mug", "at", "hall")], "holds ('mug', 'at', 'hall'); expected a Fact of three texts."),
        ("facts", [Fact("battery", "left", 8)], "object=8); expected a Fact of three texts."),  # type: ignore[arg-type]
        ("names", {"room": "hall 1"}, "TwoRooms.names() has 'hall 1' for 'room'; expected a list of texts."),
        ("names", {"room": {"hall 1"}}, "TwoRooms.names() has {'hall 1'} for 'room'; expected a list of texts."),
        ("names", {"rooom": ["hall 1"]}, "has the placeholder 'rooom', which none of its forms has."),
    ],
)
def test_what_breaks_the_protocol_is_said(
    monkeypatch: pytest.MonkeyPatch, method: str, answer: object, said: str
) -> None:
    environment = TwoRooms()
    monkeypatch.setattr(environment, method, lambda *_: answer)

    with pytest.raises(OutsideFault) as raised:
        played(environment)
    assert str(raised.value).endswith(said)


def test_an_admissible_action_may_hold_free_text() -> None:
    admissible = ["open jar", "label jar as {text}"]

    assert is_among("open jar", admissible)
    assert is_among("label jar as Fragile, 2 kg", admissible)
    assert not is_among("label jar as ", admissible)
    assert not is_among("label tin as Fragile", admissible)
    limited = constrain(Decode.ADMISSIBLE, ("open {thing}",), {"thing": ["tin"]}, admissible, ())
    assert limited is not None
    assert limited.patterns == ((OneOf(("open jar",)),), ("label jar as ", FreeText(shortest=1)))


def test_a_free_text_action_that_is_listed_is_valid() -> None:
    environment = TwoRooms()
    environment.admissible = lambda: ["go to {room}"]  # type: ignore[method-assign]
    episode = Episode(environment, Replies(["go to kitchen 1"]), Workspace("bring", environment.evidence), Settings())
    steps = episode.play()
    next(steps)

    assert not next(steps).invalid
