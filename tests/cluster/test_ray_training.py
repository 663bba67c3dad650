"""A policy whose episodes are played on a Ray cluster says and learns what it does here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_model_file import write_model  # noqa: E402

from evoharness_cli.cluster.connection import connected  # noqa: E402
from evoharness_cli.cluster.places import HERE, Place  # noqa: E402
from evoharness_cli.environments.alfworld.generate import make_games  # noqa: E402
from evoharness_cli.experience import journal  # noqa: E402
from evoharness_cli.experience.store import Store  # noqa: E402
from evoharness_cli.harness import Decode  # noqa: E402
from evoharness_cli.runs.find import find_tasks  # noqa: E402
from evoharness_cli.training.checkpoint import LOG, RunFolder  # noqa: E402
from evoharness_cli.training.lora import LoraSettings  # noqa: E402
from evoharness_cli.training.machine import Machine  # noqa: E402
from evoharness_cli.training.recording import read_turns  # noqa: E402
from evoharness_cli.training.reward import RewardSettings  # noqa: E402
from evoharness_cli.training.rl import train  # noqa: E402
from evoharness_cli.training.rl_settings import RlSettings, begin, rollout_file  # noqa: E402

TIMES = ("seconds", "written_tokens_a_second", "learnt_tokens_a_second")


class Silent:
    """Hears nothing."""

    def began(self, done: int, total: int, machine: Machine) -> None:
        pass

    def playing(self, update: int, episodes: int) -> None:
        pass

    def played(self) -> None:
        pass

    def learning(self, update: int) -> None:
        pass

    def updated(self, figures: Mapping[str, Any]) -> None:
        pass


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> RlSettings:
    """Two updates, the second by the adapter that the first made, with a fork in each."""
    return RlSettings(
        model=str(write_model(tmp_path_factory.mktemp("model") / "tiny.gguf")),
        lora=LoraSettings(rank=2, alpha=4.0),
        updates=2,
        games=1,
        group=3,
        rate=1e-2,
        context=2048,
        parallel=3,
        forks=1,
        branches=1,
        reward=RewardSettings(exploration=1.0),
        seed=3,
    )


@dataclass(frozen=True)
class Found:
    """What is the same, wherever it was played, and what is close: here widths are tiny, and sums aren't ordered."""

    log: list[dict[str, Any]]
    replies: list[tuple[Any, ...]]
    """Of the first update: run, game, what was asked and the tokens that answered."""
    learnt: list[float]
    likely: list[float]


def trained(folder: RunFolder, settings: RlSettings, games: Path, place: Place) -> Found:
    """Train at a place."""
    tasks = [task.settled({"steps": 4}, Decode.GRAMMAR) for task in find_tasks([str(games)])]
    begin(folder, settings, tasks, Machine("cpu", "float32", 1))
    assert train(folder, Silent(), place=place)
    log = [json.loads(line) for line in (folder.path / LOG).read_text().splitlines()]
    learnt = [event.pop("learnt") for event in log]
    with closing(Store.open(rollout_file(folder, 1))) as store:
        episodes = [each for run in journal.runs(store) for each in journal.episodes(store, run.id)]
        turns = [
            (each.run, each.number, turn)
            for each in sorted(episodes, key=lambda each: (each.run, each.number))
            for turn in read_turns(store, each.id)
        ]
    return Found(
        [{name: value for name, value in event.items() if name not in TIMES} for event in log],
        [(run, game, turn.prompt, [each.token for each in turn.choices]) for run, game, turn in turns],
        [value for each in learnt for name, value in each.items() if name != "seconds"],
        [each.log_probability for _, _, turn in turns for each in turn.choices],
    )


def test_the_same_is_played_and_learnt_on_a_cluster(cluster: str, settings: RlSettings, tmp_path: Path) -> None:
    games = tmp_path / "games"
    make_games(2, 7, games)
    here = trained(RunFolder(tmp_path / "here"), settings, games, HERE)
    with connected(cluster) as nodes:
        there = trained(RunFolder(tmp_path / "there"), settings, games, nodes)

    assert there.replies == here.replies
    assert there.likely == pytest.approx(here.likely, abs=1e-4)
    assert there.log == here.log
    assert there.learnt == pytest.approx(here.learnt, rel=1e-3, abs=1e-4)
    # It isn't the same because nothing happened.
    assert any(event["forks"] for event in here.log)
    assert here.log[0]["reward"] != here.log[1]["reward"]
