"""A claim about where a thing is is read from plain English; anything else is left a text."""

from __future__ import annotations

import pytest

from evoharness_cli.experience.slots import Slots, about_this_world, agree, covers, read_slots


@pytest.mark.parametrize(
    "text",
    [
        "in this house, the kettle is usually on the countertop 2",
        "In this house the kettle is at countertop 2.",
        "the kettle is inside the countertop 2",
        "Kettle is under countertop 2",
        "the kettle was in/on countertop 2",
        "the kettle can be found on countertop 2",
        "the kettle is located at the countertop 2",
        "kettle: countertop 2",
        "kettle | at | countertop 2",
        "kettle | on | the countertop 2",
        "I found the kettle on countertop 2",
        "here, the kettle is in the countertop 2",
    ],
)
def test_one_claim_has_many_wordings(text: str) -> None:
    assert read_slots(text) == Slots("kettle", "at", "countertop 2")


@pytest.mark.parametrize(
    ("text", "subject", "place"),
    [
        ("the kettle 1 is in the cabinet", "kettle 1", "cabinet"),
        ("kettle 1 at stoveburner 2", "kettle 1", "stoveburner 2"),
        ("the config file is in src/app/settings.py", "config file", "src/app/settings.py"),
        ("a remote control is usually on the sofa", "remote control", "sofa"),
    ],
)
def test_names_keep_their_numbers_and_words(text: str, subject: str, place: str) -> None:
    assert read_slots(text) == Slots(subject, "at", place)


@pytest.mark.parametrize(
    "text",
    [
        "the kettle is not in cabinet 1",
        "the kettle is never on countertop 2",
        "the kettle isn't at countertop 2",
        "there is no kettle at countertop 2",
        "put kettle 1 on stoveburner 1",
        "the best way to clean is in the sinkbasin 1",
        "if the fridge is closed it is in the kitchen",
        "the kettle is at countertop 1 or 2",
        "the mug is in the fridge after cooling",
        "skill: countertop 2",
        "mug: wash it first",
        "kettle | is | clean",
        "the kettle is in hand",
        "open the fridge first",
        "",
    ],
)
def test_what_is_no_claim_about_a_place_has_no_slots(text: str) -> None:
    assert read_slots(text) is None


def test_places_agree_when_one_only_lacks_the_number() -> None:
    assert agree("countertop", "countertop 2") and agree("countertop 2", "countertop")
    assert not agree("countertop 1", "countertop 2")
    assert not agree("countertop", "stoveburner 2")


def test_a_type_covers_each_of_it_and_an_instance_only_itself() -> None:
    assert covers("kettle", "kettle 1") and covers("kettle 1", "kettle 1")
    assert not covers("kettle 1", "kettle 2") and not covers("kettle", "kettlebell 1")


def test_a_text_may_say_that_it_is_about_the_world_at_hand() -> None:
    assert about_this_world("In this house every knife is kept in a drawer")
    assert not about_this_world("in this case open the drawer")
