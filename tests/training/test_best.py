"""Of a task's episodes the one that was won with the fewest calls, then the fewest steps, is kept word for word."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from evoharness_cli.cli.app import app
from evoharness_cli.evaluation.contenders import read_contender
from evoharness_cli.evaluation.evaluate import begin, play
from evoharness_cli.harness import VERBS
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.play import Result
from evoharness_cli.runs.settings import RunSettings

ORACLE = yaml.safe_load((Path(__file__).parents[1] / "scripts" / "alfworld-oracle.yaml").read_text())
LOST = ["look"] * 30
TASKS = ("put-cd", "heat-egg", "put-remotecontrol")


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout + result.stderr


def without_calls(replies: Sequence[str]) -> list[str]:
    return [reply for reply in replies if not reply.startswith(tuple(VERBS))]


class Scripts:
    """Puts each seed's replies into the script before it is played."""

    def __init__(self, file: Path, by_seed: Sequence[Mapping[str, Sequence[str]]]) -> None:
        self._file, self._by_seed = file, by_seed

    def began(self, label: str, seed: int, done: int, won: int, of: int) -> None:
        del label, done, won, of
        self._file.write_text(yaml.safe_dump(dict(self._by_seed[seed])))

    def ended(self, result: Result) -> None:
        assert result.fault is None


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """The store of an evaluation of three tasks with four seeds. The last task goes the same way every time."""
    said = {task: [*ORACLE[task]] for task in TASKS}
    cd, egg = without_calls(said["put-cd"]), without_calls(said["heat-egg"])
    by_seed = [
        said,
        {**said, "put-cd": ["look", *cd], "heat-egg": ["look", *egg]},
        {**said, "put-cd": cd, "heat-egg": LOST},
        {**said, "put-cd": LOST, "heat-egg": LOST},
    ]
    script, out = tmp_path / "script.yaml", tmp_path / "played.db"
    script.write_text(yaml.safe_dump(said))
    contender = read_contender("bpe", RunSettings(model=f"scripted:{script}"), {"steps": len(LOST)}, None)
    begin(out, find_tasks(TASKS), [contender], range(len(by_seed)))
    play(out, 1, Scripts(script, by_seed))
    return out


def test_the_best_of_each_task_is_kept(played: Path, tmp_path: Path) -> None:
    before = played.read_bytes()
    code, printed = run("train", "best", played, "--out", tmp_path / "best.jsonl")

    assert code == 0, printed
    cd, egg = (json.loads(line) for line in (tmp_path / "best.jsonl").read_text().splitlines())
    assert [turn["text"] for turn in cd["messages"] if turn["role"] == "assistant"] == without_calls(ORACLE["put-cd"])
    assert [turn["text"] for turn in egg["messages"] if turn["role"] == "assistant"] == [
        "look",
        *without_calls(ORACLE["heat-egg"]),
    ]
    for each in (cd, egg):
        assert (each["success"], each["verbs"], each["bank"]) == (True, {}, "evaluated")
        assert all(turn["loss"] for turn in each["messages"] if turn["role"] == "assistant")
    assert played.read_bytes() == before


def test_an_evaluation_of_several_methods_is_refused(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(yaml.safe_dump(ORACLE))
    options = ("--method", "bpe", "--method", "react", "--model", f"scripted:{tmp_path / 'script.yaml'}")
    run("eval", "put-cd", *options, "--bank", "none", "--out", tmp_path / "both.db")

    code, printed = run("train", "best", tmp_path / "both.db", "--out", tmp_path / "best.jsonl")

    assert code == 2
    assert "Expected an evaluation of one method, found bpe, react" in printed


def test_an_evaluation_in_which_nothing_was_won_has_no_best(tmp_path: Path) -> None:
    (tmp_path / "script.txt").write_text("\n".join(LOST))
    options = ("--method", "bpe", "--model", f"scripted:{tmp_path / 'script.txt'}", "--max-steps", len(LOST))
    run("eval", "put-cd", *options, "--bank", "none", "--out", tmp_path / "lost.db")

    code, printed = run("train", "best", tmp_path / "lost.db", "--out", tmp_path / "best.jsonl")

    assert code == 2
    assert "Expected episodes that were won in" in printed
    assert not (tmp_path / "best.jsonl").exists()
