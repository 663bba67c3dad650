"""One update of group relative policy optimisation, in plain tensor code.

For each token that the policy chose, with advantage A, probabilities among the tokens that its constraint allowed:

    r = pi / pi_old                          how far this update has moved the policy
    w = min(pi_old / mu, C)                  how far the trainer's policy is from the engine's, mu, that played
    k = pi_ref / pi - log(pi_ref / pi) - 1   how far the policy is from the reference, never below 0

    loss = - sum w [ min(r A, clip(r, 1 - low, 1 + high) A) - beta k ] / number of tokens

- r, its clipping and the group's A: PPO (Schulman et al. 2017, arXiv 1707.06347) and GRPO (Shao et al. 2024,
  arXiv 2402.03300); clipping wider above than below, and every token weighing the same whatever its episode's length:
  DAPO (Yu et al. 2025, arXiv 2503.14476).
- w: truncated importance sampling (Ionides 2008, doi 10.1198/106186008X320456). The engine plays with quantised
  arithmetic and a 16-bit adapter, so even before any step its probabilities aren't the trainer's; w makes this good, up
  to C, and isn't differentiated.
- k: Schulman's unbiased estimate of the divergence (2020, http://joschu.net/blog/kl-approx.html), as in GRPO.

Tokens that were the only ones allowed were not chosen, and aren't part of this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .lora import load
from .optimise import Optimiser
from .packing import Pack, packs
from .recording import Turn
from .scoring import log_probabilities
from .trajectories import Allowed, Trajectory, trajectories


@dataclass(frozen=True)
class GrpoSettings:
    """How far an update may go."""

    passes: int = 1
    """Steps of the optimiser on the same episodes."""
    clip_low: float = 0.2
    clip_high: float = 0.28
    truncate: float = 2.0
    """C, the most that a token may count for because the trainer holds it likelier than the engine did."""
    kl: float = 0.01
    """beta; 0 spares the reference's pass."""
    clip_norm: float = 1.0
    pack_tokens: int = 2048
    """Tokens that go through the model at once; a longer episode goes alone."""


@dataclass(frozen=True)
class Weighed:
    """An episode to learn from, with an advantage for each of its replies."""

    turns: Sequence[Turn]
    advantages: Sequence[float]


@dataclass(frozen=True)
class Learnt:
    """What an update was. Log-probabilities are in nats; what is said of a ratio is of its natural logarithm."""

    loss: float
    kl: float
    """Mean k before the first step; 0 where no reference was asked."""
    norm: float
    """Of the last step's gradient, before it was clipped."""
    tokens: int
    """Chosen ones."""
    read: int
    """Tokens of all conversations."""
    mismatch: float
    """Mean size of log(pi_old / mu)."""
    mismatch_mean: float
    mismatch_most: float
    truncated: float
    """Share of tokens whose w was cut to C."""
    ratio: float
    """Mean size of log r at the last step; 0 with one pass."""
    clipped: float
    """Share of tokens whose r was clipped at the last step."""
    entropy: float
    """Mean of -log pi_old: an estimate of the policy's entropy a token."""
    conversations: int
    seconds: float


@dataclass(frozen=True)
class _Part:
    """What goes through the model at once; tensors and bits have a row for each target."""

    pack: Pack
    advantages: torch.Tensor
    behaviour: torch.Tensor
    bits: NDArray[np.uint8]


class Batch:
    """Episodes as packs, with what is known of each target."""

    def __init__(
        self, episodes: Sequence[Weighed], allowed: Allowed, ends: Callable[[int], bool], pack_tokens: int
    ) -> None:
        found = [(each, trajectory) for each in episodes for trajectory in trajectories(each.turns, ends)]
        # Those that begin alike go together, as packs compute what they share once.
        found.sort(key=lambda pair: pair[1].example.ids)
        self.allowed = allowed
        self.parts = list(self._parts(found, pack_tokens))
        self.tokens = sum(len(part.pack.labels) for part in self.parts)
        self.read = sum(len(trajectory.example.ids) for _, trajectory in found)
        self.conversations = len(found)

    def _parts(self, found: Sequence[tuple[Weighed, Trajectory]], pack_tokens: int) -> Iterator[_Part]:
        waiting = iter(found)
        for pack in packs([trajectory.example for _, trajectory in found], pack_tokens):
            advantages, behaviour, bits = list[float](), list[float](), list[NDArray[np.uint8]]()
            for _ in pack.lengths:
                weighed, trajectory = next(waiting)
                chosen = trajectory.chosen
                advantages += [weighed.advantages[turn] for turn in chosen.turns]
                behaviour += chosen.behaviour
                bits.append(self.allowed.bits(weighed.turns, chosen))
            yield _Part(pack, torch.tensor(advantages), torch.tensor(behaviour), np.concatenate(bits))

    def score(self, model: Any, part: _Part) -> torch.Tensor:
        """Return the log-probability of each target among what was allowed, (targets,)."""
        return log_probabilities(model, part.pack.to(model.device), self.allowed.mask(part.bits).to(model.device))


