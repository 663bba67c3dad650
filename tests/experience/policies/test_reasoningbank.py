"""ReasoningBank judges for itself and adds titled items from successes and failures."""

from __future__ import annotations

import json
from pathlib import Path

from playthrough import bank, observed, play, tasks_of

from evoharness_cli.experience.policies.reasoningbank import TOP, ReasoningBankMemory
from evoharness_cli.experience.store import Store
from evoharness_cli.models import ScriptedModel


def test_twenty_games_are_judged_and_each_adds_an_item(store: Store, games: list[Path]) -> None:
    run = play(store, games, "reasoningbank", [True] * 10 + [False] * 10)

    items = bank(store, "reasoningbank").items()
    assert [item.entry.kind for item in items] == ["skill"] * 10 + ["mistake"] * 10
    assert (items[0].title, items[0].entry.when) == ("A way through pick_and_place_simple", "put a pillow in ottoman.")
    assert items[0].entry.text == "A way through pick_and_place_simple: go, take, go, move"
    assert items[-1].entry.text.startswith("A dead end in pick_cool_then_place_in_recep: `look`")
    recalled = observed(store, run, "recall")
    assert recalled[0] == "nothing relevant in experience"
    assert max(len(answer.splitlines()) for answer in recalled) == TOP


def test_a_model_judges_without_the_environment_and_writes_at_most_three_items(store: Store, games: list[Path]) -> None:
    name = tasks_of(games)[0].name
    curator = ScriptedModel.of(
        {
            name: ["failure"],  # though it was won
            f"{name} items": [
                "item: Check | before leaving | look at what you hold",
                "item: A | b | c",
                "item: A | b | d",
                "item: E | f | g",
            ],
        }
    )
    play(store, games[:1], ReasoningBankMemory(curator), [True])

    items = bank(store, "reasoningbank").items()
    assert [(item.entry.kind, item.title, item.entry.when) for item in items] == [
        ("mistake", "Check", "before leaving"),
        ("mistake", "A", "b"),
        ("mistake", "A", "b"),  # simply added, whatever is there
    ]
    assert items[0].entry.text == "Check: look at what you hold"
    (judged,) = store.rows("SELECT detail FROM events WHERE kind = 'judged'")
    assert json.loads(judged["detail"]) == {"judged": False, "success": True}
