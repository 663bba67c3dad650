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
from torch.nn.functional import scaled_dot_product_attention

from .examples import Example

ATTENTION = "evoharness_shared_beginning"
"""The name under which `transformers` knows this attention."""


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
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    shared = pack.shared
    parts: list[torch.Tensor] = []
    start = shared
    for length in pack.lengths:
        # The shared tokens ask again with each example, which is thrown away: so attention is plainly causal, for
        # which there are faster kernels than for a mask.
        q, k, v = (
            torch.cat((states[:, :, :shared], states[:, :, start : start + length]), dim=2)
            for states in (query, key, value)
        )
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling)
        parts.append(mixed if not parts else mixed[:, :, shared:])
        start += length
    return torch.cat(parts, dim=2).transpose(1, 2), None
