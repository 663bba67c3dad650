"""Answer shows what is relevant, by its record and age, in its scope and world, within a budget, or nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playing import Play

from evoharness_cli.experience.entries import entry, events
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.places import PlaceCount
from evoharness_cli.experience.ranking import LEVEL, PROVISIONAL
from evoharness_cli.experience.recall import (
    FLOOR,
    NOTHING,
    NotRecallable,
    Recollection,
    Why,
    over_budget,
    render,
    search,
    tokens_of,
)
from evoharness_cli.experience.session import EpisodeExperience
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.vocabulary import EntryStatus, Kind
from evoharness_cli.experience.word_index import RARE


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
    assert FLOOR < scored.relevance < 0.5
    assert ids(search(store, "fridge xylophone zebra quartz violin nebula walnut", "alfworld")) == []


def test_rare_words_of_the_query_weigh_more(store: Store) -> None:
    common = [keep(store, f"mugs have type{number} shape{number}") for number in range(30)]
    rare = keep(store, "sculptures have shape")

    found = search(store, "mug sculpture", "alfworld", limit=50, floor=0)

    relevance = {each.entry.id: each.relevance for each in found.entries}
    relevance |= {each.scored.entry.id: each.scored.relevance for each in found.left_out}
    assert ids(found)[0] == rare
    assert relevance[rare] > 0.5 > relevance[common[-1]]


def test_how_rare_a_word_is_is_told_by_the_scopes_that_are_asked(store: Store) -> None:
    keep(store, "open the fridge")
    before = search(store, "cold fridge", "alfworld").entries[0].relevance

    for number in range(50):
        keep(store, f"fridge number{number} hums in room{number}", "software")

    assert search(store, "cold fridge", "alfworld").entries[0].relevance == before


def test_inflected_words_are_found_by_one_another(store: Store) -> None:
    number = keep(store, "retried uploads are deleted")

    assert ids(search(store, "retrying an upload", "alfworld")) == [number]


def test_a_word_that_nothing_holds_is_found_by_one_that_begins_alike(store: Store) -> None:
    sink = keep(store, "wash mugs in the sinkbasin")
    shaker = keep(store, "salt is in the cabinet")

    assert ids(search(store, "sink", "alfworld")) == [sink]
    assert ids(search(store, "saltshaker", "alfworld")) == [shaker]
    keep(store, "the sink drips")
    assert sink not in ids(search(store, "sink", "alfworld"))


def test_what_only_asks_weighs_nothing(store: Store) -> None:
    keep(store, "towels hang in the bathroom")

    asked, bare = (search(store, query, "alfworld").entries[0].relevance for query in ("help me find a towel", "towel"))
    assert asked == bare


def test_the_same_thing_is_not_said_twice(store: Store) -> None:
    first = keep(store, "open the fridge before you take cold milk and eggs")
    again = keep(store, "open the white fridge before you take cold milk or some eggs now")
    other = keep(store, "the fridge is cold")
    numbered = [keep(store, f"fridge {number} holds cold cheese and ham") for number in (1, 2)]

    found = search(store, "cold fridge", "alfworld", limit=10, floor=0)

    assert sorted(ids(found)) == [first, other, *numbered]
    (left,) = found.left_out
    assert (left.scored.entry.id, left.why, left.same) == (again, Why.SAME, first)


def test_what_is_left_out_says_why(store: Store) -> None:
    best = keep(store, "the fridge leaks")
    behind = keep(store, "a fridge may be in the kitchen beside the stove and its burners or the sink")
    below = keep(store, "leaks of gas are dangerous and the police and firemen come at once with their cars")
    second = keep(store, "fridge leaks loudly at night")

    found = search(store, "fridge leaks", "alfworld", limit=1)

    assert ids(found) == [best]
    assert {each.scored.entry.id: each.why for each in found.left_out} == {
        behind: Why.FLOOR,
        below: Why.FLOOR,
        second: Why.LIMIT,
    }
    (lost,) = over_budget(found, budget=3)
    assert (lost.scored.entry.id, lost.why) == (best, Why.BUDGET)
    behinds = search(store, "fridge leaks", "alfworld", floor=0.1).left_out
    assert {each.why for each in behinds} == {Why.BEHIND}


def test_frequent_words_find_what_holds_most_of_them_however_many_hold_one(store: Store) -> None:
    words = ("kettle", "stove", "water", "cold")
    wanted = keep(store, " ".join(words))
    proven = keep(store, "kettle of old")
    store.write("UPDATE entries SET helped = 3 WHERE id = ?", [proven])
    rows = [[f"{words[number % 4]} x{number}"] for number in range(4 * (RARE + 1))]
    store.write_many(
        "INSERT INTO entries (kind, scope, text, trust, status, created, confirmed, because, normal, words) VALUES "
        "('note', 'alfworld', ?1, 'person', 'active', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z', '', ?1, ?1)",
        rows,
    )

    assert ids(search(store, "cold kettle of water on the stove", "alfworld"))[0] == wanted
    assert ids(search(store, "kettle", "alfworld"))[0] == proven


def test_an_entry_of_a_wider_scope_or_of_one_episode_counts_less(store: Store) -> None:
    wide, near = keep(store, "the fridge hums"), keep(store, "the fridge leaks", "alfworld/kitchen")
    Play(store, scope="alfworld/kitchen").note("the fridge smells")
    provisional = 3
    store.write("UPDATE entries SET status = 'active' WHERE id = ?", [provisional])

    found = {each.entry.id: each for each in search(store, "fridge", "alfworld/kitchen").entries}

    assert (found[wide].nearness, found[near].nearness) == (LEVEL, 1)
    assert (found[near].standing, found[provisional].standing) == (1, PROVISIONAL)
    assert found[near].score > found[provisional].score > found[wide].score

    store.write("UPDATE entries SET trust = 'distilled' WHERE id = ?", [provisional])
    assert search(store, "smells", "alfworld/kitchen").entries[0].standing == PROVISIONAL
    store.write("UPDATE entries SET strength = 2 WHERE id = ?", [provisional])
    assert search(store, "smells", "alfworld/kitchen").entries[0].standing == 1


def test_the_index_follows_every_change_of_an_entry(store: Store) -> None:
    number = keep(store, "the fridge hums")

    def found(query: str, scope: str) -> bool:
        return ids(search(store, query, scope)) == [number]

    store.write("UPDATE entries SET scope = 'software' WHERE id = ?", [number])
    assert (found("fridge", "software"), found("fridge", "alfworld")) == (True, False)
    store.write("UPDATE entries SET words = 'oven hum' WHERE id = ?", [number])
    assert (found("fridge", "software"), found("oven", "software")) == (False, True)
    store.write("UPDATE entries SET status = 'pruned' WHERE id = ?", [number])
    assert not found("oven", "software")
    assert store.rows("SELECT * FROM word_counts") == []
    store.write("UPDATE entries SET status = 'active', world = '' WHERE id = ?", [number])
    assert not found("oven", "software")
    assert ids(search(store, "oven", "software", "")) == [number]
    store.write("INSERT INTO entries_fts (entries_fts) VALUES ('integrity-check')")
    store.write("DELETE FROM sources WHERE entry = ?", [number])
    store.write("DELETE FROM events WHERE entry = ?", [number])
    store.write("DELETE FROM entries WHERE id = ?", [number])
    assert store.number("SELECT sum(entries) FROM partitions") == 0


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
    everywhere, ours, theirs = (
        keep(store, f"fridge {word}", scope)
        for word, scope in (("hums", ""), ("leaks", "alfworld/kitchen"), ("glows", "software"))
    )
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
    assert last.score == pytest.approx(last.relevance * 0.25, rel=0.01)


def test_other_episodes_pending_notes_are_not_shown(store: Store) -> None:
    play, other = Play(store), Play(store)
    play.note("skill: open the fridge first")

    assert play.recall("fridge") == '[1] skill: "open the fridge first"'
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
    answer = render(found, budget=11)
    assert answer.text == f'[{short}] note: "fridge cold (when it runs)"'
    assert answer.entries == (short,)
    assert tokens_of(answer.text) == 10
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


@pytest.mark.parametrize(
    "query", ["mug", "where is a mug", "clean mug in sinkbasin", "Mugs?", "put two mugs 1 and 2 in the sinkbasin"]
)
def test_a_question_about_a_thing_is_answered_by_its_places_first(store: Store, query: str) -> None:
    play = Play(store)
    play.search("sinkbasin 1", "fork 1")
    play.search("countertop 1", "mug 1")
    play.win()
    keep(store, "clean the mug in the sinkbasin")

    lines = render(search(store, query, "alfworld")).text.splitlines()

    assert lines == ["places for mug: countertop 1 of 1", '[1] note: "clean the mug in the sinkbasin"'][: len(lines)]
    assert lines


@pytest.mark.parametrize(
    ("thing", "query"), [("knife", "find the knives"), ("tomato", "two tomatoes"), ("creditcard", "credit cards")]
)
def test_names_are_read_in_the_plural_and_in_two_words(store: Store, thing: str, query: str) -> None:
    play = Play(store)
    play.search("shelf 1", f"{thing} 1")
    play.win()

    assert [each.thing for each in search(store, query, "alfworld").places] == [thing]
