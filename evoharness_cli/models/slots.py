"""The cache of a llama.cpp context as slots, each of which holds one sequence of tokens."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..harness import OutsideFault
from .native import first_error, forget_errors, library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK = 64
"""Tokens of one slot in a call, at most."""
BATCH = 256
"""Tokens of one call, at most."""
_LEAST = 2
"""Tokens of a slot in a call on a CPU, at least."""
_ANY_TOKEN = 0
_PADDING = 256
"""llama.cpp rounds a slot's size up to a multiple of it."""


class EvaluationFault(OutsideFault):
    """llama.cpp could not evaluate tokens."""


class Slots:
    """The slots of one context, `size` tokens each. Not thread-safe.

    On a CPU a token's logits are the same bit for bit whatever else is in a call, and however its text is cut into
    calls, for weights whose kernels don't look at how many rows they get (F32, F16, BF16, Q8_0). For this attention is
    computed by matrix products, which is also twice as fast as llama.cpp's flash attention on a CPU. Only for a token
    that is alone in its slot's call llama.cpp has another kernel, so that such a token gets company, which is then
    forgotten.
    """

    def __init__(self, model: Any, count: int, size: int, threads: int, *, offloaded: bool) -> None:
        """Set up the context. Raises EvaluationFault."""
        llama = self._llama = library()
        self.count = count
        self._width: int = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
        parameters = llama.llama_context_default_params()
        # Some more for tokens that are evaluated only to be forgotten.
        parameters.n_ctx = count * (-(-(size + CHUNK) // _PADDING) * _PADDING)
        parameters.n_batch = parameters.n_ubatch = self.batch = min(BATCH, CHUNK * count)
        parameters.n_seq_max = count
        parameters.kv_unified = False
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.flash_attn_type = (
            llama.LLAMA_FLASH_ATTN_TYPE_ENABLED if offloaded else llama.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        parameters.no_perf = True
        forget_errors()
        self.context = llama.llama_init_from_model(model, parameters)
        if not self.context:
            raise EvaluationFault(f"llama.cpp could not set up {count} times {size} tokens of context{first_error()}.")
        self._memory = llama.llama_get_memory(self.context)
        self._batch = llama.llama_batch_init(BATCH, 0, 1)
        self.trims = not (llama.llama_model_is_recurrent(model) or llama.llama_model_is_hybrid(model))
        """Whether tokens can be taken back; a recurrent state can't."""
        self._least = 1 if offloaded or not self.trims else _LEAST
        self._lengths = [0] * count
        self._last: dict[int, int] = {}
        """Where the last token of each slot was in the latest call."""

    def evaluate(self, work: Mapping[int, Sequence[int]], wanted: set[int]) -> None:
        """Evaluate tokens after what the slots hold, in one call; logits after the last are kept for `wanted` slots.

        Slots that get fewer tokens than another are filled up, which costs as much as if they got as many; where
        tokens can't be taken back, all have to get the same number. Every slot may get 1 to CHUNK tokens, and all
        together at most `batch`. Raises EvaluationFault, after which these slots are empty.
        """
        batch, position = self._batch, 0
        length = max(self._least, *(len(tokens) for tokens in work.values()))
        self._last.clear()
        for slot in sorted(work):
            tokens = work[slot]
            self._last[slot] = position + len(tokens) - 1
            filled = [*tokens, *[_ANY_TOKEN] * (length - len(tokens))] if len(tokens) < length else tokens
            for place, token in enumerate(filled, self._lengths[slot]):
                batch.token[position] = token
                batch.pos[position] = place
                batch.n_seq_id[position] = 1
                batch.seq_id[position][0] = slot
                batch.logits[position] = 0
                position += 1
        for slot in wanted:
            batch.logits[self._last[slot]] = 1
        batch.n_tokens = position
        forget_errors()
        code = self._llama.llama_decode(self.context, batch)
        if code != 0:
            message = f"llama.cpp could not evaluate the prompt (code {code}){first_error()}."
            for slot in work:
                self.cut(slot, 0)
            raise EvaluationFault(message)
        for slot, tokens in work.items():
            self._lengths[slot] += len(tokens)
            if len(tokens) < length:
                self._llama.llama_memory_seq_rm(self._memory, slot, self._lengths[slot], -1)

    def logits(self, slot: int) -> NDArray[np.float32]:
        """Return the logits after a wanted slot's last token, one an entry of the vocabulary, until the next call."""
        import numpy as np

        pointer = self._llama.llama_get_logits_ith(self.context, self._last[slot])
        if not pointer:
            raise EvaluationFault(f"llama.cpp kept no logits{first_error()}.")
        return np.ctypeslib.as_array(pointer, shape=(self._width,))

    def cut(self, slot: int, length: int) -> int:
        """Keep the first tokens of a slot; return how many were kept, none where only all can be forgotten."""
        if not self._llama.llama_memory_seq_rm(self._memory, slot, length, -1):
            length = 0
            self._llama.llama_memory_seq_rm(self._memory, slot, -1, -1)
        self._lengths[slot] = length
        return length

    def save(self, slot: int) -> NDArray[np.uint8]:
        """Return what a slot holds."""
        import numpy as np

        size = self._llama.llama_state_seq_get_size(self.context, slot)
        state = np.empty(size, np.uint8)
        if self._llama.llama_state_seq_get_data(self.context, _pointer(state), size, slot) == 0:
            raise EvaluationFault(f"llama.cpp could not save a sequence{first_error()}.")
        return state

    def restore(self, slot: int, state: NDArray[np.uint8], length: int) -> None:
        """Make a slot hold what `save` returned for `length` tokens. Raises EvaluationFault, and the slot is empty."""
        self.cut(slot, 0)
        if self._llama.llama_state_seq_set_data(self.context, _pointer(state), len(state), slot) == 0:
            self.cut(slot, 0)
            raise EvaluationFault(f"llama.cpp could not restore a sequence of {length} tokens{first_error()}.")
        self._lengths[slot] = length

    def close(self) -> None:
        """Free the context."""
        self._llama.llama_batch_free(self._batch)
        self._llama.llama_free(self.context)


def _pointer(state: NDArray[np.uint8]) -> Any:
    return state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
