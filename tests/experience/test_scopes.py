"""What scopes hold, and bringing it to another path."""

from __future__ import annotations

import pytest
from playing import Play

from evoharness_cli.experience.entries import entry, events
from evoharness_cli.experience.exchange.scopes import Brought, CannotMove, copy, move, scopes
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.places import whereabouts
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.store import Store


def test_a_scope_moves_with_those_below_it_and_merges_what_is_said_there(store: Store) -> None:
    play = Play(store, scope="home/kitchen")
    play.search("stoveburner 2", "kettle 1")
    play.win()
    before = store.number("SELECT max(id) FROM entries")
    add_entry(store, "skill", "rinse things that smell", "home")
    add_entry(store, "skill", "Rinse the things that smell!", "home/kitchen")
    add_entry(store, "note", "the bell rings at noon", "home/kitchen/cellar")
    store.write("UPDATE entries SET helped = 2.5 WHERE scope = 'home/kitchen' AND id > ?", [before])

    assert move(store, "home/kitchen", "home") == Brought(entries=1 + before, merged=1)

    first, second, third = (entry(store, before + number) for number in (1, 2, 3))
    assert (first.strength, first.helped, first.status) == (2, 2.5, "active")
    assert (second.status, second.superseded_by) == ("superseded", first.id)
    assert (third.scope, events(store, third.id)[-1].detail) == (
        "home/cellar",
        {"came_from": "home/kitchen/cellar", "to": "home/cellar"},
    )
    assert [each.counts[0].found for each in whereabouts(store, "kettle", "home", None)] == [1]
    assert whereabouts(store, "kettle", "home/kitchen", "house-a")[0].here == ("stoveburner 2",)
    assert [each.scope for each in scopes(store) if each.entries.get("active")] == ["home", "home/cellar"]
    assert search(store, "when does the bell ring", "home/cellar").entries[0].entry.id == third.id


def test_everything_can_be_put_below_a_path_and_back(store: Store) -> None:
    for scope in ("", "a", "shop"):
        add_entry(store, "note", f"what {scope or 'everyone'} knows of the bell", scope)
    move(store, "", "shop")
    assert [entry(store, number).scope for number in (1, 2, 3)] == ["shop", "shop/a", "shop"]
    move(store, "shop", "")
    assert [entry(store, number).scope for number in (1, 2, 3)] == ["", "a", ""]


def test_a_copy_leaves_the_original_and_makes_what_is_said_there_stronger(store: Store) -> None:
    play = Play(store, scope="home")
    play.search("stoveburner 2", "kettle 1")
    play.win()
    before = store.number("SELECT max(id) FROM entries")
    add_entry(store, "skill", "rinse things that smell", "home")
    add_entry(store, "note", "the bell rings at noon", "home/hall")
    add_entry(store, "skill", "rinse things that smell", "office")

    assert copy(store, "home", "office") == Brought(entries=1 + before, merged=1)
    assert entry(store, before + 3).strength == 2
    copied = entry(store, store.number("SELECT max(id) FROM entries"))
    assert (copied.scope, copied.text, copied.trust) == ("office/hall", "the bell rings at noon", "person")
    assert entry(store, before + 1).scope == "home"
    assert whereabouts(store, "kettle", "office", None) == whereabouts(store, "kettle", "home", None)
    assert copy(store, "home", "office").entries == 0


def test_of_contrary_claims_the_one_confirmed_last_stands(store: Store) -> None:
    add_entry(store, "note", "the kettle is on stoveburner 1", "a", world="w")
    add_entry(store, "note", "the kettle is on stoveburner 2", "b", world="w")
    store.write("UPDATE entries SET confirmed = '2020-01-01T00:00:00.000+00:00' WHERE id = 1")
    move(store, "a", "b")

    assert [entry(store, number).status for number in (1, 2)] == ["superseded", "active"]


@pytest.mark.parametrize(
    ("act", "source", "target", "said"),
    [
        (move, "a", "a/", "Expected two scopes; found a twice"),
        (move, "nosuch", "b", "Nothing is kept in the scope nosuch; there are a"),
        (copy, "a", "a/b", "would be recalled together"),
        (copy, "a", "", "would be recalled together"),
    ],
)
def test_what_cannot_be_brought_is_said(store: Store, act: object, source: str, target: str, said: str) -> None:
    add_entry(store, "note", "ring the bell", "a")
    with pytest.raises(CannotMove, match=said):
        act(store, source, target)  # type: ignore[operator]
    assert entry(store, 1).scope == "a"
