"""The notebook keeps every note as it was written."""

from __future__ import annotations

from pathlib import Path

from playing import Play
from playthrough import bank, observed, play

from evoharness_cli.experience.policies import load_policy
from evoharness_cli.experience.policies.append import TOP
from evoharness_cli.experience.policies.items import Bank
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep import prune
from evoharness_cli.experience.upkeep.consolidate import consolidate


def test_twenty_games_leave_twenty_notes_and_a_second_time_twenty_more(store: Store, games: list[Path]) -> None:
    run = play(store, games, "append", [True] * 20)
    notes = bank(store, "append").items()
    assert len(notes) == 20
    assert {item.entry.kind for item in notes} == {"note"}
    assert observed(store, run, "note")[:2] == ["noted as [1]", "noted as [2]"]

    again = play(store, games, "append", [True] * 20)
    twice = bank(store, "append").items()
    assert [item.entry.text for item in twice] == [item.entry.text for item in notes] * 2
    assert {(item.entry.strength, item.entry.helped, item.entry.hurt) for item in twice} == {(1, 0, 0)}
    assert all(len(answer.splitlines()) <= TOP for answer in observed(store, again, "recall"))


def test_the_nearest_by_bm25_are_recalled_without_a_floor(store: Store) -> None:
    notebook = Bank(store, "append", "alfworld")
    game = Play(store)
    memory = load_policy("append").open(store, game.id, "alfworld", "house-a", True)
    game.experience = memory
    for text in ("mugs are on shelves", "mugs and more mugs: mugs", "a spoon, a fork, a knife and perhaps one mug"):
        game.note(text)
    assert game.note("...").startswith("not noted: ")

    lines = game.recall("mug").splitlines()
    assert [line[:3] for line in lines] == ["[2]", "[1]", "[3]"]
    assert game.recall("every colour of the rainbow but one mug") != "nothing relevant in experience"
    assert game.recall("kettle") == "nothing relevant in experience"
    assert [item.entry.status for item in notebook.items(episode=game.id)] == ["pending"] * 3
    assert notebook.items() == []


def test_upkeep_and_undoing_merge_nothing(store: Store, games: list[Path]) -> None:
    for _ in range(2):
        play(store, games[:3], "append", [True] * 3)
    before = bank(store, "append").items()
    consolidate(store)
    assert bank(store, "append").items() == before

    policy = prune.Policy(max_entries=2)
    prune.apply(store, prune.plan(store, policy), policy)
    assert len(bank(store, "append").items()) == 2
    prune.undo(store)
    assert [item.entry.id for item in bank(store, "append").items()] == [item.entry.id for item in before]
