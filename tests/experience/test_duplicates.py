"""What says the same is found among many, and what contradicts or differs is kept apart."""

from __future__ import annotations

import pytest
from playing import insert

from evoharness_cli.experience.entries import entries
from evoharness_cli.experience.sameness import read_said, say_same
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep.duplicates import find_duplicates

SAME = [
    ("open the fridge first", "Open fridge, first!"),
    ("clean mugs in the sink basin", "clean a mug in the sink basin"),
    ("rinse every plate in the kitchen sink", "rinse every plate in the big kitchen sink"),
    ("never leave the stove burner unattended", "never leave a stove burner unattended"),
]
DIFFERENT = [
    ("never open the fridge", "open the fridge"),
    ("wait 3 turns by the door", "wait 4 turns by the door"),
    ("open the fridge before the drawer", "open the drawer before the fridge"),
    ("carry mugs from the shelf to the desk", "carry mugs from the desk to the shelf"),
    (
        "the red mug belongs near the large kitchen window sill by morning tea time",
        "the blue mug belongs near the large kitchen window sill by morning tea time",
    ),
    (
        "leave the kitchen microwave door open after heating food there",
        "leave the kitchen microwave door closed after heating food there",
    ),
    ("turn the big lamp in the living room on", "turn the big lamp in the living room off"),
    ("the build works without the cache", "the build works with the cache"),
    ("only heat clean plates", "heat clean plates"),
    ("the deploy script passed on staging servers", "the deploy script failed on staging servers"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one: str, other: str) -> None:
    assert say_same(read_said(one), read_said(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs(one: str, other: str) -> None:
    assert not say_same(read_said(one), read_said(other))
    assert not say_same(read_said(other), read_said(one))


def groups(store: Store, since: int = 0) -> list[tuple[int, list[int]]]:
    found = find_duplicates(entries(store, limit=-1), since)
    return [(group.keeper.id, [each.id for each in group.others]) for group in found]


def test_groups_keep_a_persons_text_then_the_most_noted(store: Store) -> None:
    insert(store, "open the fridge first", trust="agent", strength=9)
    insert(store, "open fridge first", trust="person")
    insert(store, "Open the fridge first!", trust="agent")
    insert(store, "open the safe first", trust="agent")

    assert groups(store) == [(2, [1, 3])]


def test_kind_scope_and_world_keep_apart(store: Store) -> None:
    insert(store, "open the fridge first")
    insert(store, "open the fridge first", kind="skill")
    insert(store, "open the fridge first", scope="alfworld/kitchen")
    insert(store, "open the fridge first", world="house-a")

    assert groups(store) == []


def test_claims_are_the_same_by_all_their_slots(store: Store) -> None:
    insert(store, "the kettle is on the stoveburner 1", world="house-a")
    insert(store, "in this house the kettle is at stoveburner 1", world="house-a")
    insert(store, "the kettle is on the stoveburner 2", world="house-a")
    insert(store, "the kettle is on the stoveburner 1", world="house-b")

    assert groups(store) == [(1, [2])]


def test_what_was_looked_at_before_is_left_out(store: Store) -> None:
    insert(store, "open the fridge first")
    insert(store, "open fridge first")
    insert(store, "wash the plates")
    insert(store, "wash plates")

    assert groups(store, since=2) == [(3, [4])]


def test_a_policys_own_entries_are_left_to_it(store: Store) -> None:
    insert(store, "open the fridge first", scope="@other/alfworld")
    insert(store, "open fridge first", scope="@other/alfworld")

    assert groups(store) == []
