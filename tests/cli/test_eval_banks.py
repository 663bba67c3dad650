"""An evaluation begins with a bank: a frozen one is only read, a live one learns in the order of the games."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from commands import Command, wait_for_steps

from evoharness_cli.environments.alfworld.games import read_game
from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.evaluation.evaluate import evaluation_runs
from evoharness_cli.evaluation.fingerprints import tasks_sha256
from evoharness_cli.experience import journal
from evoharness_cli.experience.exchange.banks import content, existing
from evoharness_cli.experience.exchange.export import content_hash, lines
from evoharness_cli.experience.store import Store
from evoharness_cli.runs.find import find_tasks

GAMES, EVERY = 7, 3
ADVICE = ("look into every cupboard twice", "keep out of the corridor")


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder of games, some of which share a house, with a script that recalls, plays and notes in each."""
    folder = tmp_path / "games"
    replies = {}
    for number, path in enumerate(make_games(GAMES, 5, folder, ["pick_and_place_simple"], ["kitchen"], 4)):
        game = read_game(path)
        thing = game.walkthrough[-1].split(" to ")[0].removeprefix("move ")
        name = f"{path.parent.parent.name}/{path.parent.name}"
        note = f"note [skill: {ADVICE[number % 2]}]"
        replies[name] = [
            f"recall [{thing}]",
            "recall [look into every cupboard]",
            "recall [keep out of the corridor]",
            *game.walkthrough[:-1],
            note,
            game.walkthrough[-1],
        ]
    (tmp_path / "script.json").write_text(json.dumps(replies))
    return folder


def arguments(games: Path, bank: str, out: Path) -> list[object]:
    script = f"scripted:{games.parent / 'script.json'}"
    return [
        "eval", games, "--model", script, "--method", "bpe", "--bank", bank, "--evolve-every", EVERY, "--parallel", 3,
        "--out", out, "--json",
    ]  # fmt: skip


def played(out: Path) -> list[list[str]]:
    """Return what each game was shown, in the order of the games."""
    with closing(Store.open(out)) as store:
        (planned,) = evaluation_runs(store)
        return [
            [step.observation for step in journal.steps(store, each.id) if step.kind != "note"]
            for each in journal.episodes(store, planned.run)
        ]


def taught(bank: str) -> list[dict[str, object]]:
    """Return what a bank holds, without the times."""
    times = ("created", "confirmed", "last_recalled", "at", "origins", "origin")
    with closing(Store.open(existing(bank).path)) as store:
        return [{key: value for key, value in line.items() if key not in times} for line in lines(store)]


def test_a_live_bank_learns_block_by_block_and_is_given_back(
    evoharness: Command, process: Callable[..., subprocess.Popen[str]], games: Path, tmp_path: Path
) -> None:
    for name in ("whole", "killed"):
        evoharness("banks", "create", name)
    begun = content(existing("whole")).hash

    whole = evoharness(*arguments(games, "whole", tmp_path / "whole.db")).objects[0]["results"][0]
    assert (whole["n"], whole["successes"]) == (GAMES, GAMES)
    assert whole["played_as"]["bank"] == {"name": "whole", "version": None, "hash": begun}
    assert whole["played_as"]["evolve_every"] == EVERY

    shown = played(tmp_path / "whole.db")
    for game in shown[:EVERY]:
        assert game[1:4] == ["nothing relevant in experience"] * 3
    for game in shown[EVERY:]:
        assert all(f'skill: "{advice}"' in answer for advice, answer in zip(ADVICE, game[2:4], strict=True))
    assert any("places for " in game[1] for game in shown[EVERY:])
    noted = [line for line in taught("whole") if line.get("text") in ADVICE]
    assert sorted(line["strength"] for line in noted) == [3, 4]  # type: ignore[type-var]
    with closing(Store.open(tmp_path / "whole.db")) as store:
        assert content_hash(store) == content(existing("whole")).hash
        assert store.number("SELECT count(*) FROM entries WHERE status = 'dropped'") == 0
        assert store.rows("PRAGMA foreign_key_check") == []

    out = tmp_path / "killed.db"
    for steps in (8, 34):
        running = process(
            *(arguments(games, "killed", out) if not out.exists() else ("eval", "--resume", "--out", out))
        )
        wait_for_steps(out, steps, running)
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=60)
        assert taught("killed") == []
    resumed = evoharness("eval", "--resume", "--out", out, "--json").objects[0]["results"][0]

    assert played(out) == shown
    assert taught("killed") == taught("whole")
    differ = ("_seconds", "played_as")
    assert {key: value for key, value in resumed.items() if not key.endswith(differ)} == {
        key: value for key, value in whole.items() if not key.endswith(differ)
    }

    evoharness("note", "added by hand", "--db", existing("killed").path)
    after = content(existing("killed")).hash
    assert evoharness("eval", "--resume", "--out", out).code == 0
    assert content(existing("killed")).hash == after


