"""What an observation contradicts is corrected by what was seen, or falls asleep, and can wake again."""

from __future__ import annotations

from playing import Play

from evoharness_cli.experience.entries import entries, entry, events
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.store import Store


def claim(store: Store, text: str, world: str | None = "house-a") -> int:
    return add_entry(store, "note", text, "alfworld", world=world)[0].id


def kinds(store: Store, number: int) -> list[str]:
    return [each.kind for each in events(store, number)]


def recalled(store: Store, query: str, world: str = "house-a") -> list[int]:
    return [each.entry.id for each in search(store, query, "alfworld", world).entries]


def test_what_was_seen_instead_corrects_a_claim_that_was_never_recalled(store: Store) -> None:
    wrong = claim(store, "the kettle is at countertop 1")
    play = Play(store)
    play.search("countertop 1", "mug 1")
    play.search("stoveburner 1", "kettle 1")
    play.win()

    right = entry(store, 2)
    assert (right.text, right.trust, right.world) == ("the kettle is at stoveburner 1", "distilled", "house-a")
    assert (right.because, right.step) == ("On the stoveburner 1, you see kettle 1.", 2)
    old = entry(store, wrong)
    assert (old.status, old.superseded_by, old.hurt) == ("superseded", right.id, 1)
    assert kinds(store, wrong) == ["noted", "contradicted", "superseded"]
    assert recalled(store, "kettle") == [right.id]


def test_the_agents_own_correction_is_enough(store: Store) -> None:
    claim(store, "the kettle is at countertop 1")
    play = Play(store)
    play.search("stoveburner 1", "kettle 1")
    play.note("the kettle is at stoveburner 1")
    play.win()

    assert [(each.text, each.trust, each.status) for each in entries(store)] == [
        ("the kettle is at stoveburner 1", "agent", "active"),
        ("the kettle is at countertop 1", "person", "superseded"),
    ]


def test_without_a_correction_it_falls_asleep_and_is_not_recalled(store: Store) -> None:
    wrong = claim(store, "the kettle is at countertop 1")
    play = Play(store)
    play.search("countertop 1", "mug 1")
    play.lose()

    assert entry(store, wrong).status == "dormant"
    assert kinds(store, wrong) == ["noted", "contradicted", "dormant"]
    assert recalled(store, "kettle") == []


def test_a_dormant_claim_wakes_when_it_is_seen_to_be_so(store: Store) -> None:
    number = claim(store, "the kettle is at countertop 1")
    Play(store, world="house-a").search("countertop 1", "mug 1")
    first = Play(store)
    first.search("countertop 1", "mug 1")
    first.lose()
    second = Play(store)
    second.search("countertop 1", "kettle 1")
    second.win()

    assert entry(store, number).status == "active"
    assert kinds(store, number)[-2:] == ["dormant", "restored"]
    assert events(store, number)[-1].detail["why"] == "seen to be so: kettle 1 at countertop 1"


def test_a_dormant_claim_wakes_when_it_is_noted_again(store: Store) -> None:
    number = claim(store, "the kettle is at countertop 1")
    play = Play(store)
    play.search("countertop 1", "mug 1")
    play.lose()

    again, recurred = add_entry(store, "note", "the kettle is on countertop 1", "alfworld", world="house-a")

    assert (again.id, again.status, recurred) == (number, "active", True)

    other = Play(store)
    other.search("countertop 1")
    other.lose()
    third = Play(store)
    third.note("the kettle is on countertop 1")
    third.win()
    assert entry(store, number).status == "active"
    assert kinds(store, number)[-2:] == ["recurred", "supersedes"]


def test_noting_what_the_episode_itself_contradicts_wakes_nothing(store: Store) -> None:
    number = claim(store, "the kettle is at countertop 1")
    for _ in range(2):
        play = Play(store)
        play.search("countertop 1", "mug 1")
        play.note("the kettle is on countertop 1")
        play.lose()

    assert {each.status for each in entries(store)} <= {"dormant", "superseded"}
    assert entry(store, number).strength == 2  # the first of the two came before anything was seen against it


def test_a_general_claim_survives_one_counterexample_and_not_two(store: Store) -> None:
    number = claim(store, "kettles are in the cabinet", None)
    general = claim(store, "the kettle is in the cabinet", None)
    statuses = []
    for world in ("house-a", "house-b"):
        play = Play(store, world=world)
        play.recall("kettle")
        play.search("cabinet 1", "mug 1")
        play.search("stoveburner 1", "kettle 1")
        play.win()
        statuses.append(entry(store, general).status)

    assert statuses == ["active", "dormant"]
    assert events(store, general)[-1].detail["why"] == "contradicted until its record was 0.25"
    assert entry(store, number).status == "active"


def test_several_of_a_type_at_different_places_give_no_correction(store: Store) -> None:
    number = claim(store, "the mug is at shelf 1")
    play = Play(store)
    play.search("shelf 1", "pen 1")
    play.search("desk 1", "mug 1")
    play.search("desk 2", "mug 2")
    play.lose()

    assert entry(store, number).status == "dormant"
    assert len(entries(store)) == 1
