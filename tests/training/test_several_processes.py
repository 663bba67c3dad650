"""Two processes learn what one learns, on the CPU, and what they share."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from demonstrated import short, write  # noqa: E402
from tiny_model_file import write_model  # noqa: E402
from together import Heard, train_together  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from evoharness_cli.cli.app import app  # noqa: E402
from evoharness_cli.harness import OutsideFault, WrongUsage  # noqa: E402
from evoharness_cli.training import lora  # noqa: E402
from evoharness_cli.training.checkpoint import LOG, Checkpoint, RunFolder  # noqa: E402
from evoharness_cli.training.machine import Machine  # noqa: E402
from evoharness_cli.training.processes import ALONE, Processes, leading  # noqa: E402
from evoharness_cli.training.sft import SftSettings, begin, train  # noqa: E402

SETTINGS = SftSettings("", "", lora=lora.LoraSettings(rank=4, alpha=8.0), rate=3e-3, batch=4, epochs=3, seed=7)
"""Of five demonstrations: updates of four and of one, so that a process has nothing to do in every other one."""
TWO = Machine("cpu", "float32", 1, processes=2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model") / "tiny.gguf")


def kept(folder: Path) -> Checkpoint:
    """Return the checkpoint of a run."""
    found = RunFolder(folder).load()
    assert found is not None
    return found


def logged(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's log without its times."""
    events = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return [{key: value for key, value in event.items() if key != "seconds"} for event in events]


def test_two_processes_learn_what_one_does_and_resume_exactly(model: Path, tmp_path: Path) -> None:
    demonstrations = str(write(tmp_path / "demos.jsonl", short(5)))
    settings = replace(SETTINGS, demonstrations=(demonstrations,), validation=demonstrations, model=str(model))
    alone = Heard()
    begin(RunFolder(tmp_path / "alone"), settings, replace(TWO, processes=1))
    assert train(RunFolder(tmp_path / "alone"), alone)
    for name in ("straight", "stopped"):
        begin(RunFolder(tmp_path / name), settings, TWO)
    script = Path(__file__).with_name("together.py")
    with leading(2, [sys.executable, str(script), str(tmp_path)]) as processes:
        together = train_together(tmp_path, processes)

    assert [each.loss for each in together.updates] == pytest.approx([each.loss for each in alone.updates], rel=1e-5)
    assert [each.norm for each in together.updates] == pytest.approx([each.norm for each in alone.updates], rel=1e-4)
    assert alone.updates[-1].loss < alone.updates[0].loss
    (one,), (two,) = alone.validations, together.validations
    assert (two.loss, two.accuracy, two.targets) == (pytest.approx(one.loss, rel=1e-5), one.accuracy, one.targets)
    straight, stopped = kept(tmp_path / "straight"), kept(tmp_path / "stopped")
    for name, weights in kept(tmp_path / "alone").weights.items():
        assert torch.allclose(straight.weights[name], weights, atol=1e-4), name
        assert torch.equal(stopped.weights[name], straight.weights[name]), name
    # One process wrote each line, and a run that was stopped has the same ones.
    assert logged(tmp_path / "stopped") == logged(tmp_path / "straight")
    assert len(logged(tmp_path / "straight")) == 7


def test_one_command_trains_in_several_processes(model: Path, tmp_path: Path) -> None:
    demonstrations = write(tmp_path / "demos.jsonl", short(3))
    command = ["train", "sft", str(demonstrations), "--model", str(model), "--out", str(tmp_path / "run")]
    ended = CliRunner().invoke(
        app, [*command, "--processes", "2", "--json", "--batch", "3", "--precision", "float32", "--threads", "1"]
    )

    assert (ended.exit_code, ended.stderr) == (0, "")
    began, update, saved, _ = (json.loads(line) for line in ended.stdout.splitlines())
    assert (began["processes"], update["update"], saved["saved"]) == (2, 1, 1)
    with pytest.raises(WrongUsage, match="Expected the 2 processes that the run began with, found 1"):
        train(RunFolder(tmp_path / "run"), Heard())


def test_a_process_that_cannot_start_is_said() -> None:
    broken = [sys.executable, "-c", "raise SystemExit(7)"]
    with pytest.raises(OutsideFault, match="couldn't be started"), leading(2, broken):
        pass


def test_shares_are_about_as_large_as_each_other_and_lose_nothing() -> None:
    items = ["aaaaaaa", "bb", "ccc", "dddd", "e"]
    shares = [Processes(rank, 3).share(items, len) for rank in range(3)]
    assert sorted(each for share in shares for each in share) == items
    assert [sum(map(len, share)) for share in shares] == [7, 5, 5]
    assert shares[1] == ["dddd", "e"]
    assert ALONE.share(items, len) == items
    assert [Processes(rank, 3).share(["x"], len) for rank in range(3)] == [["x"], [], []]
