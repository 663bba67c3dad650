"""Reinforcement learning: a policy plays games in groups, and does more of what was worth more, its calls included.

    evoharness train rl alfworld:training --from run --out rl

An update, counted from 1:

1. Games are drawn and each is played by a group of episodes at temperature 1, with the bank as it is (`rollouts`).
   Where all episodes of a group are worth the same, they teach nothing, and another game is played instead.
2. Each episode is worth its reward (`reward`), and each reply has an advantage (`credit`). Where asked, some calls are
   forked to see what they were worth (`counterfactual`).
3. The policy learns (`grpo`), the bank learns (`bank`), and both are kept. The engine goes on with the new adapter.

All of it is a function of the settings, the files and the machine. The steps of episodes are kept as they are played,
everything else at the end of an update: a run that was stopped plays on where it was, and learns the same, bit for bit.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from ..cluster.places import HERE, Place, Sampler
from ..experience.store import Store
from ..harness import VERBS, WrongUsage
from ..models import resolve
from ..models.hashes import sha256_of
from ..models.llama import LlamaModel
from ..runs.task import Task
from .adapter_file import write_adapter
from .bank import BankChange, evolve
from .checkpoint import REFERENCE, Checkpoint, RunFolder
from .counterfactual import Fork, fork_calls
from .credit import ScoredGroup, score_group, weigh
from .grpo import Batch, Learnt, learn
from .lora import attach, load
from .machine import Machine, set_up
from .optimise import Optimiser
from .reward import Reward, reward
from .rl_settings import ADAPTER, RlSettings, bank_file, rollout_file, settings_of
from .rollouts import Rollout, Stage, Stopped
from .schedule import Order, learning_rate
from .trajectories import Allowed
from .transcript_format import transcript_format
from .weights import ModelFile

KEPT_ROLLOUTS = 10
"""Updates, the newest, whose episodes stay in the run's folder."""


class Watcher(Protocol):
    """Is told what happens, as it happens."""

    def began(self, done: int, total: int, machine: Machine) -> None:
        """Training begins after `done` of `total` updates."""
        ...

    def playing(self, update: int, episodes: int) -> None:
        """So many more episodes are to be played for an update."""
        ...

    def played(self) -> None:
        """One of them has ended; called by any thread."""
        ...

    def learning(self, update: int) -> None:
        """The episodes of an update are learnt from."""
        ...

    def updated(self, figures: Mapping[str, Any]) -> None:
        """An update is done and kept; the figures are those of the log."""
        ...


def train(folder: RunFolder, watcher: Watcher, stop: Callable[[], bool] = lambda: False, place: Place = HERE) -> bool:
    """Train the run of a folder on from its last update; return whether it is finished.

    Episodes are played at a place; the policy learns in this process. `stop` is asked between steps and packs. When it
    says so, False is returned, and what was played is kept. Raises NoRun, WrongUsage where a file isn't the one the
    run began with, DamagedCheckpoint, OutsideFault.
    """
    recorded = folder.settings()
    settings = settings_of(recorded)
    if sha256_of(resolve(settings.model)) != recorded["files"]["model"]:
        raise WrongUsage(f"Expected the model that the run began with, found another one in {settings.model}.")
    if recorded["format"] != transcript_format():
        raise WrongUsage("The format of transcripts has changed since the run began; begin another one.")
    machine = Machine(**recorded["machine"])
    set_up(machine)
    tasks = [Task(**task) for task in recorded["tasks"]]
    with _opened(folder, settings, machine, place) as trainer:
        watcher.began(trainer.done, settings.updates, machine)
        with folder.log(trainer.done) as log:
            while trainer.done < settings.updates:
                update = _Update(trainer, tasks, datetime.fromisoformat(recorded["began"]), watcher, stop)
                try:
                    figures = update.make()
                except Stopped:
                    return False
                log.add(figures)
                trainer.save(update.number)
                watcher.updated(figures)
    return True


