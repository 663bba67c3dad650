"""What holds for every memory policy: its own items only, nothing counted twice, and a place for others' policies."""

from __future__ import annotations

from pathlib import Path

import pytest
from playing import Play
from playthrough import bank, observed, play, script, tasks_of

from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import entries, entry
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.policies import (
    STAND_IN,
    BrokenPolicy,
    NoCurator,
    UnknownPolicy,
    fingerprint,
    load_policy,
    names,
)
from evoharness_cli.experience.policies.expel import ExpelMemory
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.store import Store
from evoharness_cli.models import ScriptedModel
from evoharness_cli.runs.play import Run, Unwatched, recorded_run

OTHERS = ("append", "expel", "reasoningbank", "skillos", "skillrl")
CURATED = ("expel", "reasoningbank", "skillos", "skillrl")


def shape(store: Store, policy: str) -> list[tuple[object, ...]]:
    """Return what a policy keeps, without numbers and times."""
    return [
        (item.role, item.entry.scope, item.entry.text, item.entry.when, item.importance, item.entry.recalled)
        for item in bank(store, policy).items(below=True)
    ]


def test_the_items_of_one_policy_are_invisible_to_another(store: Store, games: list[Path], tmp_path: Path) -> None:
    wins = [False, False, True, True] * 2
    for policy in (*OTHERS, "none", "bpe"):
        play(store, games[:8], policy, wins)

    for policy in (*OTHERS, "bpe"):
        with Store.open(tmp_path / f"{policy}.db") as alone:
            play(alone, games[:8], policy, wins)
            if policy != "bpe":
                assert shape(store, policy) == shape(alone, policy) != []
            (together,) = [run for run in journal.runs(store, -1) if run.settings["experience"] == policy]
            assert [line.split("]")[-1] for line in observed(store, together.id, "recall")] == [
                line.split("]")[-1] for line in observed(alone, 1, "recall")
            ]
    assert all(not each.entry.scope.startswith("@") for each in search(store, "pillow", "alfworld").entries)
    assert {each.scope.split("/")[0] for each in entries(store, limit=1000)} == {
        *(f"@{each}" for each in OTHERS),
        "alfworld",
    }


def test_none_answers_nothing_and_keeps_nothing(store: Store, games: list[Path]) -> None:
    add_entry(store, "note", "pillows lie on the sofa", "alfworld")
    run = play(store, games[:2], "none", [True, False])

    assert set(observed(store, run, "recall")) == {"nothing relevant in experience"}
    assert set(observed(store, run, "note")) == {"not kept: nothing is kept in this run"}
    assert [each.success for each in journal.episodes(store, run)] == [True, False]
    assert store.number("SELECT count(*) FROM entries") == 1


@pytest.mark.parametrize("policy", OTHERS)
def test_a_run_that_is_not_to_learn_changes_nothing(store: Store, games: list[Path], policy: str) -> None:
    play(store, games[:8], policy, [False] * 4 + [True] * 4)
    before = shape(store, policy)
    run = play(store, games[:8], policy, [True, False] * 4, learn=False)

    assert shape(store, policy) == before
    assert any(answer.startswith("[") for answer in observed(store, run, "recall"))
    assert all(each.outcome for each in journal.episodes(store, run))


@pytest.mark.parametrize("policy", OTHERS)
def test_what_a_cut_step_wrote_is_taken_back(store: Store, games: list[Path], policy: str) -> None:
    play(store, games[:8], policy, [False] * 4 + [True] * 4)
    before = shape(store, policy)
    episode = Play(store)
    memory = load_policy(policy)
    experience = memory.open(store, episode.id, "alfworld", "house-a", True)
    recalled = experience.recall("pillow put cool pick and place look", 1).entries
    experience.note("the kettle is at shelf 1", 1, "You see it.")
    assert sum(entry(store, number).recalled for number in recalled) > 0
    assert shape(store, policy) != before

    memory.open(store, episode.id, "alfworld", "house-a", True)

    assert shape(store, policy) == before
    assert bank(store, policy).items(episode=episode.id) == bank(store, policy).items()


def test_an_episode_whose_curator_failed_is_closed_once_and_learnt_once(store: Store, games: list[Path]) -> None:
    few = games[:6:2]
    last = tasks_of(few)[2].name
    broken = ExpelMemory(ScriptedModel.of({last: ["add: look around first"]}))  # no `done`: the script is exhausted
    scripts = {task.name: script(game, True) for task, game in zip(tasks_of(few), few, strict=True)}
    run = play(store, few, broken, [True] * 3, scripts=scripts)
    failed = journal.episodes(store, run)[2]
    assert (failed.outcome, "number 2 in the script" in str(failed.fault)) == (None, True)
    assert (len(bank(store, "expel").items("success")), bank(store, "expel").items("insight")) == (2, [])

    mended = ExpelMemory(ScriptedModel.of({last: ["add: look around first", "done"]}))
    tasks, settings, _ = recorded_run(store, run)
    for _ in range(2):
        Run(store, run, settings, ScriptedModel.of(scripts), Unwatched(), memory=mended).play(tasks)

    assert [each.outcome for each in journal.episodes(store, run)] == ["won"] * 3
    assert len(bank(store, "expel").items("success")) == 3
    assert [(item.entry.text, item.importance) for item in bank(store, "expel").items("insight")] == [
        ("look around first", 2)
    ]


def test_results_say_which_curator_there_was() -> None:
    model = ScriptedModel.of(["done"], "a-script")
    for name in CURATED:
        assert fingerprint(load_policy(name), None) == {"experience": name, "curator": STAND_IN}
        assert fingerprint(load_policy(name, model), model) == {"experience": name, "curator": {"script": "a-script"}}
    for name in ("append", "bpe", "none"):
        assert fingerprint(load_policy(name), None) == {"experience": name}
        with pytest.raises(NoCurator, match=f"The memory policy {name} has no curator"):
            load_policy(name, model)


def test_an_unknown_policy_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownPolicy, match="append, bpe, expel, none, reasoningbank, skillos, skillrl; found 'x'"):
        load_policy("x")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with a policy that works and one that doesn't."""
    info = tmp_path / "parrot-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[evoharness.experience]\nparrot = parrot_memory:Parrot\nbroken = parrot_memory:Missing\n"
    )
    (tmp_path / "parrot_memory.py").write_text(
        "from evoharness_cli.experience.policies.none import NoMemory\n"
        "from evoharness_cli.harness import Answer\n"
        "class Parrot(NoMemory):\n"
        "    name = 'parrot'\n"
        "    def open(self, store, episode, scope, world, learn):\n"
        "        return self\n"
        "    def recall(self, query, step):\n"
        "        return Answer(f'{query}?')\n"
        "    def note(self, insight, step, because):\n"
        "        return insight\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("installed")
def test_an_installed_package_adds_a_policy(store: Store, games: list[Path]) -> None:
    assert {"parrot", "bpe"} < set(names())
    run = play(store, games[:1], "parrot", [True])

    assert observed(store, run, "recall") == ["pillow 1?"]
    with pytest.raises(BrokenPolicy, match="The memory policy broken of parrot_memory:Missing can't be imported"):
        load_policy("broken")
