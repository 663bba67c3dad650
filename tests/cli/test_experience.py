"""What runs teach, through the command line: notes, votes, contradictions, pruning and its undoing."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from commands import ORACLE, Command

from evoharness_cli.environments.alfworld.games import read_game
from evoharness_cli.environments.alfworld.generate import Game, make_game, write_game
from evoharness_cli.environments.alfworld.houses import House, make_house
from evoharness_cli.environments.alfworld.task_types import CannotGenerate

SIMPLE = "pick_and_place_simple"


def kettle_games(folder: Path, number: int) -> list[Path]:
    """Make a game about the kettle in each of so many kitchens where it stands on a stove burner."""
    found: list[Path] = []
    for seed in count():
        game = _kettle_game(make_house(seed, "kitchen"))
        if game:
            found.append(write_game(game, folder))
        if len(found) == number:
            return found
    raise AssertionError


def _kettle_game(house: House) -> Game | None:
    kinds = {each.id: each.kind for each in house.receptacles}
    kettles = [kinds[item.inside] for item in house.items if item.kind == "Kettle"]
    if kettles != ["StoveBurner"] or "CounterTop" not in kinds.values():
        return None
    for seed in range(40):
        try:
            game = make_game(house, SIMPLE, seed)
        except CannotGenerate:
            return None
        if game.goal.object_kind == "Kettle":
            return game
    return None


def play(evoharness: Command, game: Path, replies: list[str], scope: str = "alfworld") -> list[dict]:
    """Play a game with these replies and return its steps."""
    script = game.with_name("script.json")
    script.write_text(json.dumps(replies))
    played = evoharness("run", game, "--model", f"scripted:{script}", "--scope", scope, "--json")
    assert played.objects[0]["outcome"] == "won", played.out
    (episode,) = evoharness("inspect", "run", "--json").objects[0]["episodes"]
    return episode["steps"]


def test_a_wrong_place_is_hurt_corrected_and_recalled_right(evoharness: Command, tmp_path: Path) -> None:
    first, second = kettle_games(tmp_path, 2)
    game = read_game(first)
    burner = game.walkthrough[0].removeprefix("go to ")
    claim = "in this house the kettle is on the countertop 1"
    evoharness("note", claim, "--scope", "alfworld", "--world", game.world)

    steps = play(
        evoharness,
        first,
        [
            "recall [kettle]",
            "go to countertop 1",
            *game.walkthrough[:2],
            f"note [in this house the kettle is on the {burner}]",
            *game.walkthrough[2:],
        ],
    )
    assert steps[0]["observation"] == f'[1] note: "{claim}"'
    assert steps[4]["observation"] == "noted as [2], which corrects [1]"

    wrong = evoharness("inspect", "entry", 1, "--json").objects[0]
    assert (wrong["status"], wrong["superseded_by"], wrong["hurt"], wrong["helped"]) == ("superseded", 2, 1, 0)
    assert "contradicted" in [event["kind"] for event in wrong["events"]]

    again = play(evoharness, first, ["recall [kettle]", *game.walkthrough])
    assert again[0]["observation"].splitlines()[:2] == [
        f"kettle here: {burner}",
        "places for kettle: stoveburner 1 of 1",
    ]
    right = evoharness("inspect", "entry", 2, "--json").objects[0]
    assert right["helped"] > 0
    assert "helped" in [event["kind"] for event in right["events"]]
    assert "in this house the kettle" in evoharness("inspect", "entry", 2).out

    elsewhere = play(evoharness, second, ["recall [kettle]", *read_game(second).walkthrough])
    assert elsewhere[0]["observation"] == "places for kettle: stoveburner 2 of 2"


def test_what_is_stored_wrong_is_right_by_the_third_game_and_elsewhere_only_counts_move(
    evoharness: Command, tmp_path: Path
) -> None:
    home, *others = kettle_games(tmp_path, 11)
    game = read_game(home)
    burner = game.walkthrough[0].removeprefix("go to ")
    wrong = ("the kettle is on the countertop 1", "kettles are found on the fridge 1")
    for text in wrong:
        evoharness("note", text, "--scope", "alfworld", "--world", game.world)
    evoharness("note", "the kettle is in the cabinet", "--scope", "alfworld")

    first = play(evoharness, home, ["recall [kettle]", "go to countertop 1", *game.walkthrough])
    assert wrong[0] in first[0]["observation"]
    stubborn = [*game.walkthrough[:2], f"note [{wrong[0]}]", *game.walkthrough[2:]]
    second = play(evoharness, home, ["recall [kettle]", *stubborn])
    third = play(evoharness, home, ["recall [kettle]", *game.walkthrough])
    for steps in (second, third):
        assert steps[0]["observation"].startswith(f"kettle here: {burner}\n")
        assert f"the kettle is at {burner}" in steps[0]["observation"]
        assert wrong[0] not in steps[0]["observation"]

    claims = {each["id"]: each for each in evoharness("inspect", "experience", "--json").objects}
    corrected = claims[1]
    right = claims[corrected["superseded_by"]]
    assert (corrected["status"], corrected["hurt"]) == ("superseded", 1)
    assert (right["status"], right["trust"], right["text"]) == ("active", "distilled", f"the kettle is at {burner}")
    assert right["helped"] > 0
    history = [event["kind"] for event in evoharness("inspect", "entry", 1, "--json").objects[0]["events"]]
    assert history == ["noted", "recalled", "contradicted", "superseded"]
    (again,) = (each for each in claims.values() if each["trust"] == "agent")
    assert (again["status"], again["superseded_by"]) == ("superseded", right["id"])

    for other in others:
        play(evoharness, other, ["recall [kettle]", *read_game(other).walkthrough])
    (*_, last) = evoharness("inspect", "experience", "kettle", "--scope", "alfworld").out.splitlines()
    assert "stoveburner 13 of " in last
    general = evoharness("inspect", "entry", 3, "--json").objects[0]
    assert general["status"] == "dormant"
    assert [event["kind"] for event in general["events"]].count("contradicted") == 2

    evoharness("consolidate")
    for each in evoharness("inspect", "experience", "--status", "superseded", "--limit", 99, "--json").objects:
        kinds = {event["kind"] for event in evoharness("inspect", "entry", each["id"], "--json").objects[0]["events"]}
        assert "merged" not in kinds or each["subject"] is None


def test_a_note_without_words_and_one_said_before(evoharness: Command) -> None:
    text = "mugs are near the coffee machine"
    assert evoharness("note", text, "--scope", "alfworld").out == f"entry 1 added: {text}\n"
    assert evoharness("note", "Mugs are near the coffee machine!", "--scope", "alfworld", "--json").objects == [
        {"entry": 1, "recurred": True}
    ]
    refused = evoharness("note", "...")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert evoharness("note", "x y z", "--kind", "poem").code == 2


def test_experience_is_listed_filtered_and_explained(evoharness: Command) -> None:
    evoharness("note", "mugs are near the coffee machine", "--scope", "alfworld")
    evoharness("note", "clean things in the sink", "--scope", "alfworld", "--kind", "skill", "--when", "washing")
    evoharness("note", "read the rules first", "--scope", "compliance")

    assert len(evoharness("inspect", "experience", "--json").objects) == 3
    assert [each["text"] for each in evoharness("inspect", "experience", "--kind", "skill", "--json").objects] == [
        "clean things in the sink"
    ]
    (scored,) = evoharness("inspect", "experience", "where is a mug", "--scope", "alfworld", "--json").objects
    assert scored["entry"]["id"] == 1
    assert (scored["record"], scored["nearness"], scored["standing"]) == (0.5, 1, 1)
    assert scored["score"] == pytest.approx(scored["relevance"] * 0.5, rel=0.001)
    assert "mugs are near" in evoharness("inspect", "experience", "mug", "--scope", "alfworld").out
    assert evoharness("inspect", "experience", "mug", "--scope", "compliance").out == "nothing relevant in experience\n"
    assert "washing" in evoharness("inspect", "entry", 2).out


def test_a_recall_says_why_each_entry_comes_or_is_left_out(evoharness: Command) -> None:
    for text in (
        "the kettle leaks",
        "kettle number one leaks at night",
        "a leak in the roof lets in rain when it storms",
    ):
        evoharness("note", text, "--scope", "alfworld")

    shown, *left_out = evoharness(
        "inspect", "experience", "kettle leaks", "--scope", "alfworld", "--limit", "1", "--explain", "--json"
    ).objects
    assert shown["entry"]["id"] == 1 and "left_out" not in shown
    assert [(each["entry"]["id"], each["left_out"]) for each in left_out] == [
        (2, "too many better ones"),
        (3, "far less relevant than the best"),
    ]
    said = evoharness("inspect", "experience", "kettle leaks", "--scope", "alfworld", "--explain").out
    assert "far less" in said and "score = relevance x record x age x scope x standing" in said
    assert evoharness("inspect", "experience", "--explain").code == 2


def test_pruning_shows_asks_keeps_aside_and_is_undone(evoharness: Command) -> None:
    for text in ("heat food in the microwave", "cool food in the fridge", "wash plates in the sink"):
        evoharness("note", text)

    dry = evoharness("prune", "--max-entries", 1, "--dry-run")
    assert dry.code == 0
    assert "heat food in the microwave" in dry.out
    assert active(evoharness) == [3, 2, 1]

    declined = evoharness("prune", "--max-entries", 1, answer="n\n")
    assert "nothing was pruned" in declined.out
    assert active(evoharness) == [3, 2, 1]

    agreed = evoharness("prune", "--max-entries", 1, answer="y\n")
    assert "pruned 2 entries" in agreed.out
    assert active(evoharness) == [3]

    assert "2 entries are back" in evoharness("prune", "--undo").out
    assert active(evoharness) == [3, 2, 1]
    refused = evoharness("prune", "--undo")
    assert (refused.code, refused.err.startswith("error: There is no pruning to undo")) == (2, True)


def test_pruning_by_staleness_and_json(evoharness: Command) -> None:
    evoharness("note", "heat food in the microwave")
    assert evoharness("prune", "--stale-days", 1, "--yes").out == "nothing to prune\n"

    pruned = evoharness("prune", "--stale-days", 0, "--yes", "--json").objects
    assert [(each.get("entry"), each.get("pruned")) for each in pruned] == [(1, None), (None, 1)]
    assert evoharness("prune", "--undo", "--json").objects == [{"undone": 1, "restored": 1}]


def test_pruning_needs_a_policy(evoharness: Command) -> None:
    refused = evoharness("prune")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)


@pytest.mark.parametrize("arguments", [("inspect", "entry", 4), ("inspect", "run", 4), ("inspect", "run")])
def test_what_is_not_there_is_wrong_usage(evoharness: Command, arguments: tuple[object, ...]) -> None:
    ended = evoharness(*arguments)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)


def test_a_file_that_is_no_store_is_a_fault(evoharness: Command, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_text("not a database, but a text that is long enough to be taken for one" * 20)
    ended = evoharness("inspect", "--db", other)
    assert (ended.code, len(ended.err.splitlines())) == (3, 1)
    assert other.read_text().startswith("not a database")


def active(evoharness: Command) -> list[int]:
    return [each["id"] for each in evoharness("inspect", "experience", "--status", "active", "--json").objects]


def test_lists_are_limited(evoharness: Command) -> None:
    script = f"scripted:{ORACLE}"
    evoharness("run", "put-cd", "look-at-book", "--model", script, "--max-steps", 1, "--quiet")

    shown = evoharness("inspect", "run", "--limit", 1).out
    assert "task put-cd" in shown
    assert "task look-at-book" not in shown
    assert shown.endswith("1 more episodes; see them with --limit 2\n")
    assert [each["task"] for each in evoharness("inspect", "run", "--json").objects[0]["episodes"]] == [
        "put-cd",
        "look-at-book",
    ]
    assert evoharness("inspect", "runs", "--task", "put-cd", "--method", "react").out.startswith("no runs")
    assert len(evoharness("inspect", "runs", "--task", "put-cd", "--status", "finished", "--json").objects) == 1
