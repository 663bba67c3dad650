"""What a report is about is told by what the word names, and each kind shows what it is made of."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from report_making import ORACLE, played
from report_reading import named, table

from evoharness_cli.evaluation.contenders import read_contender
from evoharness_cli.evaluation.evaluate import begin
from evoharness_cli.experience.errors import NotAStore, NotFound
from evoharness_cli.harness import WrongUsage
from evoharness_cli.report import opened, write_report
from evoharness_cli.report.content import Link
from evoharness_cli.report.outcomes import most_frequent
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.settings import RunSettings


def test_an_evaluation_shows_its_methods_side_by_side(evaluation: Path) -> None:
    with opened(str(evaluation), named(evaluation)) as subject:
        assert (subject.title, subject.name) == ("Evaluation compared", "compared")
        assert subject.sections[0].title == "Comparison"
        methods = {each["method"]: each for each in table(subject, "Methods")}
        kinds = {each["type"]: each for each in table(subject, "Won by type")}
        pairs = {(each["first"], each["second"]): each for each in table(subject, "Paired")}
        stated = {each[""]: each for each in table(subject, "How they were played")}
        plots = {plot.title: plot for plot in subject.sections[0].plots}
        assert len(subject.trajectories.episodes) == 9

    assert (methods["bpe"]["won"], methods["bpe"]["rate"]) == ("3 of 3", "100.0%")
    assert methods["bpe"]["95% interval"] == "43.9% to 100.0%"
    assert (methods["bpe"]["steps"], methods["bpe"]["commit"], methods["bpe"]["recall"]) == ("8.3", "3.00", "1.00")
    assert methods["bpe,steps=4"]["won"] == "0 of 3"
    assert kinds["pick_and_place_simple"] == {
        "type": "pick_and_place_simple", "react": "2 of 2 (100%)", "bpe": "2 of 2 (100%)", "bpe,steps=4": "0 of 2 (0%)",
    }  # fmt: skip
    short = pairs["bpe", "bpe,steps=4"]
    assert (short["only first won"], short["only second won"], short["difference"]) == ("3", "0", "+100.0%")
    assert short["p (McNemar)"] == "0.25"
    assert stated["limits"]["bpe,steps=4"].startswith("4 steps")
    assert stated["temperature"]["react"] == "0.0"
    assert "bpe 100.0% (43.9% to 100.0%)" in plots["Success, with 95% intervals"].says
    assert "look_at_obj_in_light: react 100%" in plots["Success by type of task"].says
    assert plots["Steps an episode"].says.startswith("react: 4.33 actions, 0.00 track, 3.00 commit, 1.00 recall")
    assert "bpe 3, bpe,steps=4 0" in plots["Games that only one of two won"].says


def test_a_store_shows_outcomes_and_what_it_learnt(learnt: Path) -> None:
    with opened(None, named(learnt)) as subject:
        assert [section.title for section in subject.sections] == ["Outcomes", "Experience"]
        (egg,) = [each for each in table(subject, "By type") if each["type"] == "pick_heat_then_place_in_recep"]
        (useful, *_) = table(subject, "Most useful")
        growth = {plot.title: plot.says for plot in subject.sections[1].plots}
        keys = [each.key for each in subject.trajectories.episodes]

    assert egg["won"] == "3 of 3 (100%)"
    assert useful["what it says"] == "the egg is in fridge 1"
    # Each of two later episodes saw it to be so, and won with a growing chance: 1 - 2/3 and 1 - 3/4 by then.
    assert [link.text for link in useful["why"]] == [
        "episode 3: helped by 0.33: saw egg 1 at fridge 1",
        "episode 5: helped by 0.25: saw egg 1 at fridge 1",
    ]
    assert [link.episode for link in useful["why"] if isinstance(link, Link)] == ["3", "5"]
    assert set(keys) == {"1", "2", "3", "4", "5", "6"}
    assert growth["Entries that can be recalled"].endswith(f"to {len_active(learnt)}")


def len_active(path: Path) -> int:
    """Return how many entries can be recalled."""
    with named(path)() as store:
        return store.number("SELECT count(*) FROM entries WHERE status = 'active'")


def test_a_run_shows_its_own_episodes_only(learnt: Path) -> None:
    with opened("2", named(learnt)) as subject:
        assert (subject.title, subject.name) == ("Run 2", "run-2")
        assert [each.episode.run for each in subject.trajectories.episodes] == [2, 2]
        assert subject.remarks[0].startswith("finished")
        assert "method bpe" in subject.remarks[1]


UPDATE = {
    "update": 1, "reward": 3.5, "terms": {"won": 5.0, "cost": 0.0}, "success": 0.5, "steps": 9.5,
    "calls": {"track": 0.0, "commit": 3.0, "recall": 1.0, "note": 0.5}, "invalid": 0.5, "episodes": 4,
    "bank": {"entries": 7, "merged": 1, "removed": 2}, "learnt": {"kl": 0.002, "entropy": 0.4},
    "written_tokens_a_second": 80.0, "learnt_tokens_a_second": 120.0,
}  # fmt: skip


@pytest.fixture
def trained(tmp_path: Path, learnt: Path) -> Path:
    """The folder of a run of reinforcement learning, with the episodes of its second update and a bank."""
    folder = tmp_path / "second"
    (folder / "rollouts").mkdir(parents=True)
    (folder / "banks").mkdir()
    shutil.copy(learnt, folder / "banks" / "00002.db")
    settings = RunSettings(ORACLE, learn=False)
    # A bank brings an episode of the update before along.
    for update, game in ((1, "put-cd"), (2, "heat-egg")):
        said = replace(settings, evaluation={"update": update, "part": "rollouts"})
        played(folder / "rollouts" / "00002.db", (game,), said)
    after = {**UPDATE, "update": 2, "success": 0.75, "calls": {**UPDATE["calls"], "commit": 1.5}, "learnt": None}
    (folder / "log.jsonl").write_text(f'{json.dumps(UPDATE)}\n{json.dumps(after)}\n{{"update": 3, "rew')
    (folder / "settings.json").write_text(json.dumps({"rl": {"model": "models/smollm2-135m", "games": 8, "lora": {}}}))
    return folder


@pytest.mark.parametrize("named_file", ["", "log.jsonl"])
def test_a_training_run_shows_its_curves_its_bank_and_its_episodes(
    trained: Path, learnt: Path, named_file: str
) -> None:
    with opened(str(trained / named_file), named(learnt)) as subject:
        assert (subject.title, subject.remarks) == ("Training second", ["model smollm2-135m; games 8"])
        assert [section.title for section in subject.sections] == ["Training", "Experience"]
        says = {plot.title: plot.says for plot in subject.sections[0].plots}
        (first, second) = table(subject, "2 of 2 updates")
        (shown,) = subject.trajectories.episodes

    assert says["Success"] == "share of episodes won from 0.5 to 0.75"
    assert "commit from 3 to 1.5" in says["Calls an episode, by verb"]
    assert says["Bank"] == "entries from 7 to 7; merged from 1 to 1; removed from 2 to 2"
    assert says["KL to what it began as"] == "nats a token from 0.002 to 0.002"
    assert says["Tokens a second"] == "written while playing from 80 to 80; learnt from 120 to 120"
    assert says["Terms of the reward"] == "won from 5 to 5"
    assert (first["KL"], second["KL"], second["success"]) == ("0.002", "", "0.75")
    assert (shown.key, shown.method) == ("00002-2", "update 2, rollouts")


def test_a_run_by_demonstrations_shows_loss_and_rate(tmp_path: Path, learnt: Path) -> None:
    updates = [
        {"update": number, "loss": 2 / number, "rate": 1e-4, "norm": 1.0, "targets": 9, "tokens": 50, "seconds": 0.5}
        for number in range(1, 61)
    ]
    looked = {"validation": True, "update": 50, "loss": 0.5, "accuracy": 0.875, "targets": 9, "seconds": 1.0}
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, [*updates, looked])))
    with opened(str(tmp_path), named(learnt)) as subject:
        says = {plot.title: plot.says for plot in subject.sections[0].plots}
        rows = table(subject, "25 of 60 updates")
        (look,) = table(subject, "1 of 1 looks")
        assert not subject.trajectories.episodes

    assert says["Loss"] == "nats a token from 2 to 0.03333"
    assert says["Learning rate"] == "rate from 0.0001 to 0.0001"
    assert says["Tokens a second"] == "learnt from 100 to 100"
    assert (rows[0]["update"], rows[-1]["update"], rows[-1]["loss"]) == ("1", "60", "0.03333")
    assert look == {"update": "50", "loss": "0.5", "accuracy": "0.875"}


def test_what_is_none_of_these_is_said_in_a_sentence(tmp_path: Path, learnt: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of the kind, but long enough to be one")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "log.jsonl").touch()
    for what, error, words in (
        (tmp_path, WrongUsage, "found no log.jsonl in it"),
        (tmp_path / "empty", WrongUsage, "found none yet"),
        (tmp_path / "nowhere", WrongUsage, "none of these"),
        (tmp_path / "notes.txt", NotAStore, "not an SQLite database"),
        ("99", NotFound, "There is no run 99"),
    ):
        with pytest.raises(error, match=words), opened(str(what), named(learnt)):
            pass


def test_an_evaluation_that_has_just_begun_is_shown(tmp_path: Path) -> None:
    out = tmp_path / "begun.db"
    begin(out, find_tasks(["put-cd"]), [read_contender("react", RunSettings(ORACLE), {}, None)], [0])
    with opened(str(out), named(out)) as subject:
        assert subject.sections[0].remarks == ["react: 0 of 1 episodes have ended."]
        assert table(subject, "Methods")[0]["95% interval"] == "0.0% to 100.0%"
        assert not subject.trajectories.episodes
        write_report(subject, tmp_path / "begun.html")


def test_of_many_types_of_task_the_most_frequent_are_drawn() -> None:
    counts = {f"kind {number:03}": 2 for number in range(40)} | {"rare": 1, "a frequent one": 3}
    assert most_frequent(counts) == ["a frequent one", *(f"kind {number:03}" for number in range(29))]
