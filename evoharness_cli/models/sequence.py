"""One sequence of tokens in llama.cpp's cache, which evaluates only what is new."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..harness import OutsideFault
from .native import first_error, forget_errors, library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK = 63
"""Tokens of one decode call. On a CPU with flash attention, calls of 2 to 63 tokens give the same logits bit for bit,
however a text is cut into them; a call of one token, or of 64 and more, takes other kernels that round differently."""


class EvaluationFault(OutsideFault):
    """llama.cpp could not evaluate tokens."""


class CachedSequence:
    """The tokens evaluated so far in a context of `size` tokens, and the logits after the last one."""

    def __init__(self, model: Any, size: int, threads: int) -> None:
        llama = self._llama = library()
        self._width: int = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
        parameters = llama.llama_context_default_params()
        parameters.n_ctx = size
        parameters.n_batch = parameters.n_ubatch = CHUNK
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.flash_attn_type = llama.LLAMA_FLASH_ATTN_TYPE_ENABLED
        parameters.no_perf = True
        forget_errors()
        self.context = llama.llama_init_from_model(model, parameters)
        if not self.context:
            raise EvaluationFault(f"llama.cpp could not set up a context of {size} tokens{first_error()}.")
        self._memory = llama.llama_get_memory(self.context)
        self._batch = llama.llama_batch_init(CHUNK, 0, 1)
        # A recurrent state can't give a token back, so a lone one is evaluated alone there.
        self._pads = not (llama.llama_model_is_recurrent(model) or llama.llama_model_is_hybrid(model))
        self._last = 0
        """Where the last token of `ids` was in the batch."""
        self.ids: list[int] = []
        """What was evaluated, in order."""

    def advance_to(self, prompt: Sequence[int]) -> int:
        """Make the sequence equal to a prompt of at least one token; return how many tokens it evaluated.

        What the prompt shares with the sequence from the start is kept, except that the last token is always
        evaluated when it is the end of both, since its logits are asked for. Raises EvaluationFault.
        """
        kept = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(self.ids, prompt, strict=False)))
        kept = min(kept, len(prompt) - 1)
        if kept < len(self.ids):
            self._cut(kept)
        new = prompt[len(self.ids) :]
        self.append(new)
        return len(new)

    def append(self, tokens: Sequence[int]) -> None:
        """Evaluate tokens after the sequence. Raises EvaluationFault, and then the sequence is empty."""
        for start in range(0, len(tokens), CHUNK):
            self._evaluate(list(tokens[start : start + CHUNK]))

    def logits(self) -> NDArray[np.float32]:
        """Return a copy of the logits after the last token, one for each entry of the vocabulary."""
        import numpy as np

        pointer = self._llama.llama_get_logits_ith(self.context, self._last)
        return np.ctypeslib.as_array(pointer, shape=(self._width,)).copy()

    def close(self) -> None:
        """Free the context."""
        self._llama.llama_batch_free(self._batch)
        self._llama.llama_free(self.context)

    def _evaluate(self, chunk: list[int]) -> None:
        # A lone token is evaluated with a double that is then forgotten, so that no call has one token or one output
        # and a later batch of several sequences gives the same.
        padded = chunk * 2 if len(chunk) == 1 and self._pads else chunk
        batch = self._batch
        batch.n_tokens = len(padded)
        for index, token in enumerate(padded):
            batch.token[index] = token
            batch.pos[index] = len(self.ids) + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = 0
            batch.logits[index] = index >= len(padded) - 2
        forget_errors()
        code = self._llama.llama_decode(self.context, batch)
        if code != 0:
            self._cut(0)
            raise EvaluationFault(f"llama.cpp could not evaluate the prompt (code {code}){first_error()}.")
        self.ids += chunk
        self._last = len(chunk) - 1
        if len(padded) > len(chunk):
            self._llama.llama_memory_seq_rm(self._memory, 0, len(self.ids), -1)

    def _cut(self, kept: int) -> None:
        if not self._llama.llama_memory_seq_rm(self._memory, 0, kept, -1):
            # Models with a recurrent state can only forget everything.
            kept = 0
            self._llama.llama_memory_clear(self._memory, True)
        del self.ids[kept:]
