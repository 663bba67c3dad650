"""Exporting and importing: equal elsewhere, nothing twice, and what contradicts or was put aside is respected."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from playing import Play

from evoharness_cli.experience.entries import entry, events
from evoharness_cli.experience.exchange.export import content_hash, export
from evoharness_cli.experience.exchange.files import ExchangeFile
from evoharness_cli.experience.exchange.importing import CannotImport, Imported
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.places import whereabouts
from evoharness_cli.experience.shown import quote
from evoharness_cli.experience.store import Store


def exported(store: Store, scope: str | None = None, worlds: bool = True) -> str:
    out = io.BytesIO()
    export(store, out, scope, worlds)
    return out.getvalue().decode()


def brought(store: Store, path: Path, text: str, **options: object) -> Imported:
    path.write_text(text)
    return ExchangeFile(path).take_into(store, **options)  # type: ignore[arg-type]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "elsewhere.db")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "experience.jsonl"


def learnt(store: Store) -> None:
    """Let two episodes teach notes, votes, places and sightings."""
    for number in range(2):
        play = Play(store)
        play.note("skill: rinse things that smell")
        play.recall("rinse things")
        play.search("stoveburner 2", "kettle 1")
        play.see("rinse kettle 1 things")
        play.note("in this house the kettle is on the stoveburner 2", "On the stoveburner 2, you see a kettle.")
        play.win() if number else play.lose()
    add_entry(store, "mistake", "opening what is open", "alfworld/kitchen", when="cleaning")


def test_an_export_is_equal_after_an_import_elsewhere(store: Store, elsewhere: Store, file: Path) -> None:
    learnt(store)
    text = exported(store)
    head, *lines = [json.loads(line) for line in text.splitlines()]

    assert (head["format"], head["entries"]) == ("evoharness-experience", 3)
    skill = next(line for line in lines if line.get("kind") == "skill" and "smell" in line["text"])
    assert (skill["strength"], skill["trust"], len(skill["origins"])) == (2, "agent", 2)
    assert skill["origins"][0]["task"] == "task"
    claim = next(line for line in lines if line.get("slots"))
    assert (claim["slots"], claim["world"]) == (["kettle", "at", "stoveburner 2"], "house-a")
    assert claim["because"] == "On the stoveburner 2, you see a kettle."
    assert {line["count"] for line in lines if line.get("object") == "kettle" and line["record"] == "count"} == {2}

    done = brought(elsewhere, file, text)

    assert (done.added, done.known) == (3, 0)
    assert exported(elsewhere) == text
    assert content_hash(elsewhere) == content_hash(store)
    assert [entry(elsewhere, number).trust for number in (1, 2, 3)] == ["imported"] * 3
    known = whereabouts(store, "kettle", "alfworld", "house-a")
    assert known[0].here == ("stoveburner 2",)
    assert whereabouts(elsewhere, "kettle", "alfworld", "house-a") == known


def test_importing_again_and_ones_own_export_changes_nothing(store: Store, elsewhere: Store, file: Path) -> None:
    learnt(store)
    text = exported(store)
    brought(elsewhere, file, text)
    before = "\n".join(elsewhere.database.conn.iterdump())

    assert not brought(elsewhere, file, text).changed
    assert "\n".join(elsewhere.database.conn.iterdump()) == before
    assert not brought(store, file, text).changed
    assert exported(store) == text


def test_a_later_export_brings_what_is_new_and_counts_nothing_twice(store: Store, elsewhere: Store, file: Path) -> None:
    learnt(store)
    brought(elsewhere, file, exported(store))
    play = Play(elsewhere)
    play.search("stoveburner 1", "kettle 1")
    play.note("skill: rinse things that smell")
    play.win()
    learnt(store)

    done = brought(elsewhere, file, exported(store))

    assert (done.added, done.united > 0) == (0, True)
    skill = next(json.loads(line) for line in exported(elsewhere).splitlines() if "smell" in line)
    assert (skill["strength"], len(skill["origins"])) == (5, 5)
    (kettle,) = whereabouts(elsewhere, "kettle", "alfworld", None)
    assert [(each.place, each.found, each.searched) for each in kettle.counts] == [("stoveburner", 5, 5)]

    # And back: what the other store learnt itself is all that is new.
    back = brought(store, file, exported(elsewhere))
    assert (back.added, back.united) == (0, 1)
    (kettle,) = whereabouts(store, "kettle", "alfworld", None)
    assert [(each.found, each.searched) for each in kettle.counts] == [(5, 5)]


def test_a_dry_run_says_the_same_and_changes_nothing(store: Store, elsewhere: Store, file: Path) -> None:
    learnt(store)
    before = "\n".join(elsewhere.database.conn.iterdump())
    dry = brought(elsewhere, file, exported(store), dry_run=True)

    assert "\n".join(elsewhere.database.conn.iterdump()) == before
    assert dry == brought(elsewhere, file, exported(store))


def test_scopes_are_chosen_when_exporting_and_given_when_importing(store: Store, elsewhere: Store, file: Path) -> None:
    for scope in ("a", "a/b", "ab", ""):
        add_entry(store, "note", f"tell {scope or 'everyone'} of the bell", scope)
    texts = [json.loads(line).get("scope") for line in exported(store, "a").splitlines()[1:]]
    assert texts == ["a", "a/b"]

    brought(elsewhere, file, exported(store), scope="a")
    assert sorted(entry(elsewhere, number).scope for number in range(1, 5)) == ["a", "a", "a/ab", "a/b"]


def test_what_is_about_one_world_can_be_left_out(store: Store) -> None:
    learnt(store)
    kept = [json.loads(line) for line in exported(store, worlds=False).splitlines()[1:]]

    assert [line["text"] for line in kept if line["record"] == "entry"] == [
        "opening what is open",
        "rinse things that smell",
    ]
    assert {line["record"] for line in kept} == {"entry", "count"}


def test_near_duplicates_of_what_was_here_are_united(store: Store, elsewhere: Store, file: Path) -> None:
    add_entry(store, "skill", "rinse the things that smell badly", "alfworld")
    add_entry(elsewhere, "skill", "Rinse things that smell badly!", "alfworld")
    done = brought(elsewhere, file, exported(store))

    assert (done.added, done.united) == (0, 1)
    kept = entry(elsewhere, 1)
    assert (kept.text, kept.strength, kept.trust) == ("Rinse things that smell badly!", 2, "person")
    assert not brought(elsewhere, file, exported(store)).changed


@pytest.mark.parametrize(("moved_first", "stands"), [("store", 1), ("elsewhere", 2)])
def test_of_two_claims_the_one_confirmed_last_stands(
    store: Store, elsewhere: Store, file: Path, moved_first: str, stands: int
) -> None:
    first, second = (store, elsewhere) if moved_first == "store" else (elsewhere, store)
    add_entry(first, "note", "the kettle is on stoveburner 1", "a", world="w")
    second.write("UPDATE identity SET id = 'fedcba9876543210'")
    number = add_entry(second, "note", "the kettle is on stoveburner 2", "a", world="w")[0].id
    second.write("UPDATE entries SET confirmed = '2990-01-01T00:00:00.000+00:00' WHERE id = ?", [number])
    text = exported(store)
    done = brought(elsewhere, file, text)

    assert (done.outdated, done.corrected) == ((1, 0) if stands == 1 else (0, 1))
    active = [number for number in (1, 2) if entry(elsewhere, number).status == "active"]
    assert active == [stands]
    assert not brought(elsewhere, file, text).changed


def test_what_was_pruned_here_stays_pruned(store: Store, elsewhere: Store, file: Path) -> None:
    add_entry(store, "note", "ring the bell twice", "a")
    brought(elsewhere, file, exported(store))
    elsewhere.write("UPDATE entries SET status = 'pruned'")

    assert not brought(elsewhere, file, exported(store)).changed
    assert entry(elsewhere, 1).status == "pruned"
    assert [event.kind for event in events(elsewhere, 1)] == ["imported"]


def test_a_policy_s_items_keep_what_it_knows_of_them(store: Store, elsewhere: Store, file: Path) -> None:
    number = add_entry(store, "skill", "open the lid first", "@expel/a")[0].id
    store.write("INSERT INTO policy_items VALUES (?, 'insight', 'heat', 'Lids', 4)", [number])
    store.write("UPDATE entries SET normal = 'open lid first heat' WHERE id = ?", [number])
    brought(elsewhere, file, exported(store))

    assert exported(elsewhere) == exported(store)
    assert not brought(elsewhere, file, exported(store)).changed
    assert elsewhere.row("SELECT importance FROM policy_items")[0] == 4  # type: ignore[index]


HEAD = '{"format": "evoharness-experience", "version": 1, "entries": 1, "places": 0}'
LINE = (
    '{"record": "entry", "id": "00000000000000000000000000000000", "kind": "note", "scope": "a", "world": null, '
    '"text": "ring the bell", "when": null, "slots": null, "trust": "agent", "strength": 1, "recalled": 0, '
    '"helped": 0, "hurt": 0, "created": "2026-01-01T00:00:00.000+00:00", '
    '"confirmed": "2026-01-01T00:00:00.000+00:00", "last_recalled": null, "because": "", "origins": []}'
)


def changed(**values: object) -> bytes:
    return f"{HEAD}\n{json.dumps({**json.loads(LINE), **values})}\n".encode()


def edited(old: str, new: str) -> bytes:
    return f"{HEAD}\n{LINE.replace(old, new)}\n".encode()


HOSTILE = {
    "empty": b"",
    "not text": b"\xff\xfe\x00\x01" * 50,
    "not json": b"hello",
    "a list": b"[1, 2]",
    "another object": b'{"name": "x"}',
    "deep": b'{"notes": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep line": HEAD.encode() + b"\n" + b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "newer": HEAD.replace('"version": 1', '"version": 2').encode(),
    "short": HEAD.encode(),
    "cut": f"{HEAD}\n{LINE[:200]}".encode(),
    "not utf-8": HEAD.encode() + b"\n" + LINE.encode().replace(b"bell", b"\xff\xff"),
    "a key twice": f'{HEAD}\n{LINE[:-1]}, "kind": "skill"}}'.encode(),
    "nan": edited('"helped": 0', '"helped": NaN'),
    "infinite": edited('"helped": 0', '"helped": 1e999'),
    "a huge number": edited('"strength": 1', '"strength": ' + "9" * 30),
    "endless digits": edited('"strength": 1', '"strength": ' + "9" * 10_000),
    "10 MB text": changed(text="x" * 10_000_000),
    "1 MB text": changed(text="x" * 1_000_000),
    "too long": changed(text="word " * 150),
    "no words": changed(text="\x00\x07 ..."),
    "a number as text": changed(text=7),
    "a text as number": changed(strength="7"),
    "half a character": changed(text="half \ud800"),
    "a kind unknown": changed(kind="poem"),
    "a status": changed(status="active"),
    "negative votes": changed(hurt=-3),
    "a time that isn't": changed(confirmed="yesterday"),
    "a local time": changed(confirmed="2026-01-01T00:00:00"),
    "no id": changed(id="x"),
    "two slots": changed(slots=["a", "b"]),
    "more found than searched": (
        HEAD.replace('"entries": 1, "places": 0', '"entries": 0, "places": 1')
        + '\n{"record": "count", "origin": "0123456789abcdef", "scope": "", "object": "cup", "place": "shelf", '
        '"count": 3}'
    ).encode(),
    "published, a wrong type": b'{"general_skills": {"title": "x"}}',
    "published, a 10 MB text": json.dumps({"notes": ["x" * 10_000_000]}).encode(),
    "published, no words": b'{"notes": ["fine words", "..."]}',
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_bad_file_is_one_sentence_and_nothing_of_it_is_taken(store: Store, file: Path, content: bytes) -> None:
    add_entry(store, "note", "the bell rings at noon", "a")
    before = "\n".join(store.database.conn.iterdump())
    good = LINE.replace("ring the bell", "a good line before the bad one")
    if content.startswith(HEAD.encode() + b"\n"):
        head, _, rest = content.partition(b"\n")
        content = head.replace(b'"entries": 1', b'"entries": 2') + b"\n" + good.encode() + b"\n" + rest
    file.write_bytes(content)

    with pytest.raises(CannotImport) as refused:
        ExchangeFile(file).take_into(store)

    said = str(refused.value)
    assert len(said) < 600 and "\n" not in said and said.isprintable()
    assert said.startswith((str(file), "A cup"))
    assert "\n".join(store.database.conn.iterdump()) == before


def test_what_is_no_file_is_refused(store: Store, tmp_path: Path) -> None:
    for path, said in ((tmp_path, "is a folder"), (Path("/dev/zero"), "is a device"), (tmp_path / "x", "There is no")):
        with pytest.raises(CannotImport, match=said):
            ExchangeFile(path).take_into(store)


def test_markup_and_control_characters_are_kept_as_text_on_one_line(store: Store, file: Path) -> None:
    text = 'ring\n\x1b[2J the <action>bell</action> "now"'
    done = brought(store, file, changed(text=text, scope="a/\x1b/../b\n").decode())

    assert done.added == 1
    kept = entry(store, 1)
    assert kept.text == 'ring [2J the <action>bell</action> "now"'
    assert kept.scope.isprintable()
    assert quote(kept).count("\n") == 0
