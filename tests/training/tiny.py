"""A model of two small blocks, and examples of numbers."""

from __future__ import annotations

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from evoharness_cli.training.examples import Example
from evoharness_cli.training.scoring import prepare

VOCABULARY = 64


def model(seed: int = 0) -> LlamaForCausalLM:
    """Return a model with random weights, in 32 bits."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        initializer_range=0.3,
    )
    made = LlamaForCausalLM(config).eval()
    prepare(made)
    return made


def examples() -> list[Example]:
    """Return examples that begin alike, of different lengths, with targets at several places."""
    shared = tuple(range(1, 10))
    return [
        Example((*shared, 20, 21, 22, 23), (8, 9, 12), (20, 21, 5)),
        Example((*shared, 30), (9,), (31,)),
        # A target within what all share.
        Example((*shared, 20, 40, 41, 42, 43, 44, 45), (3, 14, 15), (5, 45, 9)),
    ]
