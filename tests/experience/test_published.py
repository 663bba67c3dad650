"""Banks in the published layout."""

from __future__ import annotations

import io
import json
from pathlib import Path

from evoharness_cli.experience.entries import entries
from evoharness_cli.experience.exchange.export import export
from evoharness_cli.experience.exchange.files import ExchangeFile
from evoharness_cli.experience.places import PlaceCount, observe, whereabouts
from evoharness_cli.experience.sightings import Evidence, Sighting
from evoharness_cli.experience.store import Store

BANK = {
    "general_skills": [
        {
            "skill_id": "gen_001",
            "title": "Look once",
            "principle": "Look at every surface once before coming back.",
            "when_to_apply": "the thing was not seen yet",
            "usage_count": 17,
        }
    ],
    "task_specific_skills": {
        "clean": [{"skill_id": "cle_001", "title": "Water", "principle": "Go to the sink first.", "usage_count": 3}]
    },
    "common_mistakes": [
        {
            "mistake_id": "err_001",
            "description": "Opening what is open.",
            "why_it_happens": "The state is forgotten.",
            "how_to_avoid": "Read the last observation.",
            "usage_count": 2,
        }
    ],
    "search_priorities": {"Mug": ["countertop", "coffeemachine", "shelf"]},
    "notes": ["Things are numbered from one.", "word " * 300],
    "meta": {"made": [1, {"by": "hand"}]},
}


def test_it_becomes_entries_with_scopes_and_no_votes(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "bank.json"
    file.write_text(json.dumps(BANK, indent=2))
    done = ExchangeFile(file).take_into(store, "alfworld")

    assert (done.added, done.places) == (5, 3)
    kept = {(each.kind, each.scope, each.text[:40]): each for each in entries(store)}
    assert set(kept) == {
        ("skill", "alfworld", "Look once: Look at every surface once be"),
        ("skill", "alfworld/clean", "Water: Go to the sink first."),
        ("mistake", "alfworld", "Opening what is open. Instead: Read the "),
        ("note", "alfworld", "Things are numbered from one."),
        ("note", "alfworld", "word word word word word word word word "),
    }
    skill = kept["skill", "alfworld", "Look once: Look at every surface once be"]
    assert (skill.when, skill.recalled, skill.helped, skill.hurt, skill.strength) == (
        "the thing was not seen yet", 17, 0, 0, 1,
    )  # fmt: skip
    assert {each.trust for each in kept.values()} == {"imported"}
    assert max(len(each.text) for each in kept.values()) <= 500
    assert not ExchangeFile(file).take_into(store, "alfworld").changed


def test_its_priorities_rank_places_until_searches_outweigh_them(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "bank.json"
    file.write_text(json.dumps(BANK))
    ExchangeFile(file).take_into(store, "alfworld")

    (mug,) = whereabouts(store, "where is a mug", "alfworld/kitchen", None)
    assert mug.counts == (
        PlaceCount("countertop", 1, 1, True),
        PlaceCount("coffeemachine", 1, 2, True),
        PlaceCount("shelf", 1, 3, True),
    )
    for number in range(4):
        seen = {"mug 1": Sighting("mug 1", "shelf 1", 2)} if number else {}
        observe(
            store, _episode(store, number), "alfworld", f"w{number}", Evidence(seen, {"countertop 1": 1, "shelf 1": 2})
        )
    (mug,) = whereabouts(store, "mug", "alfworld", None)
    assert [(each.place, each.found, each.searched) for each in mug.counts] == [
        ("shelf", 4, 7),
        ("coffeemachine", 1, 2),
        ("countertop", 1, 5),
    ]
    assert store.number("SELECT sum(searched) FROM place_searches") == 8


def test_imported_exported_and_imported_elsewhere_it_is_equal(store: Store, tmp_path: Path) -> None:
    (tmp_path / "bank.json").write_text(json.dumps(BANK))
    ExchangeFile(tmp_path / "bank.json").take_into(store, "alfworld")
    first, second = io.BytesIO(), io.BytesIO()
    export(store, first)
    (tmp_path / "export.jsonl").write_bytes(first.getvalue())
    with Store.open(tmp_path / "elsewhere.db") as elsewhere:
        ExchangeFile(tmp_path / "export.jsonl").take_into(elsewhere)
        export(elsewhere, second)
        assert [each.recalled for each in entries(elsewhere, kind="skill", scope="alfworld/clean")] == [3]

    assert second.getvalue() == first.getvalue()
    assert b'"rank": 3' in first.getvalue()


def _episode(store: Store, number: int) -> int:
    run = store.write("INSERT INTO runs (settings, version, pid, started) VALUES ('{}', '', 1, '')")
    return store.write(
        "INSERT INTO episodes (run, number, task, source, environment, goal, kind, world, scope, started) "
        "VALUES (?, ?, '', '', '', '', '', '', '', '')",
        [run, number],
    )