def test_a_bank_that_was_changed_meanwhile_is_left_as_it_is(evoharness: Command, games: Path, tmp_path: Path) -> None:
    evoharness("banks", "create", "trial")
    out = tmp_path / "out.db"
    script = games.parent / "script.json"
    replies = script.read_text()
    script.write_text("{}")
    assert evoharness(*arguments(games, "trial", out)).code == 3
    evoharness("note", "added by hand", "--db", existing("trial").path)
    script.write_text(replies)
    ended = evoharness("eval", "--resume", "--out", out)

    assert ended.code == 3
    assert "The bank trial has changed since the evaluation began, and was left as it is" in ended.err
    assert [line["text"] for line in taught("trial")] == ["added by hand"]
    assert "7" in ended.out


def test_a_frozen_bank_is_read_and_stated(evoharness: Command, games: Path, tmp_path: Path) -> None:
    evoharness("note", "look into every cupboard", "--scope", "alfworld", "--kind", "skill")
    frozen = evoharness("banks", "freeze", "kitchen", "--json").objects[0]
    file = Path(frozen["file"]).read_bytes()
    out = tmp_path / "out.db"
    script = f"scripted:{games.parent / 'script.json'}"
    ended = evoharness(
        "eval", games, "--limit", 2, "--model", script, "--method", "bpe", "--method", "react", "--bank", "kitchen@1",
        "--out", out, "--json",
    )  # fmt: skip
    bpe, _ = ended.objects[0]["results"]

    assert bpe["played_as"]["bank"] == {"name": "kitchen", "version": 1, "hash": frozen["hash"]}
    assert bpe["played_as"]["limited_from"] == GAMES
    assert bpe["played_as"]["needs"] == {"engine": "native"}
    assert Path(frozen["file"]).read_bytes() == file
    shown = evoharness("eval", "--resume", "--out", out, "--markdown").out
    assert "| bpe | 2 | 2 | 100.0% |" in shown
    assert f"bank kitchen@1 ({frozen['hash'][:12]})" in shown
    assert f"2 of {GAMES} tasks ({bpe['played_as']['tasks_sha256'][:12]})" in shown
    assert "- react: " not in shown.replace("- react against", "")


def test_games_that_change_are_not_gone_on_with(evoharness: Command, games: Path, tmp_path: Path) -> None:
    before = tasks_sha256(task.settled({}) for task in find_tasks([str(games)]))
    script = games.parent / "script.json"
    replies = script.read_text()
    script.write_text("{}")
    out = tmp_path / "out.db"
    evoharness("eval", games, "--model", f"scripted:{script}", "--method", "bpe", "--out", out)
    script.write_text(replies)
    game = next(games.rglob("*.tw-pddl"))
    game.write_text(game.read_text() + " ")
    ended = evoharness("eval", "--resume", "--out", out)

    assert tasks_sha256(task.settled({}) for task in find_tasks([str(games)])) != before
    assert (ended.code, "The files of the tasks have changed" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--bank", "nosuch"], "There is no bank nosuch; there are: trial"),
        (["--bank", "trial@1"], "There is no bank trial@1"),
        (["--evolve-every", "2"], "--evolve-every is for a live bank"),
        (["--bank", "trial", "--seed", "1", "--seed", "2"], "learns from one method with one seed"),
        (["--bank", "trial", "--method", "react"], "learns from one method with one seed"),
        (["--json", "--markdown"], "Expected one of --json and --markdown"),
    ],
)
def test_what_no_bank_can_do_is_one_sentence(
    evoharness: Command, tmp_path: Path, options: list[str], said: str
) -> None:
    evoharness("banks", "create", "trial")
    out = tmp_path / "out.db"
    ended = evoharness("eval", "put-cd", "--method", "bpe", *options, "--out", out)

    assert (ended.code, len(ended.err.strip().splitlines())) == (2, 1)
    assert said in ended.err
    assert not out.exists()
