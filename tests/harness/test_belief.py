"""Belief holds what is true now, tells when it was shown, and answers in whole names."""

from __future__ import annotations

import pytest
from rooms import believing

from evoharness_cli.harness import Belief, Fact, Known
from evoharness_cli.harness.belief import kind_of


def test_a_newer_fact_supersedes_an_older_one_about_the_same_two() -> None:
    belief = believing(("mug 1", "at", "shelf 1"), ("mug 1", "clean", "no"), ("mug 1", "at", "hand"))

    assert belief.value("mug 1", "at") == "hand"
    assert belief.all() == [
        Known(Fact("mug 1", "at", "hand"), 3),
        Known(Fact("mug 1", "clean", "no"), 2),
    ]


def test_what_is_superseded_stays_in_the_history() -> None:
    belief = believing(("mug 1", "at", "shelf 1"), ("mug 1", "at", "hand"))

    assert [str(known.fact) for known in belief.history] == ["mug 1 at shelf 1", "mug 1 in hand"]


def test_a_placed_thing_is_no_longer_held() -> None:
    belief = believing(("mug 1", "at", "hand"), ("mug 1", "at", "desk 1"))

    assert belief.subjects("at", "hand") == []
    assert belief.situation().startswith("you are at no place yet, holding nothing.")


def test_only_what_changed_is_news_but_the_step_is_renewed() -> None:
    belief = believing(("mug 1", "at", "shelf 1"))

    news = belief.absorb([Fact("mug 1", "at", "shelf 1"), Fact("pan 1", "at", "shelf 1")], 4)

    assert news == [Fact("pan 1", "at", "shelf 1")]
    assert belief.track("mug 1") == "mug 1 at shelf 1 (step 4)"
    assert len(belief.history) == 2


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("pan", ["pan 2"]),
        ("mug", ["mug 12", "mug 1"]),
        ("mug 1", ["mug 1"]),
        ("shelf 1", ["pancake 1", "mug 1"]),
        ("an", []),
    ],
)
def test_a_query_matches_whole_words_newest_first(query: str, expected: list[str]) -> None:
    belief = believing(
        ("mug 1", "at", "shelf 1"),
        ("pancake 1", "at", "shelf 1"),
        ("mug 12", "at", "shelf 12"),
        ("pan 2", "at", "hand"),
    )

    assert [known.fact.subject for known in belief.about(query)] == expected


@pytest.mark.parametrize("query", ["the mug", "where is the mug?", "Mug", " my mug. ", "what is on the mug"])
def test_a_query_may_be_a_question(query: str) -> None:
    assert [known.step for known in believing(("mug 1", "at", "shelf 1")).about(query)] == [1]


@pytest.mark.parametrize("query", ["", "?", "  "])
def test_a_query_without_words_matches_nothing(query: str) -> None:
    assert believing(("mug 1", "at", "shelf 1")).about(query) == []


def test_tracking_tells_each_fact_with_its_step() -> None:
    belief = believing(("mug 1", "at", "shelf 1"), ("mug 1", "clean", "yes"), ("mug 1", "hot", "no"))

    assert belief.track("mug") == "mug 1 not hot (step 3); mug 1 clean (step 2); mug 1 at shelf 1 (step 1)"


def test_tracking_an_unknown_thing_tells_what_was_searched() -> None:
    belief = believing(("shelf 1", "searched", "yes"), ("fridge 1", "searched", "no"))

    assert belief.track("mug") == "nothing known of mug. searched 1 of 2. not searched: fridge 1."


def test_the_situation_is_place_hand_and_searches() -> None:
    belief = believing(
        ("shelf 1", "searched", "no"),
        ("fridge 1", "searched", "no"),
        ("you", "at", "shelf 1"),
        ("shelf 1", "searched", "yes"),
        ("mug 1", "at", "hand"),
    )

    assert belief.situation() == "you are at shelf 1, holding mug 1. searched 1 of 2. not searched: fridge 1."


def test_before_anything_is_known_the_situation_says_so() -> None:
    assert Belief().situation() == "you are at no place yet, holding nothing."


