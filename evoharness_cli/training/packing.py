"""Several examples in one pass, of which what all begin with is computed once.

The beginning that conversations share (the system prompt; among rollouts of one task the opening too) has the same
hidden states in each, so computing it once and adding up the gradients that flow into it is exact, and not an
approximation: every example attends to the shared beginning and to itself, at its own positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .examples import Example

ATTENTION = "evoharness_shared_beginning"
"""The name under which `transformers` knows this attention."""
_BLOCK = 128
"""Queries that are attended for at once."""


@dataclass(frozen=True)
class Pack:
    """Examples one after the other behind what they share; all tensors are one-dimensional."""

    ids: torch.Tensor
    places: torch.Tensor
    """The position of each token in its own conversation."""
    shared: int
    """How many tokens all begin with."""
    lengths: tuple[int, ...]
    """How many tokens each example has behind these."""
    targets: torch.Tensor
    """Indices into `ids`, after which a label has to come."""
    labels: torch.Tensor

    def to(self, device: torch.device) -> Pack:
        """Return the pack on a device."""
        moved = (tensor.to(device) for tensor in (self.ids, self.places, self.targets, self.labels))
        ids, places, targets, labels = moved
        return Pack(ids, places, self.shared, self.lengths, targets, labels)


def pack(examples: Sequence[Example]) -> Pack:
    """Return examples as one pack."""
    shared = shared_beginning(examples)
    ids, places = list(examples[0].ids[:shared]), list(range(shared))
    targets: list[int] = []
    labels: list[int] = []
    for example in examples:
        # Where its own tokens begin in the pack, less where they begin in the example.
        shift = len(ids) - shared
        targets += [at if at < shared else at + shift for at in example.positions]
        labels += example.labels
        ids += example.ids[shared:]
        places += range(shared, len(example.ids))
    lengths = tuple(len(example.ids) - shared for example in examples)
    tensors = (torch.tensor(values, dtype=torch.long) for values in (ids, places, targets, labels))
    ids_, places_, targets_, labels_ = tensors
    return Pack(ids_, places_, shared, lengths, targets_, labels_)


def packs(examples: Sequence[Example], most: int) -> Iterator[Pack]:
    """Yield examples, in their order, in packs of at most `most` tokens; one that is longer goes alone."""
    waiting: list[Example] = []
    for example in examples:
        together = [*waiting, example]
        shared = shared_beginning(together)
        if waiting and shared + sum(len(each.ids) - shared for each in together) > most:
            yield pack(waiting)
            together = [example]
        waiting = together
    if waiting:
        yield pack(waiting)


def shared_beginning(examples: Sequence[Example]) -> int:
    """Return how many tokens all examples begin with; each has at least one more."""
    first, last = min(each.ids for each in examples), max(each.ids for each in examples)
    most = min(len(each.ids) for each in examples) - 1
    return next((at for at in range(most) if first[at] != last[at]), most)


def attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: None,
    scaling: float | None = None,
    *,
    pack: Pack,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Return what each token of a pack attends to, (1, tokens, heads, width), for states (1, heads, tokens, width)."""
    del module, attention_mask
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    grouped = query[0].unflatten(0, (key.shape[1], -1))
    mixed = _Attention.apply(grouped, key[0], value[0], pack, scale)
    return mixed.flatten(0, 1).transpose(0, 1)[None], None


class _Attention(torch.autograd.Function):  # type: ignore[misc]
    """Causal attention within the parts of a pack, by blocks of queries, with what they may not see left out.

    For queries (groups, heads a group, tokens, width), keys and values (groups, tokens, width). Blocks are plain matrix
    products, so that what the examples share isn't asked again with each of them.
    """

    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, pack: Pack, scale: float
    ) -> torch.Tensor:
        mixed = torch.empty_like(query)
        kept: list[torch.Tensor] = []
        for part in _parts(pack):
            keys, values = part.seen(key), part.seen(value)
            for rows, end in part.blocks():
                scores = _product(query[:, :, rows] * scale, keys[:, :end].mT)
                own = scores[..., end - scores.shape[2] :]
                own += torch.full(own.shape[2:], -torch.inf, dtype=own.dtype, device=own.device).triu(1)
                chances = torch.softmax(scores, -1)
                mixed[:, :, rows] = _product(chances, values[:, :end])
                kept.append(chances)
        ctx.save_for_backward(query, key, value, mixed, *kept)
        ctx.pack, ctx.scale = pack, scale
        return mixed

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, None, None]:
        query, key, value, mixed, *kept = ctx.saved_tensors
        of_query = torch.empty_like(query)
        of_key, of_value = (torch.zeros_like(each, dtype=torch.float32) for each in (key, value))
        # The derivative of the softmax takes this off each score's gradient.
        common = (grad.float() * mixed.float()).sum(-1, keepdim=True).to(grad.dtype)
        chances_of = iter(kept)
        for part in _parts(ctx.pack):
            keys, values = part.seen(key), part.seen(value)
            for rows, end in part.blocks():
                chances, above = next(chances_of), grad[:, :, rows]
                of_scores = _product(above, values[:, :end].mT).sub_(common[:, :, rows]).mul_(chances)
                of_query[:, :, rows] = _product(of_scores, keys[:, :end])
                part.add(of_value, chances.flatten(1, 2).mT @ above.flatten(1, 2))
                part.add(of_key, of_scores.flatten(1, 2).mT @ query[:, :, rows].flatten(1, 2))
        of_query *= ctx.scale
        of_key *= ctx.scale
        return of_query, of_key.to(key.dtype), of_value.to(value.dtype), None, None


@dataclass(frozen=True)
class _Part:
    """What of a pack asks together: its shared beginning, or an example, which sees that beginning too."""

    shared: int
    """How many tokens before it, at the beginning of the pack, it sees."""
    start: int
    length: int

    def seen(self, states: torch.Tensor) -> torch.Tensor:
        """Return of keys or values (groups, tokens, width) those that it sees."""
        own = states[:, self.start : self.start + self.length]
        return torch.cat((states[:, : self.shared], own), dim=1) if self.shared else own

    def blocks(self) -> Iterator[tuple[slice, int]]:
        """Yield the places of the queries of a block in the pack, and how many of `seen` its last query sees."""
        for at in range(0, self.length, _BLOCK):
            until = min(self.length, at + _BLOCK)
            yield slice(self.start + at, self.start + until), self.shared + until

    def add(self, total: torch.Tensor, gradient: torch.Tensor) -> None:
        """Add the gradient of the first of `seen` where these are in the pack."""
        own = gradient.shape[1] - self.shared
        total[:, : self.shared] += gradient[:, : self.shared]
        total[:, self.start : self.start + own] += gradient[:, self.shared :]


def _parts(pack: Pack) -> Iterator[_Part]:
    if pack.shared:
        yield _Part(0, 0, pack.shared)
    start = pack.shared
    for length in pack.lengths:
        yield _Part(pack.shared, start, length)
        start += length


def _product(rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return rows (groups, heads a group, queries, inner) times (groups, inner, columns)."""
    return (rows.flatten(1, 2) @ columns).unflatten(1, rows.shape[1:3])
