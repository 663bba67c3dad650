"""Answer shows what is relevant, by its record and age, in its scope and world, within a budget, or nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playing import Play

from evoharness_cli.experience.entries import entry, events
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.places import PlaceCount
from evoharness_cli.experience.recall import (
    FLOOR,
    NOTHING,
    NotRecallable,
    Recollection,
    render,
    search,
    tokens_of,
)
from evoharness_cli.experience.session import EpisodeExperience
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.vocabulary import EntryStatus, Kind


def keep(store: Store, text: str, scope: str = "alfworld", world: str | None = None, when: str | None = None) -> int:
    return add_entry(store, "note", text, scope, when, world=world)[0].id


def ids(found: Recollection) -> list[int]:
    return [each.entry.id for each in found.entries]


def test_nothing_relevant_is_said(store: Store) -> None:
    keep(store, "open the fridge before looking inside")

    for query in ("zebra", "where is it", "", "7"):
        assert render(search(store, query, "alfworld")).text == NOTHING == "nothing relevant in experience"


def test_an_entry_that_covers_too_little_of_the_query_is_not_relevant(store: Store) -> None:
    keep(store, "open the fridge")

    (scored,) = search(store, "cold fridge", "alfworld").entries
    assert FLOOR < scored.share < 0.5
    assert ids(search(store, "fridge xylophone zebra quartz violin nebula walnut", "alfworld")) == []


def test_rare_words_of_the_query_weigh_more(store: Store) -> None:
    for number in range(30):
        keep(store, f"mugs have handle shape type{number}")
    rare = keep(store, "sculptures stand still")

    found = search(store, "mug sculpture", "alfworld", limit=50)

    shares = {each.entry.id: each.share for each in found.entries}
    assert ids(found)[0] == rare
    assert shares[rare] > 0.5 > shares[1]


@pytest.mark.parametrize(
    "query",
    ['"', 'NEAR("fridge"', "fridge*", "words:fridge", "fridge\x00", "fridge AND NOT", "^fridge -a", "fridge " * 9000],
)
def test_the_syntax_of_the_index_never_reaches_it(store: Store, query: str) -> None:
    number = keep(store, "open the fridge")

    assert ids(search(store, query, "alfworld")) == ([] if query == '"' else [number])


def test_only_scopes_that_hold_the_askers_are_asked(store: Store) -> None:
    everywhere = keep(store, "fridge everywhere", "")
    ours = keep(store, "fridge ours", "alfworld")
    kitchen = keep(store, "fridge kitchen", "alfworld/kitchen")
    keep(store, "fridge theirs", "alf")
    keep(store, "fridge bedroom", "alfworld/bedroom")

    assert sorted(ids(search(store, "fridge", "alfworld/kitchen"))) == [everywhere, ours, kitchen]
    assert sorted(ids(search(store, "fridge", "alfworld"))) == [everywhere, ours]


def test_a_person_may_ask_every_scope(store: Store) -> None:
    everywhere, ours, theirs = (keep(store, "fridge hums", scope) for scope in ("", "alfworld/kitchen", "software"))
    for scope in ("alfworld", "software"):
        play = Play(store, scope=scope)
        play.search("shelf 1", "mug 1")
        play.win()

    assert sorted(ids(search(store, "fridge", None))) == [everywhere, ours, theirs]
    (known,) = search(store, "mug", None, "house-a").places
    assert (known.counts, known.here) == ((PlaceCount("shelf", 2, 2),), ("shelf 1",))


def test_a_search_is_limited_to_a_kind_or_status(store: Store) -> None:
    note = keep(store, "fridge hums")
    skill = add_entry(store, "skill", "open the fridge first", "alfworld")[0].id
    play = Play(store)
    play.search("shelf 1", "fridge 1")
    play.win()
    Play(store).note("mistake: left the fridge open")
    pending = 3

    def found(kind: Kind | None = None, status: EntryStatus | None = None) -> list[int]:
        known = search(store, "fridge", "alfworld", kind=kind, status=status)
        assert (known.places == ()) == (kind is not None or status is not None)
        return sorted(ids(known))

    assert found() == [note, skill]
    assert found(Kind.SKILL) == [skill]
    assert found(status=EntryStatus.ACTIVE) == [note, skill]
    assert found(status=EntryStatus.PENDING) == [pending]
    assert found(Kind.NOTE, EntryStatus.PENDING) == []
    with pytest.raises(NotRecallable, match="to see pruned ones, leave out the query"):
        found(status=EntryStatus.PRUNED)


def test_what_is_about_a_world_is_shown_there_only_and_first(store: Store) -> None:
    general = keep(store, "kettle kettle kettle")
    here = keep(store, "in this house the big old kettle needs a very long time to boil", world="house-a")

    assert ids(search(store, "kettle", "alfworld", "house-a")) == [here, general]
    assert ids(search(store, "kettle", "alfworld", "house-b")) == [general]
    assert ids(search(store, "kettle", "alfworld")) == [general]


def test_a_better_record_and_a_younger_age_rank_first(store: Store) -> None:
    one, two, three = (keep(store, f"the fridge {word}") for word in ("hums", "glows", "leaks"))
    old = (datetime.now(UTC) - timedelta(days=90)).isoformat(timespec="milliseconds")
    store.write("UPDATE entries SET helped = 2 WHERE id = ?", [two])
    store.write("UPDATE entries SET confirmed = ? WHERE id = ?", [old, one])

    found = search(store, "fridge", "alfworld")

    assert ids(found) == [two, three, one]
    first, second, last = found.entries
    assert (first.record, second.record) == (0.75, 0.5)
    assert last.age == pytest.approx(0.5, abs=0.001)
    assert last.score == pytest.approx(last.bm25 * 0.25, rel=0.01)
    assert max(each.bm25 for each in found.entries) == 1.0


def test_other_episodes_pending_notes_are_not_shown(store: Store) -> None:
    play, other = Play(store), Play(store)
    play.note("skill: open the fridge first")

    assert play.recall("fridge") == "[1] skill: open the fridge first"
    assert other.recall("fridge") == NOTHING


def test_a_recall_is_counted_with_its_step(store: Store) -> None:
    number = keep(store, "open the fridge")
    play = Play(store)

    play.recall("cold fridge")

    after = entry(store, number)
    assert after.recalled == 1 and after.last_recalled is not None
    event = events(store, number)[-1]
    assert (event.kind, event.episode, event.step, event.detail) == ("recalled", play.id, 1, {"query": "cold fridge"})
    assert [tuple(row) for row in store.rows("SELECT episode, step, entry FROM recalls")] == [(play.id, 1, number)]


def test_searching_changes_nothing(store: Store) -> None:
    number = keep(store, "open the fridge")
    before = entry(store, number)

    search(store, "fridge", "alfworld")

    assert entry(store, number) == before


def test_lines_are_whole_and_within_the_budget(store: Store) -> None:
    long = keep(store, "fridge " + "rather " * 30 + "cold")
    short = keep(store, "fridge cold", when="it runs")
    found = search(store, "cold fridge", "alfworld")
    assert ids(found) == [short, long]

    assert render(found, budget=160).entries == (short, long)
    answer = render(found, budget=10)
    assert answer.text == f"[{short}] note: fridge cold (when it runs)"
    assert answer.entries == (short,)
    assert tokens_of(answer.text) == 9
    assert render(found, budget=5).text == NOTHING


def test_only_what_was_shown_counts_as_recalled(store: Store) -> None:
    hidden = keep(store, "fridge " + "rather " * 60 + "cold")
    shown = keep(store, "fridge cold")
    play = Play(store)

    EpisodeExperience(store, play.id, "alfworld", "house-a", budget=20).recall("cold fridge", 1)

    assert (entry(store, shown).recalled, entry(store, hidden).recalled) == (1, 0)


def test_places_are_counts_likeliest_first_and_this_world_before(store: Store) -> None:
    play = Play(store, world="house-a")
    play.search("countertop 1", "apple 1")
    play.search("countertop 2", "mug 1")
    play.search("stoveburner 1", "kettle 1", "kettle 2")
    play.search("cabinet 1")
    play.win()
    again = Play(store, world="house-b")
    again.search("stoveburner 1")
    again.search("countertop 1", "kettle 1")
    again.win()

    (known,) = search(store, "heat the kettles", "alfworld", "house-a").places
    assert known.thing == "kettle"
    assert known.here == ("stoveburner 1",)
    assert known.counts == (PlaceCount("stoveburner", 1, 2), PlaceCount("countertop", 1, 3))
    assert [each.chance for each in known.counts] == [2 / 4, 2 / 5]

    text = render(search(store, "kettle", "alfworld/kitchen", "house-a")).text
    assert text == "kettle here: stoveburner 1\nplaces for kettle: stoveburner 1 of 2, countertop 1 of 3"
    assert render(search(store, "kettle", "alfworld", "house-c")).text.startswith("places for kettle: ")
    assert render(search(store, "kettle", "software", "house-a")).text == NOTHING
