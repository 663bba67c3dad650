"""ExpeL's insights gain and lose importance, and are dropped at none."""

from __future__ import annotations

from pathlib import Path

from playthrough import bank, history, observed, play, tasks_of

from evoharness_cli.experience.entries import entry
from evoharness_cli.experience.policies.expel import ExpelMemory, common_order
from evoharness_cli.experience.store import Store
from evoharness_cli.models import ScriptedModel

KIND = "pick_and_place_simple"


def test_an_insight_goes_from_two_up_and_down_to_none_and_is_dropped(store: Store, games: list[Path]) -> None:
    # Of each kind six games are won, so two sets of successes are looked at, and four are lost by the same verbs.
    run = play(store, games, "expel", [True] * 12 + [False] * 8)

    first = next(
        number
        for number in range(1, 40)
        if entry(store, number).text.startswith("What worked") and _kind(store, number) == KIND
    )
    assert [detail["importance"] for detail in history(store, first, "weighed")] == [3, 2, 1, 0]
    assert [detail["why"] for detail in history(store, first, "weighed")][1:] == ["remove"] * 3
    assert entry(store, first).text == "What worked in tasks of this kind: go, take, go, move"
    assert entry(store, first).status == "dropped"
    assert history(store, first, "dropped") == [{"why": "its importance fell to 0"}]

    # The fourth loss found none to compare, so another begins at 2.
    (insight,) = [item for item in bank(store, "expel").items("insight") if item.task_kind == KIND]
    assert (insight.entry.id > first, insight.importance) == (True, 2)
    kept = bank(store, "expel")
    assert (len(kept.items("success")), len(kept.items("failure"))) == (12, 8)
    recalled = observed(store, run, "recall")
    assert "What worked in tasks of this kind" in recalled[7]
    assert recalled[7].count("go to ") >= 4  # trajectories of similar tasks


def _kind(store: Store, number: int) -> str:
    row = store.row("SELECT task_kind FROM policy_items WHERE entry = ?", [number])
    return str(row["task_kind"]) if row else ""


def test_a_model_adds_edits_agrees_and_removes(store: Store, games: list[Path]) -> None:
    few = games[:16:2]  # all of one kind
    names = [task.name for task in tasks_of(few)]
    curator = ScriptedModel.of(
        {
            names[2]: ["add: look where such things usually are", "add [3]: not of this form", "done"],
            names[3]: ["agree [4]", "edit [4]: look first where such things usually are", "agree [999]", "done"],
            **{name: ["remove [4]", "done"] for name in names[4:]},
        }
    )
    play(store, few, ExpelMemory(curator), [True] * 3 + [False] * 5)

    assert [detail["importance"] for detail in history(store, 4, "weighed")] == [3, 4, 3, 2, 1, 0]
    assert history(store, 4, "edited") == [{"before": "look where such things usually are"}]
    assert entry(store, 4).text == "look first where such things usually are"
    assert bank(store, "expel").items("insight") == []


def test_the_common_order_of_two_sequences() -> None:
    assert common_order(["go", "take", "go", "move"], ["go", "open", "take", "cool", "go", "open", "move"]) == (
        "go",
        "take",
        "go",
        "move",
    )
    assert common_order((), ("go",)) == ()
