"""A note is read, kept once however often it is said, and put right by the next one that contradicts it."""

from __future__ import annotations

import pytest
from playing import Play

from evoharness_cli.experience.drafts import LONGEST, InvalidEntry
from evoharness_cli.experience.entries import Entry, entries, entry, events
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.shown import quote
from evoharness_cli.experience.store import Store


def only(store: Store, query: str) -> Entry:
    (found,) = entries(store, query=query)
    return found


def test_a_note_is_pending_with_its_provenance_until_the_episode_closes(store: Store) -> None:
    play = Play(store)

    assert play.note("skill: open  the fridge first (when: it is closed)", "The fridge 1 is closed.") == "noted as [1]"

    noted = entry(store, 1)
    assert (noted.kind, noted.text, noted.when) == ("skill", "open the fridge first", "it is closed")
    assert (noted.status, noted.trust, noted.strength) == ("pending", "agent", 1)
    assert (noted.episode, noted.step, noted.because) == (play.id, 1, "The fridge 1 is closed.")
    assert (noted.scope, noted.world) == ("alfworld", None)
    assert quote(noted) == '[1] skill: "open the fridge first (when it is closed)"'

    play.lose()
    assert entry(store, 1).status == "active"
    assert [each.kind for each in events(store, 1)] == ["noted", "activated"]


@pytest.mark.parametrize(
    ("insight", "kind", "world"),
    [
        ("Mistake: took the wrong mug", "mistake", None),
        ("the kettle is at stoveburner 1", "note", "house-a"),
        ("skill: kettle 1 at stoveburner 1", "skill", "house-a"),
        ("in this house all knives are kept in drawers", "note", "house-a"),
        ("knives are kept in drawers", "note", None),
    ],
)
def test_kind_and_world_are_read_from_the_insight(store: Store, insight: str, kind: str, world: str | None) -> None:
    Play(store).note(insight)

    assert (entry(store, 1).kind, entry(store, 1).world) == (kind, world)


def test_a_mistake_makes_no_claim(store: Store) -> None:
    Play(store).note("mistake: the mug is in the fridge 1")

    assert entry(store, 1).slots is None


@pytest.mark.parametrize("insight", ["skill:", "...", "(when: closed)", "x" * (LONGEST + 1)])
def test_what_says_nothing_or_too_much_is_not_kept(store: Store, insight: str) -> None:
    assert Play(store).note(insight).startswith("not noted: An entry ")

    assert entries(store) == []


def test_a_person_is_told_what_is_wrong(store: Store) -> None:
    with pytest.raises(InvalidEntry, match="one of skill, mistake, note; got 'rule'"):
        add_entry(store, "rule", "open the fridge", "alfworld")


def test_what_is_said_again_is_strengthened(store: Store) -> None:
    first, before = add_entry(store, "skill", "look for small keys in the drawers first", "alfworld")
    again, recurred = add_entry(store, "skill", "Look for the small key in drawers first!", "/alfworld/")

    assert (before, recurred, again.id) == (False, True, first.id)
    play = Play(store)
    assert play.note("skill: look for small keys in drawers first", "Keys.") == "known already: [1], noted 3 times"
    recurrence = events(store, first.id)[-1]
    assert (recurrence.kind, recurrence.episode, recurrence.step) == ("recurred", play.id, 1)
    assert recurrence.detail["because"] == "Keys."
    assert len(entries(store)) == 1


def test_an_episode_strengthens_an_entry_once(store: Store) -> None:
    known, _ = add_entry(store, "skill", "open the fridge first", "alfworld")
    play = Play(store)
    for _ in range(5):
        play.note("skill: open the fridge first")
        play.note("the kettle is at shelf 1")
    play.win()

    assert [each.strength for each in entries(store, status="active")] == [1, 2]
    Play(store).note("skill: open the fridge first")
    assert entry(store, known.id).strength == 3


def test_claims_of_different_kinds_are_kept_apart(store: Store) -> None:
    play = Play(store)
    play.note("the kettle is at shelf 1")
    assert play.note("skill: the kettle is at shelf 1") == "noted as [2]"

    assert play.note("the kettle is at shelf 1") == "known already: [1], noted 1 times"
    assert play.note("skill: the kettle is at desk 1") == "noted as [3], which corrects [1], [2]"


