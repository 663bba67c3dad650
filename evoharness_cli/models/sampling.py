"""Chooses the next token from logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LIKELY = 512
"""Tokens among which a nucleus is looked for first, since sorting a whole vocabulary takes milliseconds."""


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen: the likeliest at temperature 0, else by chance.

    The logits are divided by `temperature`, then the smallest set of likeliest tokens whose probability
    reaches `top_p` is kept (nucleus sampling, https://arxiv.org/abs/1904.09751).
    """

    temperature: float = 0.0
    top_p: float = 1.0

    def choose(self, logits: NDArray[np.float32], random: np.random.Generator) -> int:
        """Return the chosen token; a logit of minus infinity is never chosen while another is not."""
        import numpy as np

        if self.temperature == 0:
            return int(logits.argmax())
        scaled = logits.astype(np.float64) / self.temperature
        weights = np.exp(scaled - scaled.max())
        below: NDArray[np.float64]
        if self.top_p < 1:
            order = _nucleus(weights, self.top_p)
            below = np.cumsum(weights[order])
        else:
            order = np.arange(len(weights))
            below = np.cumsum(weights)
        chosen = np.searchsorted(below, random.random() * below[-1], side="right")
        return int(order[min(int(chosen), len(order) - 1)])


def log_probability(logits: NDArray[np.float32], chosen: int) -> float:
    """Return the natural logarithm of the probability (softmax) of one of the logits."""
    import numpy as np

    shifted = logits.astype(np.float64) - float(logits.max())
    return float(shifted[chosen] - np.log(np.exp(shifted).sum()))


def _nucleus(weights: NDArray[np.float64], top_p: float) -> NDArray[np.int64]:
    """Return the places of the fewest weights that make up `top_p` of all, the largest first."""
    import numpy as np

    total = weights.sum()
    for count in (_LIKELY, len(weights)):
        likely = np.argpartition(-weights, count - 1)[:count] if count < len(weights) else np.arange(len(weights))
        order = likely[np.argsort(-weights[likely], kind="stable")]
        reached = np.cumsum(weights[order]) / total
        if reached[-1] >= top_p or len(order) == len(weights):
            break
    kept: NDArray[np.int64] = order[: int(np.searchsorted(reached, top_p)) + 1]
    return kept
