"""Supervised fine-tuning: a low-rank adapter learns what demonstrations say, on the agent's tokens only.

    evoharness train sft demos.jsonl --out run

For the examples of an update, with targets y_t after their contexts x_t:

    loss = - sum_t log p(y_t | x_t) / number of targets

so every token of the agent weighs the same, whatever conversation it is from. An update's examples go through the model
in packs that share their beginning; gradients add up over packs. All that happens is a function of the settings, the
files and the machine: a run that was stopped and resumed ends with the weights, bit for bit, of one that never was.
Several processes share the examples of each update (`processes`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import torch

from ..harness import WrongUsage
from ..models import resolve
from ..models.hashes import compute_sha256, sha256_of
from .beginning import beginning
from .checkpoint import REFERENCE, Checkpoint, NoRun, RunFolder, lora_of
from .examples import Example, Tokeniser, format_of, read_examples
from .lora import LoraSettings, attach, load
from .machine import Machine, choose_machine, set_up
from .optimise import Optimiser
from .packing import packs
from .processes import ALONE, Processes
from .schedule import Order, learning_rate
from .scoring import log_probabilities, target_logits
from .weights import ModelFile


@dataclass(frozen=True)
class SftSettings:
    """What a run is to do. Recorded, so that it can be resumed."""

    demonstrations: tuple[str, ...]
    """Files of demonstrations, one JSON object a line, which are learnt together."""
    model: str
    """The base model, as the catalogue knows it or a GGUF file."""
    start: str | None = None
    """What to go on from, as `beginning` takes it; else the base model."""
    validation: str | None = None
    """Demonstrations that are not learnt, on which the loss is told."""
    validate_every: int = 50
    """Updates."""
    lora: LoraSettings = field(default_factory=LoraSettings)
    rate: float = 4e-4
    """The highest learning rate."""
    warmup: float = 0.05
    """The share of updates in which the rate rises to it."""
    batch: int = 8
    """Demonstrations an update."""
    epochs: int = 1
    clip: float = 1.0
    """The most that the gradient's norm may be."""
    pack_tokens: int = 2048
    """Tokens that go through the model at once; a longer demonstration goes alone."""
    seed: int = 0
    checkpoint_minutes: float = 10.0


@dataclass(frozen=True)
class Update:
    """What one update was; `update` counts from 1."""

    update: int
    loss: float
    """Mean over targets, in nats."""
    rate: float
    norm: float
    """Of the gradient, before it was clipped."""
    targets: int
    tokens: int
    """Of the examples, shared beginnings counted in each."""
    seconds: float


@dataclass(frozen=True)
class Validation:
    """What was found on the demonstrations that are not learnt."""

    update: int
    loss: float
    """Mean over targets, in nats."""
    accuracy: float
    """The share of targets that were the likeliest token."""
    targets: int
    seconds: float


class Watcher(Protocol):
    """Is told what happens, as it happens."""

    def began(self, done: int, total: int, machine: Machine) -> None:
        """Training begins after `done` of `total` updates."""
        ...

    def updated(self, update: Update) -> None:
        """An update was made."""
        ...

    def validated(self, validation: Validation) -> None:
        """The demonstrations that are not learnt were looked at."""
        ...

    def saved(self, update: int) -> None:
        """A checkpoint was written."""
        ...


def begin(folder: RunFolder, settings: SftSettings, machine: Machine | None = None) -> None:
    """Record a new run in a folder. Raises NoRun where it holds one, BadDemonstrations."""
    data = [Path(each).resolve() for each in settings.demonstrations]
    settings = replace(
        settings,
        demonstrations=tuple(map(str, data)),
        validation=str(Path(settings.validation).resolve()) if settings.validation else None,
    )
    weights: dict[str, torch.Tensor] = {}
    recipe: Sequence[Any] = ()
    if settings.start:
        begun = beginning(settings.start, resolve(settings.model))
        settings, weights = replace(settings, lora=begun.lora, start=begun.place), dict(begun.weights)
        recipe = begun.recipe
    folder.create(
        {
            "sft": asdict(settings),
            "machine": asdict(machine or choose_machine()),
            "format": format_of(data),
            "files": _files(settings),
            "recipe": recipe,
            "versions": {"torch": torch.__version__},
        }
    )
    if weights:
        torch.save(weights, folder.path / REFERENCE)