def learn(
    model: Any,
    parameters: Mapping[str, nn.Parameter],
    optimiser: Optimiser,
    batch: Batch,
    reference: Mapping[str, torch.Tensor],
    rate: float,
    settings: GrpoSettings,
    stop: Callable[[], bool],
) -> Learnt | None:
    """Move the policy by a batch; None when `stop`, asked between packs, said so, and the policy is then unfinished.

    `reference` are the weights that the policy is to stay close to.
    """
    start = time.monotonic()
    held: list[torch.Tensor] = []
    if settings.kl:
        with _instead(parameters, reference), torch.no_grad():
            for part in batch.parts:
                if stop():
                    return None
                held.append(batch.score(model, part))
    old: list[torch.Tensor] = []
    figures: list[_Figures] = []
    norm = 0.0
    for step in range(settings.passes):
        figures = []
        for number, part in enumerate(batch.parts):
            if stop():
                optimiser.forget()
                return None
            scores = batch.score(model, part)
            if step == 0:
                old.append(scores.detach())
            terms = _terms(scores, old[number], held[number] if held else None, part, settings)
            (terms.loss.sum() / batch.tokens).backward()
            figures.append(terms)
        norm = optimiser.step(rate)
    return _summed(figures, old, batch, norm, time.monotonic() - start)


@dataclass(frozen=True)
class _Figures:
    """The terms of a pack, each (targets,)."""

    loss: torch.Tensor
    kl: torch.Tensor
    mismatch: torch.Tensor
    truncated: torch.Tensor
    ratio: torch.Tensor
    clipped: torch.Tensor


def _terms(
    scores: torch.Tensor, old: torch.Tensor, held: torch.Tensor | None, part: _Part, settings: GrpoSettings
) -> _Figures:
    advantages = part.advantages.to(scores.device)
    mismatch = old - part.behaviour.to(scores.device)
    weight = mismatch.exp().clamp(max=settings.truncate)
    log_ratio = scores - old
    ratio = log_ratio.exp()
    bounded = ratio.clamp(1 - settings.clip_low, 1 + settings.clip_high)
    gain = torch.minimum(ratio * advantages, bounded * advantages)
    kl = torch.zeros_like(scores)
    if held is not None:
        behind = held - scores
        kl = behind.exp() - behind - 1
    return _Figures(
        loss=-weight * (gain - settings.kl * kl),
        kl=kl.detach(),
        mismatch=mismatch,
        truncated=mismatch.exp() > settings.truncate,
        ratio=log_ratio.detach(),
        clipped=(ratio * advantages > bounded * advantages).detach(),
    )


def _summed(
    figures: Sequence[_Figures], old: Sequence[torch.Tensor], batch: Batch, norm: float, seconds: float
) -> Learnt:
    def mean(values: Iterator[torch.Tensor]) -> float:
        return float(torch.cat(list(values)).float().mean())

    mismatch = torch.cat([each.mismatch for each in figures])
    return Learnt(
        loss=mean(each.loss.detach() for each in figures),
        kl=mean(each.kl for each in figures),
        norm=norm,
        tokens=batch.tokens,
        read=batch.read,
        mismatch=float(mismatch.abs().mean()),
        mismatch_mean=float(mismatch.mean()),
        mismatch_most=float(mismatch.abs().max()),
        truncated=mean(each.truncated for each in figures),
        ratio=mean(each.ratio.abs() for each in figures),
        clipped=mean(each.clipped for each in figures),
        entropy=-mean(iter(old)),
        conversations=batch.conversations,
        seconds=seconds,
    )


@contextmanager
def _instead(parameters: Mapping[str, nn.Parameter], weights: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """Give the parameters other values for a while."""
    own = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    load(parameters, weights)
    try:
        yield
    finally:
        load(parameters, own)
