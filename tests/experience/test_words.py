"""Texts are compared by what they say: their words, numbers and negations."""

from __future__ import annotations

import pytest

from evoharness_cli.experience.words import content_words, indexed, query_words, root, same_claim, stem, wording


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("kettles", "kettle"),
        ("berries", "berry"),
        ("knives", "knive"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("is", "is"),
    ],
)
def test_plural_endings_go(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_inflected_forms_have_one_root() -> None:
    assert {root(word) for word in ("open", "opens", "opened", "opening")} == {"open"}
    assert root("stoveburners") == root("stoveburner")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How can I find the mugs?", ["mug"]),
        ("find", ["find"]),
        ("error 429", ["error", "429"]),
        ("429", []),
        ("where is it", []),
    ],
)
def test_a_question_is_about_its_words_without_those_that_ask(question: str, words: list[str]) -> None:
    assert query_words(question) == words


def test_the_index_holds_content_and_numbers() -> None:
    assert indexed("The Kettles are not in cabinet 3!") == "kettl cabinet 3"
    assert content_words("put the kettles and the kettle in cabinet 3, never in src/app.py") == [
        "kettl",
        "cabinet",
        "src",
        "app",
        "py",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Open the fridge first.", "open fridge first"),
        ("open a drawer before looking for small keys", "open drawers before looking for the small keys"),
        ("heat the egg in the microwave then serve", "heat the egg in the microwave, then serve it"),
        ("you don't need to open the microwave door", "you do not need to open the microwave door"),
    ],
)
def test_these_say_the_same(one: str, other: str) -> None:
    assert same_claim(wording(one), wording(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("heat the egg in microwave 1", "heat the egg in microwave 2"),
        ("the fridge door has to be closed", "the fridge door has not to be closed"),
        ("open the cabinet door before the search begins", "open the cabinet door after the search begins"),
        ("open the fridge", "clean the sinkbasin"),
        ("always heat the egg", "heat the egg"),
    ],
)
def test_these_do_not(one: str, other: str) -> None:
    assert not same_claim(wording(one), wording(other))