@dataclass
class _Trainer:
    """The policy in both forms: as tensors that learn, and in the engine that plays."""

    folder: RunFolder
    settings: RlSettings
    base: ModelFile
    model: Any
    parameters: Mapping[str, nn.Parameter]
    reference: Mapping[str, torch.Tensor]
    optimiser: Optimiser
    place: Place
    player: Sampler
    """The policy where it plays."""
    engine: LlamaModel
    """The engine here, which knows what a constraint allows."""
    done: int

    def save(self, update: int) -> None:
        """Keep the policy after an update, and what is no longer needed to go on doesn't stay."""
        weights = {name: parameter.detach() for name, parameter in self.parameters.items()}
        self.folder.save(Checkpoint(update, weights, self.optimiser.state()))
        self.done = update
        bank_file(self.folder, update - 1).unlink(missing_ok=True)
        _remove(rollout_file(self.folder, update - KEPT_ROLLOUTS))

    def write(self) -> Path:
        """Write the policy as the engine plays it."""
        return _write(self.folder, self.settings, self.base, self.parameters)


@contextmanager
def _opened(folder: RunFolder, settings: RlSettings, machine: Machine, place: Place) -> Iterator[_Trainer]:
    base = ModelFile.open(resolve(settings.model))
    model = base.load(machine.torch_dtype, machine.torch_device)
    parameters = attach(model.model, settings.lora, settings.seed)
    if started := torch.load(folder.path / REFERENCE, map_location="cpu", weights_only=True):
        load(parameters, started)
    reference = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    optimiser = Optimiser(parameters, settings.grpo.clip_norm)
    done = 0
    if checkpoint := folder.load():
        done = checkpoint.update
        load(parameters, checkpoint.weights)
        optimiser.restore(checkpoint.optimiser)
    adapter = _write(folder, settings, base, parameters)
    with (
        closing(
            place.sampler(
                settings.model,
                adapter=adapter,
                context=settings.context,
                slots=settings.parallel,
                temperature=1.0,
            )
        ) as player,
        _engine(player, base) as engine,
    ):
        yield _Trainer(folder, settings, base, model, parameters, reference, optimiser, place, player, engine, done)


@contextmanager
def _engine(player: Sampler, base: ModelFile) -> Iterator[LlamaModel]:
    """Yield an engine in this process: the one that plays, where it does so here."""
    if isinstance(player, LlamaModel):
        yield player
    else:
        with LlamaModel(base.path) as engine:
            yield engine


def _write(folder: RunFolder, settings: RlSettings, base: ModelFile, parameters: Mapping[str, torch.Tensor]) -> Path:
    path = folder.path / ADAPTER
    write_adapter(path, base, parameters, settings.lora.alpha, {"base": base.path.name, "format": transcript_format()})
    return path


