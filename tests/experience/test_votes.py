"""An entry is judged by what the episode did and saw after it was recalled; every number is worked out by hand."""

from __future__ import annotations

import pytest
from playing import Play

from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import entry, events
from evoharness_cli.experience.evolve import baseline
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.places import PlaceCount
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Fact, Step


def record(store: Store, number: int) -> tuple[float, float]:
    judged = entry(store, number)
    return judged.helped, judged.hurt


def kinds(store: Store, number: int) -> list[str]:
    return [each.kind for each in events(store, number)]


def test_the_baseline_is_the_running_rate_of_that_kind(store: Store) -> None:
    assert baseline(store, "alfworld", "heat") == 1 / 2
    Play(store).win()
    assert baseline(store, "alfworld", "heat") == 2 / 3
    Play(store).lose()
    Play(store)
    assert baseline(store, "alfworld", "heat") == 2 / 4
    assert baseline(store, "alfworld", "cool") == 1 / 2
    assert baseline(store, "software", "heat") == 1 / 2


def test_advice_that_was_acted_on_is_voted_on_by_the_surprise(store: Store) -> None:
    advice, _ = add_entry(store, "skill", "open the fridge first", "alfworld")
    for outcome in ("win", "win", "lose"):
        play = Play(store)
        play.recall("fridge")
        play.see("open fridge 1")
        getattr(play, outcome)()

    # 1 - 1/2, then 1 - 2/3, then 0 - 3/4.
    assert record(store, advice.id) == pytest.approx((1 / 2 + 1 / 3, 3 / 4))
    votes = [each for each in events(store, advice.id) if each.kind in ("helped", "hurt")]
    assert [each.kind for each in votes] == ["helped", "helped", "hurt"]
    assert votes[2].detail == {"success": 0, "baseline": 0.75, "vote": -0.75}
    tests = [each.detail for each in events(store, advice.id) if each.kind == "tested"]
    assert tests == [{"words": ["open", "fridg"]}] * 3


def test_advice_that_was_only_recalled_gets_no_vote(store: Store) -> None:
    advice, _ = add_entry(store, "skill", "open the fridge first", "alfworld")
    play = Play(store)
    play.see("open fridge 1")
    play.recall("fridge")
    play.see("open drawer 1")
    play.win()

    assert record(store, advice.id) == (0, 0)
    assert kinds(store, advice.id) == ["noted", "recalled"]


def test_one_word_of_advice_is_tested_by_that_word(store: Store) -> None:
    advice, _ = add_entry(store, "mistake", "microwave!", "alfworld")
    play = Play(store)
    play.recall("microwave")
    play.see("open microwave 1")
    play.win()

    assert record(store, advice.id) == (0.5, 0)


def test_a_claim_that_was_seen_to_be_so_is_confirmed_and_voted_on(store: Store) -> None:
    claim, _ = add_entry(store, "note", "the kettle is at stoveburner 1", "alfworld", world="house-a")
    store.write("UPDATE entries SET confirmed = '2020-01-01T00:00:00.000+00:00'")
    play = Play(store)
    play.recall("kettle")
    play.search("countertop 1", "mug 1")
    play.search("stoveburner 1", "kettle 1")
    play.lose()

    assert record(store, claim.id) == (0, 0.5)
    assert kinds(store, claim.id) == ["noted", "recalled", "tested", "hurt"]
    tested = events(store, claim.id)[2]
    assert (tested.step, tested.detail) == (3, {"saw": "kettle 1 at stoveburner 1"})
    assert entry(store, claim.id).confirmed > "2026"


def test_a_claim_is_contradicted_by_the_thing_elsewhere_whatever_the_outcome(store: Store) -> None:
    claim, _ = add_entry(store, "note", "the kettle is at countertop 1", "alfworld", world="house-a")
    play = Play(store)
    play.recall("kettle")
    play.search("stoveburner 1", "kettle 1")
    play.win()

    assert record(store, claim.id) == (0, 1)
    contradicted = events(store, claim.id)[2]
    assert (contradicted.kind, contradicted.episode, contradicted.step) == ("contradicted", play.id, 2)
    assert contradicted.detail == {
        "saw": "kettle 1 at stoveburner 1",
        "observation": "On the stoveburner 1, you see kettle 1.",
    }


def test_a_claim_is_contradicted_by_its_place_without_the_thing(store: Store) -> None:
    claim, _ = add_entry(store, "note", "the kettle is at countertop 1", "alfworld", world="house-a")
    play = Play(store)
    play.recall("kettle")
    play.search("countertop 1", "mug 1")
    play.lose()

    assert record(store, claim.id) == (0, 1)
    assert [each.detail.get("saw") for each in events(store, claim.id)[-2:]] == ["no kettle at countertop 1", None]
    assert (kinds(store, claim.id)[-1], entry(store, claim.id).status) == ("dormant", "dormant")


def test_a_type_of_place_is_contradicted_once_all_of_it_is_searched(store: Store) -> None:
    claim, _ = add_entry(store, "note", "the kettle is in the cabinet", "alfworld", world="house-a")
    for last in (False, True):
        play = Play(store)
        play.see("look", ("cabinet 1", "searched", "no"), ("cabinet 2", "searched", "no"))
        play.recall("kettle")
        play.search("cabinet 1")
        if last:
            play.search("cabinet 2")
        play.lose()
        assert record(store, claim.id) == (0, 1 if last else 0)


