"""Chooses the next token from logits, within a grammar where there is one."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..harness import OutsideFault
from .native import first_error, forget_errors, library
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class GrammarFault(OutsideFault):
    """llama.cpp can't read a grammar, or no token continues a reply within it."""


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
        order = np.argsort(-weights, kind="stable") if self.top_p < 1 else np.arange(len(weights))
        below = np.cumsum(weights[order] / weights.sum())
        kept = int(np.searchsorted(below, self.top_p)) + 1 if self.top_p < 1 else len(order)
        chosen = np.searchsorted(below, random.random() * below[min(kept, len(below)) - 1], side="right")
        return int(order[min(int(chosen), len(order) - 1)])


class Grammar:
    """A GBNF grammar and how far the reply has come in it. Raises GrammarFault when it can't be read."""

    def __init__(self, gbnf: str, vocabulary: Vocabulary, sampling: Sampling) -> None:
        import numpy as np

        self._llama = library()
        self._vocabulary = vocabulary
        self._sampling = sampling
        forget_errors()
        self._sampler = self._llama.llama_sampler_init_grammar(vocabulary.pointer, gbnf.encode(), b"root")
        if not self._sampler:
            raise GrammarFault(f"llama.cpp can't read the grammar of the reply{first_error()}.")
        kind = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        self._candidates = np.zeros(vocabulary.size, kind)

    def choose(self, logits: NDArray[np.float32], random: np.random.Generator) -> int:
        """Return a token that continues the reply within the grammar, or ends it where it is complete.

        A token is first chosen from the whole vocabulary, and only when the grammar refuses it again from
        what the grammar allows. Without nucleus sampling this has the distribution of choosing among the
        allowed tokens at once; with it, the first choice is from the nucleus of the whole vocabulary.
        """
        import numpy as np

        token = self._sampling.choose(logits, random)
        if not self._allowed(np.array([token], np.int32))[0]:
            allowed = self._allowed(np.arange(len(logits), dtype=np.int32))
            if not allowed.any():
                raise GrammarFault("No token of the model's vocabulary continues the reply within its grammar.")
            token = self._sampling.choose(np.where(allowed, logits, -np.inf).astype(np.float32), random)
        return token

    def accept(self, token: int) -> None:
        """Take a token that `choose` returned, and that doesn't end the reply, into the reply."""
        self._llama.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        """Free the grammar."""
        self._llama.llama_sampler_free(self._sampler)

    def _allowed(self, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell for each token whether the grammar allows it; a steering token is no text, however spelt."""
        candidates = self._candidates[: len(tokens)]
        candidates["id"] = tokens
        candidates["logit"] = 0
        array = self._llama.llama_token_data_array(
            data=candidates.ctypes.data_as(self._llama.llama_token_data_p),
            size=len(tokens),
            selected=-1,
            sorted=False,
        )
        self._llama.llama_sampler_apply(self._sampler, ctypes.byref(array))
        allowed: NDArray[np.bool_] = (candidates["logit"] == 0) & ~self._vocabulary.steering[tokens]
        return allowed