@dataclass
class _Update:
    """One update in the making."""

    trainer: _Trainer
    tasks: Sequence[Task]
    began: datetime
    watcher: Watcher
    stop: Callable[[], bool]
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.number = self.trainer.done + 1
        self.settings = self.trainer.settings
        self.drawn = draw(self.tasks, self.settings, self.number)
        self.rate = learning_rate(self.trainer.done, self.settings.updates, self.settings.rate, self.settings.warmup)
        self.stage = self._stage()

    def make(self) -> dict[str, Any]:
        """Play, learn, and return what is said of it in the log. Raises Stopped, OutsideFault."""
        trainer, settings = self.trainer, self.settings
        with self._timed("play"):
            groups = self._play()
        with self._timed("fork"):
            forks = self._fork(groups)
        with self._timed("learn"):
            learnt = self._learn(groups, forks)
        played = [rollout.game for scored in groups for rollout in scored.rollouts[:1]]
        with self._timed("bank"):
            self.stage.end()
            out = bank_file(trainer.folder, self.number)
            change = evolve(self.stage, out, played, settings.play, forks, self.began)
        with self._timed("write"):
            trainer.player.attach(trainer.write())
        return self._figures(groups, forks, learnt, change)

    def _stage(self) -> Stage:
        folder, settings = self.trainer.folder, self.settings
        path = rollout_file(folder, self.number)
        if not path.exists():
            with closing(Store.open(bank_file(folder, self.number - 1))) as bank:
                made = path.with_suffix(".partial")
                made.unlink(missing_ok=True)
                bank.copy_to(made)
            made.replace(path)
        trainer = self.trainer
        told = self.watcher.played
        stage = Stage(path, self.number, trainer.player, settings.parallel, self.stop, told, trainer.place)
        seeds = [_seed("rollouts", settings.seed, self.number, sample) for sample in range(settings.group)]
        stage.begin(self.drawn, settings.play, seeds)
        return stage

    def _play(self) -> list[ScoredGroup]:
        """Play games until enough groups teach something, or no more may be played."""
        settings = self.settings
        groups: list[ScoredGroup] = []
        wave = range(min(settings.games, len(self.drawn)))
        while wave:
            self.watcher.playing(self.number, len(wave) * settings.group)
            for rollouts in self.stage.play(wave, keep=range(settings.forks)):
                groups.append(score_group(rollouts, [self._worth(each) for each in rollouts]))
            missing = settings.games - sum(each.group is not None for each in groups)
            wave = range(wave.stop, min(wave.stop + missing, len(self.drawn)))
        return groups

    def _fork(self, groups: Sequence[ScoredGroup]) -> list[Fork]:
        settings = self.settings
        first = [each.rollouts[0] for each in groups if each.group is not None][: settings.forks]
        if not first:
            return []
        self.watcher.playing(self.number, len(first) * (2 * settings.branches - 1))
        seed = _seed("forks", settings.seed, self.number, 0)
        return fork_calls(self.stage, first, self.drawn, settings.play, settings.branches, seed, self._total)

    def _learn(self, groups: Sequence[ScoredGroup], forks: Sequence[Fork]) -> Learnt | None:
        trainer, settings = self.trainer, self.settings
        weighed = weigh(groups, forks, settings)
        if not weighed:
            return None
        self.watcher.learning(self.number)
        allowed = Allowed(trainer.engine)
        batch = Batch(weighed, allowed, trainer.engine.ends, settings.grpo.pack_tokens)
        learnt = learn(
            trainer.model,
            trainer.parameters,
            trainer.optimiser,
            batch,
            trainer.reference,
            self.rate,
            settings.grpo,
            self.stop,
        )
        if learnt is None:
            raise Stopped
        return learnt

    def _worth(self, rollout: Rollout) -> Reward:
        return reward(rollout.steps, rollout.won, rollout.budget, self.number - 1, self.settings.reward)

    def _total(self, rollout: Rollout) -> float:
        return self._worth(rollout).total

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.seconds[part] = time.monotonic() - start

    def _figures(
        self, groups: Sequence[ScoredGroup], forks: Sequence[Fork], learnt: Learnt | None, change: BankChange
    ) -> dict[str, Any]:
        rollouts = [rollout for scored in groups for rollout in scored.rollouts]
        rewards = [each for scored in groups for each in scored.rewards]
        calls = Counter(step.kind for rollout in rollouts for step in rollout.steps)
        tokens = sum(step.completion_tokens for rollout in rollouts for step in rollout.steps)
        count = len(rollouts)
        seconds = {part: round(spent, 3) for part, spent in self.seconds.items()}
        return {
            "update": self.number,
            "rate": self.rate,
            "reward": sum(each.total for each in rewards) / count,
            "terms": {term: sum(each.terms[term] for each in rewards) / count for term in rewards[0].terms},
            "success": sum(each.won for each in rollouts) / count,
            "steps": sum(len(each.steps) - 1 for each in rollouts) / count,
            "calls": {verb: calls[verb] / count for verb in VERBS},
            "invalid": sum(step.invalid for each in rollouts for step in each.steps) / count,
            "episodes": count,
            "groups": len(groups),
            "dropped_groups": sum(each.group is None for each in groups),
            "forks": [{"verb": each.verb, "value": each.value, "success": each.success} for each in forks],
            "bank": asdict(change),
            "learnt": asdict(learnt) if learnt else None,
            "written_tokens_a_second": tokens / max(self.seconds["play"], 1e-9),
            "learnt_tokens_a_second": learnt.read / learnt.seconds if learnt else 0.0,
            "seconds": seconds,
        }


def draw(tasks: Sequence[Task], settings: RlSettings, update: int) -> list[Task]:
    """Return the tasks of an update, counted from 1: the next of the epoch, and others to play instead of some."""
    chosen = Order(len(tasks), settings.games, settings.seed).of(update - 1)
    others = [number for number in range(len(tasks)) if number not in set(chosen)]
    random.Random(_seed("others", settings.seed, update, 0)).shuffle(others)
    most = settings.games * settings.refill
    return [tasks[number] for number in [*chosen, *others][:most]]


def _seed(what: str, *numbers: int) -> int:
    return random.Random(f"{what} {' '.join(map(str, numbers))}").getrandbits(31)


def _remove(store: Path) -> None:
    for path in (store, Path(f"{store}-wal"), Path(f"{store}-shm")):
        path.unlink(missing_ok=True)
