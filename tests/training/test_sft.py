"""Training on the embedded model: what a run leaves, how it goes on, and that the engine plays what was learnt."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import numpy as np  # noqa: E402
from demonstrated import line, short, transcripts, write  # noqa: E402

from evoharness_cli.harness import WrongUsage  # noqa: E402
from evoharness_cli.models import LlamaModel, resolve  # noqa: E402
from evoharness_cli.models.lanes import Shape  # noqa: E402
from evoharness_cli.models.slots import CHUNK  # noqa: E402
from evoharness_cli.training import lora  # noqa: E402
from evoharness_cli.training.checkpoint import LOG, REFERENCE, NoRun, RunFolder  # noqa: E402
from evoharness_cli.training.examples import Example, Tokeniser, read_examples  # noqa: E402
from evoharness_cli.training.export import export_adapter, export_merged  # noqa: E402
from evoharness_cli.training.machine import Machine  # noqa: E402
from evoharness_cli.training.packing import pack  # noqa: E402
from evoharness_cli.training.scoring import target_logits  # noqa: E402
from evoharness_cli.training.sft import SftSettings, Update, Validation, begin, train  # noqa: E402
from evoharness_cli.training.transcript_format import transcript_format  # noqa: E402
from evoharness_cli.training.weights import ModelFile  # noqa: E402

SMALL = "smollm2-135m"
MACHINE = Machine("cpu", "float32", 1)
SETTINGS = SftSettings("", SMALL, lora=lora.LoraSettings(rank=8, alpha=16.0), rate=3e-3, batch=2, epochs=2, seed=7)


@dataclass
class Heard:
    """What a run told, and after how many updates it is to stop."""

    stop_after: int = 1000
    updates: list[Update] = field(default_factory=list)
    validations: list[Validation] = field(default_factory=list)
    saved_at: list[int] = field(default_factory=list)

    def began(self, done: int, total: int, machine: Machine) -> None:
        self.began_at, self.total, self.machine = done, total, machine

    def updated(self, update: Update) -> None:
        self.updates.append(update)

    def validated(self, validation: Validation) -> None:
        self.validations.append(validation)

    def saved(self, update: int) -> None:
        self.saved_at.append(update)

    def stop(self) -> bool:
        return len(self.updates) >= self.stop_after


@dataclass(frozen=True)
class Trained:
    """A run of four updates that was never stopped."""

    folder: RunFolder
    heard: Heard
    settings: SftSettings


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    place = tmp_path_factory.mktemp("trained")
    demonstrations = write(place / "demos.jsonl", short(4))
    settings = replace(SETTINGS, demonstrations=(str(demonstrations),), validation=str(demonstrations))
    folder, heard = RunFolder(place / "run"), Heard()
    begin(folder, settings, MACHINE)
    assert train(folder, heard)
    return Trained(folder, heard, settings)


def test_a_run_learns_and_logs_each_update(trained: Trained) -> None:
    heard = trained.heard
    assert [update.update for update in heard.updates] == [1, 2, 3, 4]
    assert heard.updates[-1].loss < heard.updates[0].loss / 2
    (validation,) = heard.validations
    assert validation.loss < heard.updates[-1].loss
    assert heard.saved_at == [4]
    assert (trained.folder.path / ".gitignore").read_text() == "*\n"
    events = [json.loads(text) for text in (trained.folder.path / LOG).read_text().splitlines()]
    assert [event["update"] for event in events] == [1, 2, 3, 4, 4]
    assert events[0]["loss"] == heard.updates[0].loss
    epochs = [sum(event["targets"] for event in events[start : start + 2]) for start in (0, 2)]
    assert epochs[0] == epochs[1] == validation.targets


def test_a_run_that_was_stopped_ends_with_the_same_weights(trained: Trained, tmp_path: Path) -> None:
    folder, heard = RunFolder(tmp_path / "run"), Heard(stop_after=2)
    begin(folder, trained.settings, MACHINE)
    assert not train(folder, heard, heard.stop)
    assert heard.saved_at == [2]
    # As if it had been killed after one more update than it saved.
    with (folder.path / LOG).open("a") as log:
        log.write('{"update": 3, "loss": 0.0}\n{"upda')
    resumed = Heard()
    assert train(folder, resumed)

    assert resumed.began_at == 2
    assert [update.update for update in resumed.updates] == [3, 4]
    straight, stopped = trained.folder.load(), folder.load()
    assert straight is not None and stopped is not None
    assert straight.weights.keys() == stopped.weights.keys()
    assert all(torch.equal(straight.weights[name], stopped.weights[name]) for name in straight.weights)
    assert torch.equal(*(each.optimiser["state"][3]["exp_avg_sq"] for each in (straight, stopped)))
    told = [json.loads(text) for text in (folder.path / LOG).read_text().splitlines()]
    assert [event["loss"] for event in told] == [
        json.loads(text)["loss"] for text in (trained.folder.path / LOG).read_text().splitlines()
    ]


def test_a_folder_that_holds_a_run_is_not_begun_again(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(NoRun, match="--resume"):
        begin(trained.folder, trained.settings, MACHINE)
    with pytest.raises(NoRun, match="found no settings"):
        train(RunFolder(tmp_path), Heard())
    with pytest.raises(NoRun, match="found no settings"):
        export_adapter(RunFolder(tmp_path), tmp_path / "adapter.gguf")


def test_a_run_goes_on_with_the_files_it_began_with_only(tmp_path: Path) -> None:
    demonstrations = write(tmp_path / "demos.jsonl", short(2))
    folder = RunFolder(tmp_path / "run")
    begin(folder, replace(SETTINGS, demonstrations=(str(demonstrations),)), MACHINE)
    with pytest.raises(NoRun, match="Expected a checkpoint"):
        export_adapter(folder, tmp_path / "adapter.gguf")
    write(demonstrations, short(3))
    with pytest.raises(WrongUsage, match="found another demonstrations"):
        train(folder, Heard())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    """A real transcript, and the small demonstrations that were learnt."""
    place = tmp_path_factory.mktemp("played")
    lines = [line(each) for each in transcripts(place, ["look-at-book"])]
    with closing(Tokeniser(resolve(SMALL))) as tokeniser:
        return read_examples(write(place / "demos.jsonl", [*lines, *short(2)]), tokeniser)


@pytest.fixture(scope="module")
def learnt(trained: Trained, played: list[Example]) -> list[Any]:
    """The logits of the trained torch model after each target, an example after the other."""
    torch.set_num_threads(1)
    model = ModelFile.open(resolve(SMALL)).load(torch.float32, torch.device("cpu"))
    parameters = lora.attach(model.model, trained.settings.lora, seed=0)
    checkpoint = trained.folder.load()
    assert checkpoint is not None
    with torch.no_grad():
        base = [target_logits(model, pack([example])) for example in played]
        lora.load(parameters, checkpoint.weights)
        found = [target_logits(model, pack([example])) for example in played]
    # What was learnt is so much that an adapter that isn't applied, or applied wrongly, is found.
    assert all(divergence(one, other) > 0.5 for one, other in zip(base, found, strict=True))
    return found


def divergence(one: Any, other: Any) -> float:
    """Return the mean Kullback-Leibler divergence of predictions, in nats."""
    first, second = one.log_softmax(-1), other.log_softmax(-1)
    return float((first.exp() * (first - second)).sum(-1).mean())


def engine_logits(model: Path, adapter: Path | None, examples: list[Example]) -> list[Any]:
    """Return what the engine finds where `target_logits` looks."""
    with LlamaModel(model, adapter=adapter, context=2048, shape=Shape(1, 1)) as loaded:
        slots = loaded._engine._lanes._lanes[0].slots
        found = []
        for example in examples:
            logits, done = [], 0
            slots.cut(0, 0)
            for position in example.positions:
                while done <= position:
                    end = min(done + CHUNK, position + 1)
                    slots.evaluate({0: example.ids[done:end]}, {0})
                    done = end
                logits.append(slots.logits(0).copy())
            found.append(torch.tensor(np.stack(logits)))
        return found


def check_agreement(learnt: list[Any], found: list[Any]) -> None:
    one, other = torch.cat(learnt), torch.cat(found)
    assert (one.argmax(-1) == other.argmax(-1)).float().mean() >= 0.96
    assert divergence(one, other) < 0.01


def test_the_engine_plays_an_exported_adapter_as_torch_does(
    trained: Trained, learnt: list[Any], played: list[Example], tmp_path: Path
) -> None:
    adapter = tmp_path / "adapter.gguf"
    export_adapter(trained.folder, adapter)
    assert adapter.stat().st_size < 6_000_000
    check_agreement(learnt, engine_logits(resolve(SMALL), adapter, played))


def test_the_engine_plays_a_merged_model_as_torch_does(
    trained: Trained, learnt: list[Any], played: list[Example], tmp_path: Path
) -> None:
    told = []
    export_merged(trained.folder, tmp_path / "merged.gguf", "Q8_0", lambda done, total: told.append((done, total)))
    assert told[-1] == (272, 272)
    check_agreement(learnt[1:], engine_logits(tmp_path / "merged.gguf", None, played[1:]))


def changed(trained: Trained, path: Path, **settings: object) -> RunFolder:
    """Return a copy of the run whose recorded settings are others."""
    path.mkdir()
    (path / "settings.json").write_text(json.dumps({**trained.folder.settings(), **settings}))
    (path / "checkpoint.pt").write_bytes((trained.folder.path / "checkpoint.pt").read_bytes())
    return RunFolder(path)


def test_a_run_goes_on_from_what_an_adapter_holds(trained: Trained, tmp_path: Path) -> None:
    adapter = tmp_path / "adapter.gguf"
    export_adapter(changed(trained, tmp_path / "run", format=transcript_format()), adapter)
    folder, heard = RunFolder(tmp_path / "further"), Heard(stop_after=1)
    begin(folder, replace(trained.settings, start=str(adapter), lora=lora.LoraSettings()), MACHINE)
    train(folder, heard, heard.stop)

    checkpoint = trained.folder.load()
    assert checkpoint is not None
    begun = torch.load(folder.path / REFERENCE, weights_only=True)
    assert set(begun) == set(checkpoint.weights)
    for name, weights in checkpoint.weights.items():
        torch.testing.assert_close(begun[name], weights, rtol=1e-3, atol=1e-6)
    assert folder.settings()["sft"]["lora"]["rank"] == 8
    assert heard.updates[0].loss < trained.heard.updates[1].loss


def test_what_was_learnt_over_another_model_is_refused(trained: Trained, tmp_path: Path) -> None:
    other = changed(trained, tmp_path / "other", files={"model": "0" * 64})

    with pytest.raises(WrongUsage, match="what is for another model"):
        begin(RunFolder(tmp_path / "new"), replace(trained.settings, start=str(other.path)), MACHINE)


def test_what_learnt_another_form_of_transcripts_is_taught_the_one_of_its_demonstrations(
    trained: Trained, tmp_path: Path
) -> None:
    older, folder = changed(trained, tmp_path / "older", format="older"), RunFolder(tmp_path / "new")
    begin(folder, replace(trained.settings, start=str(older.path)), MACHINE)

    assert folder.settings()["format"] == trained.folder.settings()["format"] != "older"
