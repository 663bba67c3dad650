"""How likely a model holds given tokens: the one function that losses, validation and policy gradients share."""

from __future__ import annotations

from typing import Any

import torch

from .packing import ATTENTION, Pack, attention


def log_probabilities(model: Any, pack: Pack, allowed: torch.Tensor | None = None) -> torch.Tensor:
    """Return the log-probability of each label of a pack, float32, (targets,), with gradients where they are on.

    `model` is a causal model of `transformers` with the attention of `prepare`. The head is computed for the targets
    only. `allowed` (targets, vocabulary) tells which tokens could have been chosen, as when a grammar ruled the rest
    out: probabilities are then among these. A token that was the only one allowed has log-probability 0, and teaches
    nothing.
    """
    logits = target_logits(model, pack)
    if allowed is not None:
        logits = logits.masked_fill(~allowed, -torch.inf)
    return -torch.nn.functional.cross_entropy(logits, pack.labels, reduction="none")


def target_logits(model: Any, pack: Pack) -> torch.Tensor:
    """Return the logits after each target of a pack, float32, (targets, vocabulary)."""
    hidden = model.model(
        input_ids=pack.ids[None], position_ids=pack.places[None], use_cache=False, pack=pack
    ).last_hidden_state
    logits: torch.Tensor = model.lm_head(hidden[0].index_select(0, pack.targets))
    return logits.float()


def prepare(model: Any) -> None:
    """Give a causal model of `transformers` the attention that packs need."""
    from transformers import AttentionInterface

    AttentionInterface.register(ATTENTION, attention)
    model.set_attn_implementation(ATTENTION)
