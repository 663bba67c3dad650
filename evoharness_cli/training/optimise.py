"""One step of training: gradients of several passes, clipped, and AdamW."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from .processes import ALONE, Processes


class Optimiser:
    """AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101) over the adapted layers, without decay of weights.

    Passes of one update add up their gradients by `backward` of a loss each; `step` applies and clears them.
    """

    def __init__(self, parameters: Mapping[str, nn.Parameter], clip: float) -> None:
        self._parameters = list(parameters.values())
        self._clip = clip
        self._adam = torch.optim.AdamW(self._parameters, lr=0.0, betas=(0.9, 0.99), weight_decay=0.0)

    def step(self, rate: float, processes: Processes = ALONE) -> float:
        """Move the parameters at a learning rate, by the gradients of all processes together.

        Return the norm that the gradient had before it was clipped.
        """
        processes.add_gradients(self._parameters)
        norm = nn.utils.clip_grad_norm_(self._parameters, self._clip)
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()
        self.forget()
        return float(norm)

    def forget(self) -> None:
        """Drop the gradients so far."""
        self._adam.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Any]:
        """Return what `restore` takes."""
        state: dict[str, Any] = self._adam.state_dict()
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from another run's `state`."""
        self._adam.load_state_dict(dict(state))
