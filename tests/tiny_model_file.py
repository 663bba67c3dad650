"""A model file of one small block, with the chat template and the beginning of the vocabulary of the embedded model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFReader, GGUFValueType, GGUFWriter

from evoharness_cli.models import resolve

WIDTH, INNER = 32, 64
HEADS, KEY_VALUE_HEADS = 4, 2
MERGES = 512
"""Pairs of tokens that make a token."""


def write_model(path: Path) -> Path:
    """Write a model with random weights."""
    origin = GGUFReader(resolve("smollm2-135m"))
    writer = GGUFWriter(path, "llama")
    known = {name: field for name, field in origin.fields.items() if name.startswith("tokenizer.")}
    # Tokens that pairs make come last, in the order of the pairs.
    single = len(known["tokenizer.ggml.tokens"].data) - len(known["tokenizer.ggml.merges"].data)
    words = single + MERGES
    for name, field in known.items():
        if field.types[0] is GGUFValueType.ARRAY:
            kept = field.contents()[: MERGES if name.endswith("merges") else words]
            writer.add_array(name, kept)
        else:
            writer.add_key_value(name, field.contents(), field.types[0])
    writer.add_block_count(1)
    writer.add_context_length(2048)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_VALUE_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    of_heads = WIDTH * KEY_VALUE_HEADS // HEADS
    shapes = {
        "token_embd.weight": (words, WIDTH),
        "output_norm.weight": (WIDTH,),
        "blk.0.attn_norm.weight": (WIDTH,),
        "blk.0.ffn_norm.weight": (WIDTH,),
        "blk.0.attn_q.weight": (WIDTH, WIDTH),
        "blk.0.attn_k.weight": (of_heads, WIDTH),
        "blk.0.attn_v.weight": (of_heads, WIDTH),
        "blk.0.attn_output.weight": (WIDTH, WIDTH),
        "blk.0.ffn_gate.weight": (INNER, WIDTH),
        "blk.0.ffn_up.weight": (INNER, WIDTH),
        "blk.0.ffn_down.weight": (WIDTH, INNER),
    }
    random = np.random.default_rng(5)
    for name, shape in shapes.items():
        weights = np.ones(shape) if "norm" in name else random.normal(0, 0.3, shape)
        writer.add_tensor(name, weights.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
