"""An evaluation on the nodes of a Ray cluster finds what it finds here, also where nodes are lost on the way."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from evoharness_cli.cli.app import app
from evoharness_cli.cluster.connection import connected
from evoharness_cli.cluster.places import HERE, Place
from evoharness_cli.evaluation.bank_choice import Choice, prepare
from evoharness_cli.evaluation.contenders import Contender
from evoharness_cli.evaluation.evaluate import begin, evaluation_runs, play
from evoharness_cli.evaluation.results import results
from evoharness_cli.experience import journal
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import OutsideFault, Step, WrongUsage
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.play import Result
from evoharness_cli.runs.settings import Method, RunSettings
from evoharness_cli.runs.task import Task

ORACLE = Path(__file__).parents[1] / "scripts" / "alfworld-oracle.yaml"
GAMES = ["put-cd", "look-at-book", "put-remotecontrol", "heat-egg"]
BANKED = 1
"""The number of the bank's only entry."""


class Silent:
    """Counts the episodes that ended."""

    def __init__(self) -> None:
        self.results: list[Result] = []

    def began(self, label: str, seed: int, done: int, won: int, of: int) -> None:
        pass

    def ended(self, result: Result) -> None:
        self.results.append(result)


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replies that win the games; in each something is noted first, and recalled later."""
    replies = yaml.safe_load(ORACLE.read_text())
    told = {
        game: [f"note [things for {game} are somewhere]", *replies[game][:3], "recall [things]", *replies[game][3:]]
        for game in GAMES
    }
    counting = ["note [counters count]", "press button 1", "commit [press three times]", "recall [counters]"]
    counting += ["press button 1", "track [button 1]", "press button 1"]
    told |= {"dangerous-host": counting, "dangerous-node": counting}
    path = tmp_path_factory.mktemp("script") / "script.yaml"
    path.write_text(yaml.safe_dump(told))
    return path


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bank") / "bank.db"
    with closing(Store.open(path)) as store:
        add_entry(store, "note", "things are mostly on shelves", "alfworld")
    return path


def repeatable(step: Step) -> Step:
    """Return a step without its times, and without the rows that an episode's own notes have in the store."""
    recalled = tuple(number for number in step.recalled if number == BANKED)
    return replace(step, recalled=recalled, model_seconds=0.0, environment_seconds=0.0, harness_seconds=0.0)


def evaluate(out: Path, tasks: list[Task], script: Path, bank: Path, place: Place, *methods: Method) -> dict[str, Any]:
    """Play the tasks; return every step, and the table, without what takes another time when it is played again."""
    contenders = [
        Contender(method.value, RunSettings(f"scripted:{script}", method=method), {}, None) for method in methods
    ]
    prepare(out, Choice(file=bank))
    begin(out, tasks, contenders, [0], place=place)
    watcher = Silent()
    play(out, 4, watcher, place=place)
    assert [result.fault for result in watcher.results] == [None] * len(methods) * len(tasks)
    with closing(Store.open(out)) as store:
        return {
            "steps": [
                [repeatable(step) for step in steps]
                for planned in evaluation_runs(store)
                for episode in journal.episodes(store, planned.run)
                for steps in [journal.steps(store, episode.id)]
            ],
            "table": [
                {key: value for key, value in asdict(method).items() if not key.endswith("_seconds")}
                for method in results(store)[0]
            ],
            "compared": results(store)[1],
            "stores": store.number("SELECT count(*) FROM entries WHERE status = 'active'"),
        }


def test_the_same_is_found_on_a_cluster(cluster: str, script: Path, bank: Path, tmp_path: Path) -> None:
    tasks = find_tasks(GAMES)
    methods = (Method.REACT, Method.BPE)
    here = evaluate(tmp_path / "here.db", tasks, script, bank, HERE, *methods)
    with connected(cluster) as nodes:
        there = evaluate(tmp_path / "there.db", tasks, script, bank, nodes, *methods)

    assert there == here
    react, bpe = here["table"]
    assert (react["n"], react["successes"], bpe["n"], bpe["successes"]) == (4, 4, 4, 4)
    played: list[list[Step]] = here["steps"][4:]
    # Whichever of them noted first, each has the number that it would have alone.
    assert [steps[1].observation for steps in played] == ["noted as [2]"] * 4


def test_the_same_is_found_where_workers_are_lost(cluster: str, script: Path, bank: Path, tmp_path: Path) -> None:
    markers = {lost: tmp_path / lost for lost in ("host", "node")}
    for lost, marker in markers.items():
        command = [sys.executable, str(Path(__file__).with_name("dangerous.py")), str(marker), lost]
        task = {"environment": {"name": "process", "command": command}}
        (tmp_path / f"dangerous-{lost}.yaml").write_text(yaml.safe_dump(task))
        marker.touch()
    tasks = find_tasks([*GAMES[:3], *(str(tmp_path / f"dangerous-{lost}.yaml") for lost in markers)])
    here = evaluate(tmp_path / "here.db", tasks, script, bank, HERE, Method.BPE)
    for marker in markers.values():
        marker.unlink()
    with connected(cluster) as nodes:
        there = evaluate(tmp_path / "there.db", tasks, script, bank, nodes, Method.BPE)

    assert {lost: marker.read_text() for lost, marker in markers.items()} == {"host": "host", "node": "node"}
    assert there == here
    assert here["table"][0]["successes"] == 5


def test_what_cannot_be_joined_is_a_sentence() -> None:
    with pytest.raises(OutsideFault, match=r"No Ray cluster answers at 127.0.0.1:1"), connected("127.0.0.1:1"):
        pass
    with pytest.raises(WrongUsage, match="Expected --ray HOST:PORT, auto or local; nonsense"), connected("nonsense"):
        pass


def test_a_command_says_so_too(tmp_path: Path) -> None:
    command = ["eval", "put-cd", "--model", f"scripted:{ORACLE}", "--out", str(tmp_path / "out.db")]
    ended = CliRunner().invoke(app, [*command, "--ray", "127.0.0.1:1"])

    assert ended.exit_code == 3
    assert ended.stderr.startswith("error: No Ray cluster answers at 127.0.0.1:1: ")
    assert not (tmp_path / "out.db").exists()