def train(
    folder: RunFolder,
    watcher: Watcher,
    stop: Callable[[], bool] = lambda: False,
    processes: Processes = ALONE,
) -> bool:
    """Train the run of a folder on from its last checkpoint; return whether it is finished.

    `stop` is asked between passes. When it says so in any of the `processes`, the updates that are complete are saved,
    and False is returned. Raises NoRun, WrongUsage where a file isn't the one the run began with or there are more or
    fewer processes, BadDemonstrations, UntrainableModel, DamagedCheckpoint, OutsideFault where a process has ended.
    """
    recorded = folder.settings()
    settings = settings_of(recorded)
    if (found := _files(settings)) != recorded["files"]:
        changed = [name for name, digest in recorded["files"].items() if found.get(name) != digest]
        raise WrongUsage(f"Expected the files that the run began with, found another {' and '.join(changed)}.")
    machine = Machine(**recorded["machine"])
    if machine.processes != processes.count:
        raise WrongUsage(
            f"Expected the {machine.processes} processes that the run began with, found {processes.count}."
        )
    set_up(machine)
    model_path = resolve(settings.model)
    examples, held_out = _read(settings, model_path)
    model = ModelFile.open(model_path).load(machine.torch_dtype, machine.torch_device)
    parameters = attach(model.model, settings.lora, settings.seed)
    optimiser = Optimiser(parameters, settings.clip)
    done = 0
    if settings.start:
        load(parameters, torch.load(folder.path / REFERENCE, weights_only=True))
    if checkpoint := folder.load():
        done = checkpoint.update
        load(parameters, checkpoint.weights)
        optimiser.restore(checkpoint.optimiser)
    order = Order(len(examples), settings.batch, settings.seed)
    total = order.batches * settings.epochs

    def save() -> None:
        weights = {name: parameter.detach() for name, parameter in parameters.items()}
        folder.save(Checkpoint(done, weights, optimiser.state()))
        watcher.saved(done)

    with folder.log(done) as log:
        watcher.began(done, total, machine)
        saved = time.monotonic()
        while done < total:
            rate = learning_rate(done, total, settings.rate, settings.warmup)
            batch = [examples[index] for index in order.of(done)]
            update = _update(model, optimiser, batch, settings.pack_tokens, done + 1, rate, stop, processes)
            if update is None:
                save()
                return False
            done += 1
            log.add(asdict(update))
            watcher.updated(update)
            if held_out and (done % settings.validate_every == 0 or done == total):
                validation = validate(model, held_out, settings.pack_tokens, done, processes)
                log.add({"validation": True, **asdict(validation)})
                watcher.validated(validation)
            if time.monotonic() - saved > 60 * settings.checkpoint_minutes or done == total:
                save()
                saved = time.monotonic()
    return True


def settings_of(recorded: dict[str, Any]) -> SftSettings:
    """Return the settings that a run's folder recorded. Raises NoRun where it was another kind of training."""
    if "sft" not in recorded:
        raise NoRun("Expected a run by demonstrations, found one of another kind: go on with train rl --resume.")
    known = recorded["sft"]
    return SftSettings(**{**known, "demonstrations": tuple(known["demonstrations"]), "lora": lora_of(recorded)})


def validate(
    model: Any, examples: Sequence[Example], pack_tokens: int, update: int = 0, processes: Processes = ALONE
) -> Validation:
    """Return the loss and the accuracy on examples, of which nothing is learnt."""
    start = time.monotonic()
    loss, right, targets = 0.0, 0.0, 0.0
    with torch.no_grad():
        for pack in packs(processes.share(examples, _tokens), pack_tokens):
            moved = pack.to(model.device)
            logits = target_logits(model, moved)
            loss += float(torch.nn.functional.cross_entropy(logits, moved.labels, reduction="sum"))
            right += int((logits.argmax(-1) == moved.labels).sum())
            targets += len(moved.labels)
    loss, right, targets = processes.total(loss, right, targets)
    return Validation(update, loss / targets, right / targets, int(targets), time.monotonic() - start)


def _update(
    model: Any,
    optimiser: Optimiser,
    batch: Sequence[Example],
    pack_tokens: int,
    number: int,
    rate: float,
    stop: Callable[[], bool],
    processes: Processes,
) -> Update | None:
    """Learn a batch; None, and nothing is learnt, when `stop` said so before all of it went through the model."""
    start = time.monotonic()
    targets = sum(len(example.labels) for example in batch)
    loss, stopped = 0.0, False
    for pack in packs(processes.share(batch, _tokens), pack_tokens):
        if stopped := stop():
            break
        part = -log_probabilities(model, pack.to(model.device)).sum() / targets
        part.backward()
        loss += float(part.detach())
    loss, stops = processes.total(loss, stopped)
    if stops:
        optimiser.forget()
        return None
    norm = optimiser.step(rate, processes)
    tokens = sum(map(_tokens, batch))
    return Update(number, loss, rate, norm, targets, tokens, time.monotonic() - start)


def _tokens(example: Example) -> int:
    return len(example.ids)


def _read(settings: SftSettings, model: Path) -> tuple[list[Example], list[Example]]:
    with closing(Tokeniser(model)) as tokeniser:
        held_out = read_examples(Path(settings.validation), tokeniser) if settings.validation else []
        return [each for path in settings.demonstrations for each in read_examples(Path(path), tokeniser)], held_out


def _files(settings: SftSettings) -> dict[str, str | list[str]]:
    """Return the SHA-256 of each file that the run depends on."""
    files: dict[str, str | list[str]] = {
        "model": sha256_of(resolve(settings.model)),
        "demonstrations": list(map(_digest, settings.demonstrations)),
    }
    return files | ({"validation": _digest(settings.validation)} if settings.validation else {})


def _digest(path: str) -> str:
    try:
        return compute_sha256(Path(path))
    except OSError as error:
        raise WrongUsage(f"Expected demonstrations in {path}, found: {error.strerror or error}.") from error
