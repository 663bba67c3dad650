"""Low-rank adaptation: the weights stay as they are, and each adapted layer learns a difference of low rank.

    y = W x + (alpha / rank) B A x

with A (rank, in) drawn at random and B (out, rank) zero at first (Hu et al. 2021, arXiv 2106.09685). A and B are kept
in 32 bits whatever W is kept in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.functional import linear

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""The linear layers of a block, as `transformers` names them."""


@dataclass(frozen=True)
class LoraSettings:
    """What is adapted, and how far. `layers` are the last so many blocks; None are all."""

    rank: int = 32
    alpha: float = 64.0
    layers: int | None = None
    targets: tuple[str, ...] = TARGETS


class LoraLinear(nn.Module):  # type: ignore[misc]
    """A linear layer with a low-rank difference, which `on` switches."""

    def __init__(self, base: nn.Linear, settings: LoraSettings, generator: torch.Generator) -> None:
        super().__init__()
        self.base = base
        self.scale = settings.alpha / settings.rank
        self.on = True
        a = torch.empty(settings.rank, base.in_features)
        a.uniform_(-1, 1, generator=generator).mul_(math.sqrt(3 / base.in_features))
        device = base.weight.device
        self.lora_a = nn.Parameter(a.to(device))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, settings.rank, device=device))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the layer's output."""
        y = linear(x, self.base.weight, self.base.bias)
        if not self.on:
            return y
        inner = linear(x, self.lora_a.to(x.dtype)).flatten(0, -2)
        # Product and sum in one pass over memory, which is what takes the time on a CPU.
        return torch.addmm(y.flatten(0, -2), inner, self.lora_b.to(x.dtype).t(), alpha=self.scale).view_as(y)


def attach(model: nn.Module, settings: LoraSettings, seed: int) -> dict[str, nn.Parameter]:
    """Freeze a model and adapt its layers; return the parameters to train by name (`layers.3.self_attn.q_proj.lora_a`).

    `model` is the decoder of a `transformers` causal model, whose blocks are `layers`.
    """
    model.requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    count = len(model.layers)
    first = 0 if settings.layers is None else max(0, count - settings.layers)
    for block in model.layers[first:]:
        for parent in list(block.modules()):
            for name, child in list(parent.named_children()):
                if name in settings.targets and isinstance(child, nn.Linear):
                    setattr(parent, name, LoraLinear(child, settings, generator))
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def load(parameters: Mapping[str, nn.Parameter], weights: Mapping[str, torch.Tensor]) -> None:
    """Give the parameters of `attach` the values of another run's; raises KeyError, RuntimeError where they differ."""
    if set(parameters) != set(weights):
        raise KeyError(f"other layers are adapted: {sorted(set(parameters) ^ set(weights))[0]}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])


@contextmanager
def switched_off(model: nn.Module) -> Iterator[None]:
    """Answer as the base model does for a while, as a reference for how far training went."""
    layers: list[Any] = [module for module in model.modules() if isinstance(module, LoraLinear)]
    for layer in layers:
        layer.on = False
    try:
        yield
    finally:
        for layer in layers:
            layer.on = True
