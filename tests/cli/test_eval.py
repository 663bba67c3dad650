"""`evoharness eval` compares methods on real games, in a store of its own, and goes on where it was stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from commands import ORACLE, Command, wait_for_steps
from terminal import Terminal

from evoharness_cli.evaluation.evaluate import evaluation_runs
from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store

SCRIPT = f"scripted:{ORACLE}"
GAMES = ("put-cd", "look-at-book", "put-remotecontrol")


def stable(printed: dict[str, Any]) -> list[dict[str, Any]]:
    """Return results without what differs from one playing to the next."""
    return [{key: value for key, value in each.items() if not key.endswith("_seconds")} for each in printed["results"]]


def test_methods_are_compared_on_the_same_games(evoharness: Command, tmp_path: Path) -> None:
    out = tmp_path / "evaluation.db"
    ended = evoharness(
        "eval", *GAMES, "--model", SCRIPT, "--method", "react", "--method", "bpe", "--method", "bpe,steps=4",
        "--out", out, "--parallel", 2, "--json",
    )  # fmt: skip
    react, bpe, short = ended.objects[0]["results"]

    assert ended.code == 0
    assert [each["method"] for each in (react, bpe, short)] == ["react", "bpe", "bpe,steps=4"]
    # The oracle's calls of the harness are answered that they are off, and the games are won all the same.
    assert (react["n"], react["successes"], bpe["successes"], short["successes"]) == (3, 3, 3, 0)
    assert bpe["success_rate"] == 1.0
    assert bpe["ci_low"] == pytest.approx(0.4385, abs=1e-4)
    assert short["ci_high"] == pytest.approx(0.5615, abs=1e-4)
    assert {kind: rate["n"] for kind, rate in bpe["by_type"].items()} == {
        "look_at_obj_in_light": 1,
        "pick_and_place_simple": 2,
    }
    assert bpe["steps_mean"] == pytest.approx((9 + 8 + 8) / 3)
    assert bpe["calls_by_verb"] == {"track": 0, "commit": 3, "recall": 1, "note": 0}
    assert bpe["calls_mean"] == 4
    assert (short["steps_mean"], short["played_as"]["limits"]["steps"]) == (4, 4)
    pairs = {(each["first"], each["second"]): each for each in ended.objects[0]["comparisons"]}
    assert pairs["bpe", "bpe,steps=4"]["only_first"] == 3
    assert pairs["bpe", "bpe,steps=4"]["p_value"] == 0.25

    shown = evoharness("eval", "--resume", "--out", out)
    assert "bpe against bpe,steps=4: 3 games only the first won, 0 only the second, p = 0.25" in shown.out
    assert len(evoharness("inspect", "runs", "--db", out, "--json").objects) == 3


def test_what_goes_on_counts_what_was_won_before(evoharness: Command, tmp_path: Path) -> None:
    out = tmp_path / "evaluation.db"
    assert evoharness("eval", *GAMES, "--model", SCRIPT, "--method", "bpe", "--out", out).code == 0

    again = [sys.executable, "-m", "evoharness_cli", "eval", "--resume", "--out", str(out)]
    with Terminal(again, (120, 30), {}) as terminal:
        assert terminal.ended() == 0
        assert b"3 won" in terminal.written


def test_the_bank_is_read_as_it_is_and_not_changed(evoharness: Command, db: Path, tmp_path: Path) -> None:
    evoharness("note", "eggs are often in the fridge", "--scope", "alfworld")
    before = known(evoharness, db)
    out = tmp_path / "evaluation.db"

    evoharness(
        "eval", "heat-egg", "--model", SCRIPT, "--method", "bpe", "--bank", db, "--out", out, "--seed", 0, "--seed", 1
    )

    with closing(Store.open(out)) as store:
        for planned in evaluation_runs(store):
            (episode,) = journal.episodes(store, planned.run)
            steps = journal.steps(store, episode.id)
            assert steps[1].observation == '[1] note: "eggs are often in the fridge"'
            assert steps[6].observation.startswith("noted as [")
    assert known(evoharness, db) == before == known(evoharness, out)
    assert evoharness("inspect", "experience", "--status", "active", "--json", "--db", out).objects[0]["id"] == 1
    assert evoharness("inspect", "experience", "fridge", "--scope", "alfworld", "--db", out).out.count("egg") == 1


def known(evoharness: Command, store: Path) -> dict[str, Any]:
    """Return what is known of the first entry, but for what is worded otherwise where its store isn't at hand."""
    return {**evoharness("inspect", "entry", 1, "--json", "--db", store).objects[0], "origins": None}


def test_a_killed_evaluation_gives_the_same_table(
    process: Callable[..., subprocess.Popen[str]], evoharness: Command, tmp_path: Path
) -> None:
    arguments = ("eval", "alfworld", "--limit", 4, "--model", SCRIPT, "--method", "bpe", "--method", "react", "--json")
    whole = evoharness(*arguments, "--out", tmp_path / "whole.db").objects[0]

    out = tmp_path / "killed.db"
    for number in range(2):
        begun = ("eval", "--resume", "--json") if number else arguments
        running = process(*begun, "--out", out, "--parallel", 2)
        wait_for_steps(out, 4 + 12 * number, running)
        running.send_signal(signal.SIGKILL if number else signal.SIGINT)
        _, err = running.communicate(timeout=60)
        assert "Traceback" not in err
    resumed = evoharness("eval", "--resume", "--out", out, "--json").objects[0]

    assert stable(resumed) == stable(whole)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Expected tasks to evaluate"),
        (["put-cd", "--method", "cot"], "Expected a method of react, bpe, panels"),
        (["put-cd", "--method", "bpe,colour=red"], "It may be followed by model, adapter, decode"),
        (["put-cd", "--method", "bpe,steps"], "Expected name=value"),
        (["put-cd", "--method", "bpe", "--method", "bpe"], "is there twice"),
        (["put-cd", "--bank", "nosuch.db"], "there is no nosuch.db"),
        (["--resume"], "Expected --out to name the evaluation"),
    ],
)
def test_what_cannot_be_evaluated_is_one_sentence(
    evoharness: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    out = tmp_path / "evaluation.db"
    ended = evoharness("eval", *arguments, "--out", out)

    assert (ended.code, len(ended.err.strip().splitlines())) == (2, 1)
    assert said in ended.err
    assert not out.exists()


def test_an_evaluation_is_not_overwritten(evoharness: Command, tmp_path: Path) -> None:
    out = tmp_path / "evaluation.db"
    out.write_text("something else")
    ended = evoharness("eval", "put-cd", "--model", SCRIPT, "--out", out)

    assert (ended.code, out.read_text()) == (2, "something else")


def test_an_empty_file_is_no_evaluation_and_takes_one(evoharness: Command, tmp_path: Path) -> None:
    out = tmp_path / "evaluation.db"
    out.touch()
    ended = evoharness("eval", "put-cd", "--model", SCRIPT, "--method", "bpe", "--out", out, "--json")

    assert (ended.code, ended.objects[0]["results"][0]["successes"]) == (0, 1)
    assert len(evoharness("inspect", "runs", "--db", out, "--json").objects) == 1