def test_what_was_known_before_the_recall_is_no_test(store: Store) -> None:
    claim, _ = add_entry(store, "note", "the kettle is at stoveburner 1", "alfworld", world="house-a")
    play = Play(store)
    play.search("stoveburner 1", "kettle 1")
    play.recall("kettle")
    play.see("take kettle 1", ("kettle 1", "at", "hand"))
    play.see("move kettle 1", ("kettle 1", "at", "diningtable 1"))
    play.win()

    assert record(store, claim.id) == (0, 0)


def test_an_instance_is_told_from_its_type(store: Store) -> None:
    one, _ = add_entry(store, "note", "the mug 1 is at shelf 1", "alfworld", world="house-a")
    any_mug, _ = add_entry(store, "note", "the mug is at shelf 1", "alfworld", world="house-a")
    play = Play(store)
    play.recall("mug")
    play.search("shelf 1", "mug 2")
    play.search("desk 1", "mug 1")
    play.win()

    assert record(store, one.id) == (0, 1)
    assert record(store, any_mug.id) == (0.5, 0)


def test_one_of_several_elsewhere_says_nothing_of_the_others(store: Store) -> None:
    claim, _ = add_entry(store, "note", "the mug is at shelf 1", "alfworld", world="house-a")
    play = Play(store)
    play.recall("mug")
    play.search("desk 1", "mug 1", "mug 2")
    play.lose()

    assert record(store, claim.id) == (0, 0)


def test_what_the_agent_wrote_itself_is_no_observation(store: Store) -> None:
    claim, _ = add_entry(store, "note", "the kettle is at countertop 1", "alfworld", world="house-a")
    play = Play(store)
    play.recall("kettle")
    written = Step(2, "note", "noted: kettle 1 at shelf 1", action="note [fact: kettle 1 | at | shelf 1]")
    journal.add_step(store, play.id, written)
    play.belief.note(Fact("kettle 1", "at", "shelf 1"), 2)
    play.win()

    assert record(store, claim.id) == (0, 0)


def test_the_kettle_that_was_elsewhere(store: Store) -> None:
    old, _ = add_entry(store, "note", "in this house the kettle is at countertop 1", "alfworld", world="house-a")
    play = Play(store, world="house-a")
    assert play.recall("kettle") == '[1] note: "in this house the kettle is at countertop 1"'
    play.search("countertop 1", "mug 1")
    play.search("stoveburner 1", "kettle 1")
    assert play.note("in this house the kettle is at stoveburner 1") == "noted as [2], which corrects [1]"
    assert entry(store, old.id).status == "active"
    assert play.recall("kettle") == '[2] note: "in this house the kettle is at stoveburner 1"'
    play.win()

    assert record(store, old.id) == (0, 1)
    assert (entry(store, old.id).status, entry(store, old.id).superseded_by) == ("superseded", 2)
    assert entry(store, 2).status == "active"
    assert kinds(store, old.id) == ["noted", "recalled", "contradicted", "superseded"]

    again = Play(store, world="house-a")
    assert again.recall("where is the kettle") == (
        "kettle here: stoveburner 1\n"
        "places for kettle: stoveburner 1 of 1\n"
        '[2] note: "in this house the kettle is at stoveburner 1"'
    )
    elsewhere = Play(store, world="house-b")
    assert elsewhere.recall("where is the kettle") == "places for kettle: stoveburner 1 of 1"


def test_a_note_that_its_own_episode_contradicts_replaces_nothing(store: Store) -> None:
    right, _ = add_entry(store, "note", "the kettle is at stoveburner 1", "alfworld", world="house-a")
    play = Play(store)
    play.search("stoveburner 1", "kettle 1")
    play.see("take kettle 1", ("kettle 1", "at", "hand"))
    play.see("move kettle 1", ("kettle 1", "at", "diningtable 1"))
    play.note("the kettle is at diningtable 1")
    play.win()

    assert entry(store, right.id).status == "active"
    assert (entry(store, 2).status, entry(store, 2).superseded_by, entry(store, 2).hurt) == ("superseded", right.id, 1)


def test_only_what_lay_there_by_itself_is_counted(store: Store) -> None:
    play = Play(store)
    play.see("look", ("desk 1", "searched", "no"), ("pen 9", "at", "hand"))
    play.search("shelf 1", "mug 1", "mug 2")
    play.see("take mug 1", ("mug 1", "at", "hand"))
    play.see("move mug 1", ("mug 1", "at", "desk 1"), ("desk 1", "searched", "yes"))
    play.see("move pen 9", ("pen 9", "at", "desk 1"))
    play.search("shelf 1")
    play.lose()

    mug, *_ = search(store, "mug", "alfworld", "house-a").places
    assert mug.counts == (PlaceCount("shelf", 1, 1),)
    assert mug.here == ("shelf 1",)
    assert search(store, "pen", "alfworld", "house-a").places == ()
    assert [tuple(row) for row in store.rows("SELECT place, searched FROM place_searches")] == [
        ("desk", 1),
        ("shelf", 1),
    ]
