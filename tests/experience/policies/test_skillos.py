"""SkillOS's curator inserts, updates and deletes skills."""

from __future__ import annotations

from pathlib import Path

from playthrough import bank, history, observed, play, tasks_of

from evoharness_cli.experience.entries import entry, events
from evoharness_cli.experience.policies.skillos import SkillosMemory
from evoharness_cli.experience.store import Store
from evoharness_cli.models import ScriptedModel


def test_twenty_games_insert_update_and_delete(store: Store, games: list[Path]) -> None:
    run = play(store, games, "skillos", [True] * 10 + [False] * 8 + [True] * 2)

    for number in (1, 2):
        kinds = [event.kind for event in events(store, number) if event.kind != "recalled"]
        assert kinds == ["noted", *["edited"] * kinds.count("edited"), "dropped"]
        assert kinds.count("edited") >= 2
        assert entry(store, number).status == "dropped"
    assert history(store, 1, "edited")[0] == {"before": "A way through pick_and_place_simple: go, take, go, move"}
    # What misled was deleted once; the last two wins insert anew.
    assert [item.entry.id for item in bank(store, "skillos").items()] == [3, 4]
    recalled = observed(store, run, "recall")
    assert "A way through pick_and_place_simple" in recalled[2]
    assert recalled[12] == "nothing relevant in experience"


def test_a_model_edits_the_related_skills(store: Store, games: list[Path]) -> None:
    few = games[:6:2]
    names = [task.name for task in tasks_of(few)]
    curator = ScriptedModel.of(
        {
            names[0]: ["insert: Place it | to place a thing | go there and put it down", "delete [7]", "done"],
            names[1]: ["update [1]: Place it well | to place a thing | open what is closed", "done"],
            names[2]: ["delete [1]", "done"],
        }
    )
    play(store, few[:2], SkillosMemory(curator), [True, True])
    (skill,) = bank(store, "skillos").items()
    assert (skill.title, skill.entry.text) == ("Place it well", "Place it well: open what is closed")

    play(
        store,
        few,
        SkillosMemory(ScriptedModel.of({name: ["done"] for name in names[:2]} | {names[2]: ["delete [1]", "done"]})),
        [True, True, False],
    )
    assert (bank(store, "skillos").items(), entry(store, 1).status) == ([], "dropped")