def test_long_answers_are_cut_and_say_by_how_much() -> None:
    belief = Belief()
    belief.absorb([Fact(f"drawer {number}", "searched", "no") for number in range(45, 0, -1)], 0)
    belief.absorb([Fact(f"fork {number}", "at", "sink 1") for number in range(1, 46)], 1)

    assert belief.searches() == (
        f"searched 0 of 45. not searched: {', '.join(f'drawer {n}' for n in range(1, 41))} and 5 more."
    )
    assert belief.track("sink").endswith("fork 40 at sink 1 (step 1) and 5 more")


def test_places_left_to_search_stand_by_type_in_order() -> None:
    belief = believing(*((place, "searched", "no") for place in ("shelf 2", "desk 1", "shelf 10", "shelf 1", "ledger")))

    assert belief.searches() == "searched 0 of 5. not searched: shelf 1, shelf 2, shelf 10, desk 1, ledger."


def test_what_bears_on_a_subgoal_is_where_its_things_are_and_what_is_left_to_search() -> None:
    belief = believing(("shelf 1", "searched", "no"), ("desk 1", "searched", "no"))
    assert belief.bearing("take second pen") == ""

    belief.absorb([Fact("desk 1", "searched", "yes"), Fact("pen 1", "at", "desk 1"), Fact("cup 1", "at", "desk 1")], 3)
    assert belief.bearing("take second pen") == "seen: pen 1 at desk 1. searched 1 of 2. not searched: shelf 1."
    assert belief.bearing("use lamp") == "searched 1 of 2. not searched: shelf 1."

    belief.absorb([Fact("pen 1", "at", "hand")], 4)
    assert belief.bearing("put pen in shelf") == ""
    assert belief.bearing("take cup 1") == "seen: cup 1 at desk 1. searched 1 of 2. not searched: shelf 1."

    belief.absorb([Fact("cup 2", "at", "shelf 1"), Fact("shelf 1", "searched", "yes")], 5)
    assert belief.bearing("take cup 2") == "seen: cup 2 at shelf 1. searched 2 of 2. not searched: none."
    assert belief.bearing("find the Cups, both") == (
        "seen: cup 1 at desk 1, cup 2 at shelf 1. searched 2 of 2. not searched: none."
    )
    # What the agent only noted was not seen.
    belief.note(Fact("jug 1", "at", "desk 1"), 6)
    assert "jug" not in belief.bearing("take jug")


def test_subjects_are_chosen_by_object_and_type() -> None:
    belief = believing(("mug 1", "at", "shelf 1"), ("mug 2", "at", "desk 1"), ("pan 1", "at", "shelf 1"))

    assert belief.subjects("at") == ["mug 1", "mug 2", "pan 1"]
    assert belief.subjects("at", "shelf 1") == ["mug 1", "pan 1"]
    assert belief.subjects("at", kind="mug") == ["mug 1", "mug 2"]


def test_a_property_holds_only_when_it_is_known_to() -> None:
    belief = believing(("mug 1", "clean", "yes"), ("mug 2", "clean", "no"))

    assert [belief.holds(mug, "clean") for mug in ("mug 1", "mug 2", "mug 3")] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "kind"), [("mug 1", "mug"), ("coffee table 12", "coffee table"), ("you", "you"), ("file a", "file a")]
)
def test_the_type_of_a_name_is_what_stands_before_its_number(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_what_the_agent_noted_is_no_evidence_and_ends_with_an_observation() -> None:
    belief = believing(("mug 1", "at", "shelf 1"))
    belief.note(Fact("mug 1", "at", "hand"), 4)
    belief.note(Fact("mug 1", "clean", "yes"), 4)

    assert belief.value("mug 1", "at") == "shelf 1"
    assert not belief.holds("mug 1", "clean")
    assert belief.subjects("at", "hand") == []
    assert "mug 1 in hand (noted at step 4)" in belief.track("mug 1")
    assert belief.situation().endswith("noted: mug 1 in hand, mug 1 clean.")

    assert belief.absorb([Fact("mug 1", "clean", "yes")], 5) == [Fact("mug 1", "clean", "yes")]
    assert "mug 1 clean (step 5)" in belief.track("mug 1")
    assert [known.step for known in belief.history if known.fact.relation == "clean"] == [5]


def test_a_property_can_be_asked_for() -> None:
    belief = believing(("egg 1", "hot", "yes"), ("egg 2", "at", "fridge 1"))

    assert belief.track("hot") == "egg 1 hot (step 1)"
    assert belief.track("yes").startswith("nothing known of yes.")
