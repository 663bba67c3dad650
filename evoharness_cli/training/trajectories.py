"""Episodes as conversations to learn from: which of their tokens the policy chose, and among which others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from ..harness import Constraint
from .examples import Example
from .recording import Turn


@dataclass
class Chosen:
    """Where the targets of an example come from; all lists are parallel to its labels."""

    turns: list[int] = field(default_factory=list)
    """The place of the turn in its episode, counted from 0."""
    tokens: list[int] = field(default_factory=list)
    """The place of the token in the turn's `choices`."""
    behaviour: list[float] = field(default_factory=list)
    """The log-probability with which the engine chose it, among those allowed, in nats."""


@dataclass(frozen=True)
class Trajectory:
    """A conversation of an episode, up to the last token that was chosen."""

    example: Example
    chosen: Chosen


@dataclass
class _Conversation:
    """A conversation in the making. What is forced was not chosen, and is no target."""

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    chosen: Chosen = field(default_factory=Chosen)

    def reply(self, number: int, turn: Turn) -> None:
        for place, written in enumerate(turn.choices):
            if not written.forced:
                self.positions.append(len(self.ids) - 1)
                self.labels.append(written.token)
                self.chosen.turns.append(number)
                self.chosen.tokens.append(place)
                self.chosen.behaviour.append(written.log_probability)
            if place < len(turn.written):
                self.ids.append(written.token)


def trajectories(turns: Sequence[Turn], ends: Callable[[int], bool]) -> list[Trajectory]:
    """Return an episode as few conversations: one, unless the transcript was rewritten on the way.

    A reply that was written in other tokens than its text has when it is read again stays as it was written, also
    for what follows. The engine read it the other way then; the difference is one of those that importance sampling
    makes good. `ends` tells whether a token ends a turn.
    """
    found: list[_Conversation] = []
    before: Turn | None = None
    for number, turn in enumerate(turns):
        added = _added(before, turn, ends) if before else None
        if added is None:
            found.append(_Conversation(list(turn.prompt)))
        else:
            found[-1].ids += added
        found[-1].reply(number, turn)
        before = turn
    return [
        Trajectory(
            Example(tuple(each.ids[: each.positions[-1] + 1]), tuple(each.positions), tuple(each.labels)), each.chosen
        )
        for each in found
        if each.positions
    ]


def _added(before: Turn, turn: Turn, ends: Callable[[int], bool]) -> list[int] | None:
    """Return what a prompt has behind the last reply, None where it doesn't begin with what came before."""
    known = len(before.prompt)
    if turn.prompt[:known] != before.prompt:
        return None
    tokens = tuple(each.token for each in before.written)
    if turn.prompt[known : known + len(tokens)] == tokens:
        return list(turn.prompt[known + len(tokens) :])
    end = next((at for at in range(known, len(turn.prompt)) if ends(turn.prompt[at])), None)
    return None if end is None else list(turn.prompt[end:])


class Constrained(Protocol):
    """What knows the tokens that a constraint allows, as `LlamaModel` does."""

    @property
    def vocabulary_size(self) -> int:
        """How many tokens there are."""
        ...

    def allowed(self, constraint: Constraint, tokens: Sequence[int]) -> list[NDArray[np.int64]]:
        """Return what is allowed in the place of each token of a reply, and after the last one."""
        ...


class Allowed:
    """Which tokens could have been chosen, worked out anew from the constraints."""

    def __init__(self, model: Constrained) -> None:
        self._model = model

    def bits(self, turns: Sequence[Turn], chosen: Chosen) -> NDArray[np.uint8]:
        """Return, for each target, a bit for each token of the vocabulary: (targets, bytes)."""
        rows = np.ones((len(chosen.turns), self._model.vocabulary_size), np.bool_)
        for row, allowed in zip(rows, self._sets(turns, chosen), strict=True):
            if allowed is not None:
                row[:] = False
                row[allowed] = True
        return np.packbits(rows, axis=1)

    def mask(self, bits: NDArray[np.uint8]) -> torch.Tensor:
        """Return bits as `log_probabilities` takes them: (targets, vocabulary), bool."""
        return torch.from_numpy(np.unpackbits(bits, axis=1, count=self._model.vocabulary_size).view(np.bool_))

    def _sets(self, turns: Sequence[Turn], chosen: Chosen) -> Iterator[NDArray[np.int64] | None]:
        known, sets = -1, list[NDArray[np.int64]]()
        for number, place in zip(chosen.turns, chosen.tokens, strict=True):
            turn = turns[number]
            if turn.constraint is None:
                yield None
                continue
            if number != known:
                tokens = [each.token for each in turn.written]
                known = number
                sets = self._model.allowed(turn.constraint, tokens if turn.end else tokens[:-1])
            yield sets[place]
