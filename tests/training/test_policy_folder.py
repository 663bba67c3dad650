"""A run's adapter becomes a policy's folder, whose card tells every stage of how it came to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from evoharness_cli.cli.app import app  # noqa: E402
from evoharness_cli.environments.alfworld.generate import make_games  # noqa: E402
from evoharness_cli.models import resolve  # noqa: E402
from evoharness_cli.models.hashes import compute_sha256  # noqa: E402
from evoharness_cli.policies import named  # noqa: E402
from evoharness_cli.training.adapter_file import read_adapter  # noqa: E402
from evoharness_cli.training.checkpoint import LOG, REFERENCE, Checkpoint, RunFolder  # noqa: E402
from evoharness_cli.training.machine import Machine  # noqa: E402
from evoharness_cli.training.sft import SftSettings, begin  # noqa: E402
from evoharness_cli.training.weights import ModelFile  # noqa: E402

POLICY = "alfworld-smollm2-135m"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run that goes on from the policy that ships, as it is after no update."""
    place = tmp_path_factory.mktemp("run")
    make_games(3, 5, place / "games")
    run("train", "demos", place / "games", "--out", place / "demos.jsonl")
    played = place / "played.db"
    (place / "lost.txt").write_text("look\nlook\nlook\nlook")
    model = f"scripted:{place / 'lost.txt'}"
    run(
        *("eval", place / "games", "--method", "bpe", "--model", model, "--max-steps", 4, "--bank", "none"),
        "--out",
        played,
    )
    run("train", "corrections", played, "--out", place / "corrections.jsonl")
    folder = RunFolder(place / "run")
    files = tuple(str(place / name) for name in ("demos.jsonl", "corrections.jsonl"))
    begin(folder, SftSettings(files, "smollm2-135m", start=POLICY), Machine("cpu", "float32", 1))
    folder.save(Checkpoint(1, torch.load(folder.path / REFERENCE, weights_only=True), {}))
    (folder.path / LOG).write_text(json.dumps({"update": 1, "loss": 0.5, "seconds": 72.0}) + "\n")
    return folder


def card(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "card.yaml").read_text())
    return found


def test_the_card_tells_what_the_policy_began_with_and_each_stage_since(begun: RunFolder, tmp_path: Path) -> None:
    policy, out = named(POLICY), tmp_path / "policy"
    assert policy

    run("train", "policy", begun.path, "--bank", policy.bank, "--what", "plays", "-o", out)

    recipe = card(out)["recipe"]
    before = policy.card["recipe"]
    assert recipe[: len(before)] == before
    demos, corrections, sft = recipe[len(before) :]
    assert (demos["stage"], demos["demonstrations"], demos["tasks"]) == ("demos", 3, ["games"])
    assert (corrections["stage"], corrections["corrections"]) == ("corrections", "played.db")
    assert (sft["stage"], sft["updates"], sft["hours"], sft["batch"]) == ("sft", 1, 0.02, 8)
    for stage, name in ((demos, "demos.jsonl"), (corrections, "corrections.jsonl")):
        assert stage["sha256"] == compute_sha256(begun.path.parent / name)


def test_the_folder_holds_the_adapter_and_the_bank_that_the_card_names(begun: RunFolder, tmp_path: Path) -> None:
    policy, out = named(POLICY), tmp_path / "policy"
    assert policy
    out.mkdir()
    (out / "left.txt").write_text("of before")

    run("train", "policy", begun.path, "--bank", policy.bank, "--what", "plays", "-o", out)

    assert sorted(path.name for path in out.iterdir()) == ["adapter.gguf", "bank.jsonl", "card.yaml"]
    told = card(out)
    assert told["adapter_sha256"] == compute_sha256(out / "adapter.gguf")
    assert told["bank_sha256"] == compute_sha256(policy.bank)
    assert told["base_sha256"] == policy.card["base_sha256"]
    # Nothing was learnt, so that it is the adapter that the run began with.
    base = ModelFile.open(resolve("smollm2-135m"))
    (written, lora, _), (shipped, before, _) = (
        read_adapter(path, base) for path in (out / "adapter.gguf", policy.adapter)
    )
    assert lora == before
    assert written.keys() == shipped.keys()
    assert all(torch.equal(written[name], shipped[name]) for name in written)


def test_a_bank_that_is_none_leaves_the_folder_as_it_is(begun: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "bank.jsonl").write_text("no bank")
    out = tmp_path / "policy"

    result = CliRunner().invoke(
        app, ["train", "policy", str(begun.path), "--bank", str(tmp_path / "bank.jsonl"), "--what", "x", "-o", str(out)]
    )

    assert result.exit_code == 2
    assert not out.exists()
