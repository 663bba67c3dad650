"""One reply as it is written: what its constraint forces is added, the rest is chosen from logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .automaton import Automaton
from .sampling import Sampling, log_probability
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Written:
    """A token of a reply, its log-probability among those allowed (temperature 1), and whether it was the only one."""

    token: int
    log_probability: float = 0.0
    forced: bool = False


class Writer:
    """Writes one reply of at most `max_tokens` tokens, within an automaton where there is one.

    With `scored` each chosen token gets its log-probability, which costs a pass over what was allowed.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        automaton: Automaton | None,
        sampling: Sampling,
        max_tokens: int,
        seed: int,
        *,
        scored: bool = False,
    ) -> None:
        import numpy as np

        self._vocabulary = vocabulary
        self._automaton = automaton
        self._state = automaton.start if automaton else None
        self._sampling = sampling
        self._max_tokens = max_tokens
        self._random = np.random.default_rng(seed)
        self._scored = scored
        self.written: list[Written] = []
        self.over = max_tokens <= 0
        self.end: Written | None = None
        """How the reply ended, None when it was cut at `max_tokens`."""

    def force(self) -> list[int]:
        """Add the tokens that have to come next, and return them. Raises DeadEnd."""
        added: list[int] = []
        while not self.over and self._automaton and self._state:
            options = self._automaton.options(self._state)
            if options.complete and not len(options.tokens):
                self._finish(Written(self._vocabulary.end, forced=True))
            elif options.forced is None:
                break
            else:
                self._add(Written(options.forced, forced=True))
                added.append(options.forced)
        return added

    def choose(self, logits: NDArray[np.float32]) -> list[int]:
        """Choose the next token and add it with those that have to follow it; return them. Raises DeadEnd."""
        allowed: NDArray[np.int64] | None = None
        if self._automaton and self._state:
            allowed = self._automaton.options(self._state).choices(self._vocabulary.end)
            logits = logits[allowed]
        chosen = self._sampling.choose(logits, self._random)
        score = log_probability(logits, chosen) if self._scored else 0.0
        token = chosen if allowed is None else int(allowed[chosen])
        if self._vocabulary.ends(token):
            self._finish(Written(token, score))
            return []
        self._add(Written(token, score))
        return [token, *self.force()]

    def _add(self, written: Written) -> None:
        self.written.append(written)
        if self._automaton and self._state:
            self._state = self._automaton.advance(self._state, written.token)
        self.over = len(self.written) >= self._max_tokens

    def _finish(self, end: Written) -> None:
        self.end = end
        self.over = True
