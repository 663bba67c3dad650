"""SkillRL's hierarchy grows by failures only and shows at most six."""

from __future__ import annotations

from pathlib import Path

from playthrough import bank, observed, play, tasks_of

from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.policies.skillrl import TOP, SkillrlMemory
from evoharness_cli.experience.store import Store
from evoharness_cli.models import ScriptedModel

PLACE, COOL = "pick_and_place_simple", "pick_cool_then_place_in_recep"


def test_it_grows_from_failures_only_and_into_a_hierarchy(store: Store, games: list[Path]) -> None:
    play(store, games[:10], "skillrl", [True] * 10)
    assert bank(store, "skillrl").items(below=True) == []

    play(store, games[10:], "skillrl", [False] * 10)
    items = bank(store, "skillrl").items(below=True)
    assert [(item.entry.scope, item.role) for item in items] == [
        (f"@skillrl/alfworld/{PLACE}", "mistake"),
        (f"@skillrl/alfworld/{PLACE}", "specific"),
        (f"@skillrl/alfworld/{COOL}", "mistake"),
        (f"@skillrl/alfworld/{COOL}", "specific"),
        ("@skillrl/alfworld", "general"),  # two kinds had it
    ]


def test_at_most_six_are_shown_the_nearest_first_and_none_of_another_kind(store: Store, games: list[Path]) -> None:
    for number in range(9):
        add_entry(store, "skill", f"general advice of number {number}", "@skillrl/alfworld")
    add_entry(store, "skill", "pillows lie on beds", "@skillrl/alfworld/pick_and_place")
    add_entry(store, "skill", "pillows are never cooled", "@skillrl/alfworld/cool")
    run = play(store, games[:1], "skillrl", [True])

    (answer,) = observed(store, run, "recall")
    assert len(answer.splitlines()) == TOP
    assert answer.splitlines()[0] == '[10] skill: "pillows lie on beds"'
    assert "cooled" not in answer


def test_a_model_adds_at_most_three_and_no_title_twice(store: Store, games: list[Path]) -> None:
    few = games[:3]
    names = [task.name for task in tasks_of(few)]
    said = [
        "general: Look | look around | always",
        "mistake: Loop | stop | when it repeats",
        "specific: Put | put | now",
    ]
    curator = ScriptedModel.of({names[0]: [*said, "general: Fourth | is | not asked for"], names[2]: [*said]})
    play(store, few, SkillrlMemory(curator), [False, True, False])

    assert [item.title for item in bank(store, "skillrl").items(below=True)] == ["Look", "Loop", "Put"]
