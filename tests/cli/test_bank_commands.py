"""Banks, scopes, export and import on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Command


def test_a_store_is_frozen_copied_played_with_and_removed(evoharness: Command, tmp_path: Path) -> None:
    evoharness("note", "mugs are near the coffee machine", "--scope", "alfworld")
    evoharness("note", "ask before you buy", "--scope", "shop", "--kind", "skill")
    assert evoharness("banks", "list").out.startswith("no banks yet")
    frozen = evoharness("banks", "freeze", "kitchen", "--scope", "alfworld")
    assert frozen.out.startswith("kitchen@1: 1 note, places of 0 things, content ")

    refused = evoharness("note", "something else", "--db", tmp_path / "banks" / "kitchen@1.db")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "is a frozen bank, which is never changed" in refused.err

    assert str(tmp_path / "banks" / "trial.db") in evoharness("banks", "copy", "kitchen@1", "trial").out
    evoharness("note", "something else", "--db", tmp_path / "banks" / "trial.db")
    listed = {each["bank"]: each for each in evoharness("banks", "list", "--json").objects}
    assert {name: each["entries"] for name, each in listed.items()} == {"kitchen@1": {"note": 1}, "trial": {"note": 2}}
    assert listed["kitchen@1"]["frozen"] is not None
    assert "kitchen@1" in evoharness("banks", "list").out
    assert "mugs are near" in evoharness("inspect", "entry", 1, "--db", listed["kitchen@1"]["file"]).out

    evoharness("banks", "move", "trial", "other")
    assert evoharness("banks", "remove", "other", answer="n\n").out.endswith("nothing was removed\n")
    assert evoharness("banks", "remove", "other", answer="y\n").out.endswith("removed other\n")
    assert evoharness("banks", "remove", "kitchen@1", "--yes").code == 0
    assert evoharness("banks", "list", "--json").objects == []
    assert len(evoharness("inspect", "experience", "--json").objects) == 2


def test_experience_goes_from_store_to_file_to_bank(evoharness: Command, tmp_path: Path) -> None:
    evoharness("note", "mugs are near the coffee machine", "--scope", "alfworld")
    evoharness("note", "ask before you buy", "--scope", "shop")
    file = tmp_path / "experience.jsonl"
    assert "2 entries and 0 places" in evoharness("export", "-o", file).err
    assert file.read_text() == evoharness("export").out
    assert [each.get("text") for each in evoharness("export", "--scope", "shop").objects] == [
        None,
        "ask before you buy",
    ]

    evoharness("banks", "create", "kitchen")
    dry = evoharness("import", file, "--bank", "kitchen", "--dry-run")
    assert dry.out.startswith("2 entries would be added")
    assert evoharness("import", file, "--bank", "kitchen", "--json").objects[0]["added"] == 2
    assert evoharness("import", file, "--bank", "kitchen", "--json").objects[0]["known"] == 2
    assert evoharness("export", "--bank", "kitchen").out == file.read_text()
    assert "noted elsewhere, a person" in evoharness("inspect", "entry", 1, "--db", tmp_path / "banks/kitchen.db").out


def test_a_bad_import_is_one_sentence_and_makes_no_store(evoharness: Command, db: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"format": "evoharness-experience", "version": 1, "entries": 1, "places": 0}\n{"record": "x"}\n')
    for path in (bad, tmp_path, "/dev/zero", tmp_path / "nosuch"):
        ended = evoharness("import", path)
        assert (ended.code, len(ended.err.splitlines()), ended.out) == (2, 1, "")
    assert not db.exists()


def test_scopes_are_listed_and_moved(evoharness: Command) -> None:
    evoharness("note", "mugs are near the coffee machine", "--scope", "alfworld")
    evoharness("note", "mugs are near the coffee machine", "--scope", "alfworld/kitchen")
    assert evoharness("scopes", "move", "alfworld/kitchen", "alfworld", "--json").objects == [{"moved": 0, "merged": 1}]
    assert evoharness("scopes", "copy", "alfworld", "shop").out == "copied 1 entries; 0 were said there already\n"
    assert {each["scope"]: each["entries"] for each in evoharness("scopes", "list", "--json").objects} == {
        "alfworld": {"active": 1},
        "alfworld/kitchen": {"superseded": 1},
        "shop": {"active": 1},
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scopes", "move", "nosuch", "b"], "Nothing is kept in the scope nosuch"),
        (["export", "--bank", "nosuch"], "There is no bank nosuch; there are: none"),
        (["export", "--bank", "nosuch", "--db", "x.db"], "leave out --bank or --db"),
        (["export", "-o", "."], "is a folder"),
        (["banks", "freeze", "a/b"], "Expected a bank's name"),
        (["banks", "remove", "nosuch"], "There is no bank nosuch"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(evoharness: Command, arguments: list[str], said: str) -> None:
    evoharness("note", "ring the bell")
    ended = evoharness(*arguments)

    assert (ended.code, len(ended.err.strip().splitlines())) == (2, 1)
    assert said in ended.err
