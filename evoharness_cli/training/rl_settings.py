"""What a run of reinforcement learning is to do, and how it begins."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from ..environments import load_adapter
from ..evaluation.bank_choice import choose, prepare
from ..experience.exchange.banks import close_log
from ..experience.policies import check_policy
from ..harness import Decode, WrongUsage
from ..models import resolve
from ..models.hashes import sha256_of
from ..runs.settings import RunSettings
from ..runs.task import Task
from .beginning import beginning
from .checkpoint import REFERENCE, NoRun, RunFolder, lora_of
from .demonstrations import check_not_held_out
from .grpo import GrpoSettings
from .lora import LoraSettings
from .machine import Machine, choose_machine
from .reward import RewardSettings
from .transcript_format import transcript_format
from .weights import ModelFile

ADAPTER, BANKS, ROLLOUTS = "adapter.gguf", "banks", "rollouts"
"""What is in a run's folder besides the checkpoint: the policy as the engine plays it, the bank after an update, and
the episodes of each."""


@dataclass(frozen=True)
class RlSettings:
    """What a run is to do. Recorded, so that it can be resumed."""

    model: str
    """The base model, as the catalogue knows it or a GGUF file."""
    start: str | None = None
    """What to go on from, and to stay close to, as `beginning` takes it; else the base model."""
    bank: str = "none"
    """What `eval --bank` takes; it isn't changed, as the run has a copy."""
    experience: str = "bpe"
    """The memory policy."""
    lora: LoraSettings = field(default_factory=LoraSettings)
    """What is adapted; that of `start` where there is one."""
    updates: int = 100
    games: int = 8
    """Groups that an update learns from, as many as are found."""
    group: int = 8
    """Episodes of each game."""
    refill: int = 2
    """An update plays at most so many times as many games to find groups that teach something."""
    rate: float = 2e-5
    """The learning rate at its highest."""
    warmup: float = 0.1
    """The share of updates over which the rate rises; then it falls along a cosine to a tenth."""
    context: int = 4096
    """Tokens that an episode may have before its oldest steps are summed up."""
    parallel: int = 8
    """Episodes that are played at once."""
    step_credit: float = 0.0
    """The weight of each step's advantage among steps in the same state, beside that of its episode."""
    discount: float = 0.95
    """What a reward is worth one step earlier, for a step's advantage."""
    forks: int = 0
    """Episodes an update of which one call is forked."""
    branches: int = 2
    """Episodes with the call and as many without it, of each fork."""
    fork_weight: float = 1.0
    """What a forked call's value counts beside the advantage of its episode."""
    reward: RewardSettings = field(default_factory=RewardSettings)
    grpo: GrpoSettings = field(default_factory=GrpoSettings)
    seed: int = 0

    def check(self, tasks: Sequence[Task]) -> None:
        """Raise WrongUsage where no policy could learn so."""
        if self.group < 2:
            raise WrongUsage("Expected at least two episodes a group, as they are compared with each other.")
        if len(tasks) < self.games:
            raise WrongUsage(f"Expected at least the {self.games} games of an update, found {len(tasks)}.")
        for budget in {int(task.limits["steps"]) for task in tasks}:
            self.reward.check(budget)
        if self.forks and any(task.decode == Decode.FREE.value for task in tasks):
            raise WrongUsage("Forks need a call that can be ruled out: decode by grammar, or leave --forks out.")

    @property
    def play(self) -> RunSettings:
        """How episodes are played."""
        return RunSettings(
            model=self.model, temperature=1.0, context=self.context, learn=False, experience=self.experience
        )


def begin(folder: RunFolder, settings: RlSettings, tasks: Sequence[Task], machine: Machine | None = None) -> None:
    """Record a new run in a folder, with settled tasks.

    Raises NoRun where it holds one, UntrainableModel, and WrongUsage for what can't be learnt from.
    """
    settings.check(tasks)
    check_policy(settings.experience, curated=False)
    choice = choose(settings.bank)
    for environment in sorted({task.environment for task in tasks}):
        with closing(load_adapter(environment)) as adapter:
            check_not_held_out(adapter, [task for task in tasks if task.environment == environment])
    model = resolve(settings.model)
    weights: dict[str, torch.Tensor] = {}
    recipe: Sequence[Any] = ()
    if settings.start:
        begun = beginning(settings.start, model)
        if begun.format not in ("", transcript_format()):
            raise WrongUsage(f"{settings.start} learnt another form of transcripts: teach it this one by train sft.")
        settings, weights = replace(settings, lora=begun.lora, start=begun.place), dict(begun.weights)
        recipe = begun.recipe
    ModelFile.open(model)
    folder.create(
        {
            "rl": asdict(settings),
            "tasks": [asdict(task) for task in tasks],
            "machine": asdict(machine or choose_machine()),
            "format": transcript_format(),
            "files": {"model": sha256_of(model)},
            "recipe": recipe,
            "began": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"torch": torch.__version__},
        }
    )
    torch.save(weights, folder.path / REFERENCE)
    (folder.path / BANKS).mkdir()
    (folder.path / ROLLOUTS).mkdir()
    first = bank_file(folder, 0)
    prepare(first, choice)
    close_log(first)


def bank_file(folder: RunFolder, update: int) -> Path:
    """Return where the bank is after so many updates."""
    return folder.path / BANKS / f"{update:05}.db"


def rollout_file(folder: RunFolder, update: int) -> Path:
    """Return where the episodes of an update are, counted from 1."""
    return folder.path / ROLLOUTS / f"{update:05}.db"


def settings_of(recorded: dict[str, Any]) -> RlSettings:
    """Return the settings that a run's folder recorded. Raises NoRun where it was another kind of training."""
    if "rl" not in recorded:
        raise NoRun("Expected a run of reinforcement learning, found one of another kind: see train sft --resume.")
    given = recorded["rl"]
    return RlSettings(
        **{
            **given,
            "lora": lora_of(recorded),
            "reward": RewardSettings(**given["reward"]),
            "grpo": GrpoSettings(**given["grpo"]),
        }
    )
