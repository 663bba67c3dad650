"""Reinforcement learning on the embedded model: what an update leaves, and that a stopped run learns the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gguf import GGUFReader  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from evoharness_cli.cli import app as command_line  # noqa: E402
from evoharness_cli.environments.alfworld.generate import make_games  # noqa: E402
from evoharness_cli.experience import journal  # noqa: E402
from evoharness_cli.experience.store import Store  # noqa: E402
from evoharness_cli.harness import Decode, Transcript, WrongUsage  # noqa: E402
from evoharness_cli.models import resolve  # noqa: E402
from evoharness_cli.models.llama import LlamaModel  # noqa: E402
from evoharness_cli.runs.find import find_tasks  # noqa: E402
from evoharness_cli.runs.task import Task  # noqa: E402
from evoharness_cli.training.checkpoint import LOG, NoRun, RunFolder  # noqa: E402
from evoharness_cli.training.export import export_adapter  # noqa: E402
from evoharness_cli.training.grpo import GrpoSettings  # noqa: E402
from evoharness_cli.training.lora import LoraSettings  # noqa: E402
from evoharness_cli.training.machine import Machine  # noqa: E402
from evoharness_cli.training.reward import RewardSettings  # noqa: E402
from evoharness_cli.training.rl import draw, train  # noqa: E402
from evoharness_cli.training.rl_settings import (  # noqa: E402
    ADAPTER,
    REFERENCE,
    RlSettings,
    bank_file,
    begin,
    rollout_file,
    settings_of,
)
from evoharness_cli.training.sft import settings_of as sft_settings_of  # noqa: E402

app = command_line.app
MACHINE = Machine("cpu", "float32", 1)
SETTINGS = RlSettings(
    model="smollm2-135m",
    lora=LoraSettings(rank=4, alpha=8.0, layers=2),
    updates=2,
    games=1,
    group=4,
    rate=1e-3,
    context=1536,
    parallel=4,
    reward=RewardSettings(exploration=1.0),
    grpo=GrpoSettings(kl=0.0),
    seed=1,
)
TIMES = ("seconds", "written_tokens_a_second", "learnt_tokens_a_second")


@dataclass
class Heard:
    """What a run told; after so many steps it is to stop, and after its first update it is copied."""

    stop_after: int = 10_000
    copied: tuple[Path, Path] | None = None
    asked: int = 0
    updates: list[Mapping[str, Any]] = field(default_factory=list)

    def began(self, done: int, total: int, machine: Machine) -> None:
        self.began_at = (done, total, machine)

    def playing(self, update: int, episodes: int) -> None:
        self.latest = (update, episodes)

    def played(self) -> None:
        pass

    def learning(self, update: int) -> None:
        pass

    def updated(self, figures: Mapping[str, Any]) -> None:
        self.updates.append(figures)
        if self.copied and len(self.updates) == 1:
            shutil.copytree(*self.copied)

    def stop(self) -> bool:
        self.asked += 1
        return self.asked > self.stop_after


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    games = tmp_path_factory.mktemp("games")
    make_games(2, 7, games)
    return [task.settled({"steps": 4}, Decode.GRAMMAR) for task in find_tasks([str(games)])]


@dataclass(frozen=True)
class Trained:
    """A run of two updates that was never stopped, and a copy of it as it was after the first."""

    folder: RunFolder
    heard: Heard
    after_one: RunFolder
    first_adapter: Path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, tasks: list[Task]) -> Trained:
    place = tmp_path_factory.mktemp("trained")
    folder, after_one = RunFolder(place / "run"), RunFolder(place / "after one")
    begin(folder, SETTINGS, tasks, MACHINE)
    heard = Heard(copied=(folder.path, after_one.path))
    assert train(folder, heard)
    first_adapter = Path(shutil.copy(after_one.path / ADAPTER, place / "first.gguf"))
    return Trained(folder, heard, after_one, first_adapter)


def test_an_update_says_what_it_was(trained: Trained) -> None:
    first, second = trained.heard.updates
    assert (first["update"], second["update"]) == (1, 2)
    assert first["rate"] == SETTINGS.rate
    assert first["episodes"] == 4 * first["groups"]
    assert first["reward"] == pytest.approx(sum(first["terms"].values()))
    assert set(first["calls"]) == {"track", "commit", "recall", "note"}
    assert first["learnt"]["tokens"] > 0 and second["learnt"]["tokens"] > 0
    # What the engine found with quantised arithmetic the trainer finds, among the same tokens.
    assert 0 < first["learnt"]["mismatch"] < 0.1
    assert first["learnt"]["ratio"] == 0.0
    log = [json.loads(line) for line in (trained.folder.path / LOG).read_text().splitlines()]
    assert log == trained.heard.updates


def test_the_episodes_are_runs_in_a_store(trained: Trained) -> None:
    with closing(Store.open(rollout_file(trained.folder, 2))) as store:
        runs = journal.runs(store)
        assert [run.status for run in runs if run.settings["evaluation"]["update"] == 2] == ["finished"] * 4
        assert len({run.settings["seed"] for run in runs}) == len(runs)
        # The bank brings the episode that the first update learnt from.
        learnt = [run for run in runs if run.settings["evaluation"]["update"] == 1]
        assert len(learnt) == 1 and learnt[0].episodes >= 1
        episode = journal.episodes(store, runs[0].id)[0]
        turns = store.number("SELECT count(*) FROM turns WHERE episode = ?", [episode.id])
        assert turns == episode.steps


def test_the_policy_moves_and_the_engine_plays_it(trained: Trained) -> None:
    one, two = trained.after_one.load(), trained.folder.load()
    assert one is not None and two is not None and (one.update, two.update) == (1, 2)
    assert any(not torch.equal(one.weights[name], two.weights[name]) for name in one.weights)
    with closing(Store.open(rollout_file(trained.folder, 2))) as store:
        played = journal.runs(store, 1)[0].settings["fingerprint"]["adapter"]
        began = json.loads(store.rows("SELECT settings FROM runs ORDER BY id")[0]["settings"])["fingerprint"]["adapter"]
    assert played["file"] == ADAPTER
    assert played["sha256"] != began["sha256"]


def test_a_run_that_was_stopped_learns_the_same(trained: Trained) -> None:
    folder, stopped = trained.after_one, Heard(stop_after=5)
    assert not train(folder, stopped, stopped.stop)
    assert stopped.updates == []
    with closing(Store.open(rollout_file(folder, 2))) as store:
        assert 0 < store.number("SELECT count(*) FROM turns") < 16
    done = CliRunner().invoke(app, ["train", "rl", "--resume", str(folder.path), "--json"])
    assert done.exit_code == 0, done.output
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert (said[0]["began"], said[0]["updates"]) == (1, 2)
    straight, resumed = trained.folder.load(), folder.load()
    assert straight is not None and resumed is not None
    assert all(torch.equal(straight.weights[name], resumed.weights[name]) for name in straight.weights)
    second = {key: value for key, value in trained.heard.updates[1].items() if key not in TIMES}
    again = {key: value for key, value in said[1].items() if key not in TIMES}
    for figures in (second, again):
        figures["learnt"] = {key: value for key, value in figures["learnt"].items() if key != "seconds"}
    assert again == second


def test_a_few_updates_raise_the_reward_on_their_game(tmp_path: Path, tasks: list[Task]) -> None:
    # Four steps are too few to win; what can be learnt in them is to do what is possible, which each step shows.
    settings = replace(
        SETTINGS,
        lora=LoraSettings(rank=8, alpha=32.0, layers=6),
        updates=3,
        group=12,
        rate=4e-3,
        step_credit=1.0,
        discount=0.0,
        reward=RewardSettings(diversity=0.0, repeat=0.0, invalid=1.0),
    )
    folder, heard = RunFolder(tmp_path / "run"), Heard()
    begin(folder, settings, tasks[:1], MACHINE)
    assert train(folder, heard)
    assert [figures["rate"] for figures in heard.updates] == pytest.approx([4e-3, 4e-3, 2.2e-3])
    before, *_, after = (figures["reward"] for figures in heard.updates)
    assert before < -0.4
    assert after > before / 2


def test_a_run_is_begun_from_the_command_line(tmp_path: Path, tasks: list[Task]) -> None:
    game, run = str(tasks[0].needs["game"]), tmp_path / "run"
    options = ["--updates", "1", "--games", "1", "--group", "2", "--refill", "1", "--max-steps", "1", "--layers", "1"]
    priced = ["--price", "recall=0.1", "--kl", "0", "--context", "1024", "--parallel", "2", "--threads", "1"]
    done = CliRunner().invoke(
        app, ["train", "rl", game, "--out", str(run), *options, *priced, "--precision", "float32"]
    )
    assert done.exit_code == 0, done.output
    assert "update 1: reward" in done.stdout
    settings = settings_of(RunFolder(run).settings())
    assert (settings.reward.verb_prices, settings.reward.anneal_updates, settings.lora.layers) == (
        {"recall": 0.1},
        1,
        1,
    )
    assert (run / ADAPTER).exists() and bank_file(RunFolder(run), 1).exists()


def test_what_cant_be_learnt_from_is_a_sentence(tmp_path: Path, tasks: list[Task], trained: Trained) -> None:
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(WrongUsage, match="at least the 8 games"):
        begin(folder, replace(SETTINGS, games=8), tasks, MACHINE)
    with pytest.raises(WrongUsage, match="Forks need a call"):
        begin(folder, replace(SETTINGS, forks=1), [replace(task, decode="free") for task in tasks], MACHINE)
    with pytest.raises(NoRun, match="found no settings of one"):
        begin(folder, replace(SETTINGS, start=str(tmp_path)), tasks, MACHINE)
    with pytest.raises(NoRun, match="found one of another kind: go on with train rl"):
        sft_settings_of(trained.folder.settings())
    with pytest.raises(NoRun, match="--resume"):
        begin(trained.folder, SETTINGS, tasks, MACHINE)
    for arguments, said in (
        (["alfworld:training"], "Expected tasks and --out"),
        (["--resume", "x", "--lr", "1"], "leave out --lr"),
        (["x", "--out", "y", "--from", "z", "--rank", "4"], "--from brings an adapter"),
        (["x", "--out", "y", "--price", "recall"], "Expected a price such as"),
    ):
        refused = CliRunner().invoke(app, ["train", "rl", *arguments])
        assert refused.exit_code == 2
        assert said in " ".join(refused.stderr.split())


def test_a_run_goes_on_from_what_another_one_learnt(tmp_path: Path, tasks: list[Task], trained: Trained) -> None:
    folder = RunFolder(tmp_path / "run")
    begin(folder, replace(SETTINGS, start=str(trained.folder.path), lora=LoraSettings()), tasks, MACHINE)
    assert settings_of(folder.settings()).lora == SETTINGS.lora
    learnt, reference = trained.folder.load(), torch.load(folder.path / REFERENCE)
    assert learnt is not None
    assert all(torch.equal(reference[name], weights) for name, weights in learnt.weights.items())


def test_what_learnt_another_form_of_transcripts_has_to_be_taught_this_one_first(
    tmp_path: Path, tasks: list[Task], trained: Trained
) -> None:
    older = tmp_path / "older"
    older.mkdir()
    shutil.copy(trained.folder.path / "checkpoint.pt", older)
    (older / "settings.json").write_text(json.dumps({**trained.folder.settings(), "format": "older"}))

    with pytest.raises(WrongUsage, match="teach it this one by train sft"):
        begin(RunFolder(tmp_path / "run"), replace(SETTINGS, start=str(older)), tasks, MACHINE)


def test_what_was_learnt_is_exported(tmp_path: Path, trained: Trained) -> None:
    export_adapter(trained.folder, tmp_path / "adapter.gguf")
    exported, played = (GGUFReader(each).tensors for each in (tmp_path / "adapter.gguf", trained.folder.path / ADAPTER))
    assert [tensor.name for tensor in exported] == [tensor.name for tensor in played] != []
    assert all((one.data == other.data).all() for one, other in zip(exported, played, strict=True))


def test_the_games_of_an_update_are_the_next_of_the_epoch_and_others_to_play_instead(tasks: list[Task]) -> None:
    many = [replace(tasks[0], name=str(number)) for number in range(7)]
    settings = replace(SETTINGS, games=3, refill=2)
    drawn = [[task.name for task in draw(many, settings, update)] for update in (1, 2, 3, 4)]
    assert sorted([*drawn[0][:3], *drawn[1][:3], *drawn[2][:1]]) == [task.name for task in many]
    assert all(len(set(names)) == len(names) == 6 for names in drawn)
    assert drawn == [[task.name for task in draw(many, settings, update)] for update in (1, 2, 3, 4)]


def test_another_adapter_takes_the_place_of_the_one_so_far(trained: Trained) -> None:
    first, second, base = trained.first_adapter, trained.folder.path / ADAPTER, resolve(SETTINGS.model)
    transcript = Transcript("You are in a kitchen.", "You see a mug 1 and a sink 1.")
    with LlamaModel(base, adapter=first, context=512) as model:
        session = model.session("")
        before = session.sample(transcript, None, 6, 0)
        model.attach(second)
        swapped = session.sample(transcript, None, 6, 0)
        assert swapped.evaluated_tokens == len(swapped.prompt)
        print_of_second = model.fingerprint["adapter"]
    with LlamaModel(base, adapter=second, context=512) as model:
        fresh = model.session("").sample(transcript, None, 6, 0)
        assert model.fingerprint["adapter"] == print_of_second
    assert swapped.tokens == fresh.tokens
    assert swapped.tokens != before.tokens