def test_general_claims_stand_side_by_side(store: Store) -> None:
    for place in ("cabinet", "shelf", "cabinet"):
        add_entry(store, "note", f"mugs are usually kept in the {place}", "alfworld")
        add_entry(store, "note", f"the kettle is in the {place}", "alfworld")
    here, _ = add_entry(store, "note", "the kettle is in the drawer", "alfworld", world="house-a")

    found = entries(store, query="kettle", status="active")
    assert [(each.text, each.strength) for each in found] == [
        ("the kettle is in the drawer", 1),
        ("the kettle is in the shelf", 1),
        ("the kettle is in the cabinet", 2),
    ]
    assert here.id == found[0].id


def test_what_differs_in_kind_scope_or_condition_is_another_entry(store: Store) -> None:
    for kind, scope, when in (
        ("skill", "alfworld", None),
        ("mistake", "alfworld", None),
        ("skill", "software", None),
        ("skill", "alfworld", "the fridge is closed and nothing else is left"),
    ):
        assert add_entry(store, kind, "open the door", scope, when)[1] is False


def test_claims_are_compared_by_their_slots(store: Store) -> None:
    loose, _ = add_entry(store, "note", "the kettle is usually on the countertop", "alfworld", world="house-a")
    exact, recurred = add_entry(store, "note", "kettle: countertop 2", "alfworld", world="house-a")

    assert recurred and exact.id == loose.id
    assert (exact.text, exact.object, exact.strength) == ("kettle: countertop 2", "countertop 2", 2)
    vague, recurred = add_entry(store, "note", "the kettle is on the countertop", "alfworld", world="house-a")
    assert recurred and vague.object == "countertop 2"
    other, recurred = add_entry(store, "note", "kettle: countertop 2", "alfworld", world="house-b")
    assert not recurred and other.id != exact.id


def test_a_contradicting_claim_supersedes_and_never_merges(store: Store) -> None:
    old, _ = add_entry(store, "note", "the kettle is at countertop 1", "alfworld", world="house-a")
    new, recurred = add_entry(store, "note", "the kettle is at countertop 2", "alfworld", world="house-a")

    assert not recurred
    assert (entry(store, old.id).status, entry(store, old.id).superseded_by) == ("superseded", new.id)
    assert events(store, old.id)[-1].detail == {"by": new.id, "why": "corrected"}
    assert events(store, new.id)[-1].detail == {"entry": old.id, "why": "corrected"}

    back, recurred = add_entry(store, "note", "the kettle is at countertop 1", "alfworld", world="house-a")
    assert not recurred and back.id not in (old.id, new.id)
    assert entry(store, new.id).superseded_by == back.id


def test_a_claim_and_a_text_never_merge(store: Store) -> None:
    add_entry(store, "note", "the kettle is at countertop 1", "alfworld")

    assert add_entry(store, "note", "the kettle is never at countertop 1", "alfworld")[1] is False
    assert {each.status for each in entries(store)} == {"active"}


def test_two_episodes_that_note_the_same_at_once_are_merged_when_they_close(store: Store) -> None:
    one, two = Play(store), Play(store)
    assert one.note("skill: open the fridge first") == "noted as [1]"
    assert two.note("skill: open the fridge first") == "noted as [2]"

    one.win()
    two.win()

    assert (entry(store, 1).status, entry(store, 1).strength) == ("active", 2)
    assert (entry(store, 2).status, entry(store, 2).superseded_by) == ("superseded", 1)


def test_a_note_is_merged_with_what_another_episode_made_active_whatever_follows_it(store: Store) -> None:
    play, other = Play(store), Play(store)
    for place in ("shelf 1", "desk 1", "shelf"):
        play.note(f"the pan is at {place}")
    other.note("the pan is at shelf 1")
    other.win()

    play.win()

    assert [(each.text, each.strength) for each in entries(store, status="active")] == [("the pan is at shelf", 1)]
    assert entry(store, 4).status == "superseded"


def test_within_an_episode_the_latest_claim_stands(store: Store) -> None:
    play = Play(store)
    play.note("the kettle is at countertop 1")
    assert play.note("the kettle is at stoveburner 1") == "noted as [2], which corrects [1]"
    assert "stoveburner" in play.recall("kettle") and "countertop" not in play.recall("kettle")

    play.lose()

    assert entry(store, 1).superseded_by == 2
    assert entry(store, 2).status == "active"


def test_control_characters_and_quotes_are_only_text(store: Store) -> None:
    Play(store).note('skill: say "x" OR NEAR(\x00 * a:b\n\tto the\u2028door')

    assert entry(store, 1).text == 'say "x" OR NEAR( * a:b to the door'
    assert only(store, "NEAR(").id == 1
