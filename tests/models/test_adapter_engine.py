"""With an adapter, as without one, a token's logits don't depend on what else is evaluated, nor on how text is cut."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conversations import at_once, opening, play, step
from gguf import GGUFWriter

from evoharness_cli.models import LlamaModel
from evoharness_cli.models.lanes import Shape
from evoharness_cli.models.slots import CHUNK, Slots

RANK = 32
SIZES = {
    "attn_q": (576, 576),
    "attn_k": (576, 192),
    "attn_v": (576, 192),
    "attn_output": (576, 576),
    "ffn_gate": (576, 1536),
    "ffn_up": (576, 1536),
    "ffn_down": (1536, 576),
}
"""Inputs and outputs of the layers of a block."""


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of every layer, in 16 bits as those that training writes."""
    path = tmp_path_factory.mktemp("adapter") / "adapter.gguf"
    random = np.random.default_rng(5)
    writer = GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 2.0 * RANK)
    for block in range(30):
        for name, (inputs, outputs) in SIZES.items():
            a, b = random.normal(0, inputs**-0.5, (RANK, inputs)), random.normal(0, 0.01, (outputs, RANK))
            writer.add_tensor(f"blk.{block}.{name}.weight.lora_a", a.astype(np.float16))
            writer.add_tensor(f"blk.{block}.{name}.weight.lora_b", b.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def slots(model_file: Path, adapter: Path) -> Iterator[Slots]:
    """Five empty slots of an adapted model."""
    with LlamaModel(model_file, adapter=adapter, context=512, slots=5, shape=Shape(1, 1)) as model:
        yield model._engine._lanes._lanes[0].slots


IDS = range(2000, 2150)


def test_logits_dont_depend_on_how_a_text_is_cut(slots: Slots) -> None:
    found = []
    for size in (CHUNK, 50, 7, 2):
        slots.cut(0, 0)
        for start in range(0, len(IDS), size):
            slots.evaluate({0: IDS[start : start + size]}, {0})
        found.append(slots.logits(0).copy())
    assert all(np.array_equal(found[0], other) for other in found[1:])
    # The last tokens one by one, as a reply is written.
    slots.cut(0, len(IDS) - 3)
    for token in IDS[-3:]:
        slots.evaluate({0: [token]}, {0})
    assert np.array_equal(slots.logits(0), found[0])
    assert np.isfinite(found[0]).all()


@pytest.mark.parametrize("together", [[0, 1], [0, 2, 3], [0, 1, 2, 3, 4]])
def test_logits_dont_depend_on_other_slots(slots: Slots, together: list[int]) -> None:
    for slot in range(5):
        slots.cut(slot, 0)
    for start in range(0, 100, 50):
        slots.evaluate({slot: IDS[start + slot : start + slot + 50] for slot in range(5)}, set())
    alone = {}
    for slot in together:
        slots.evaluate({slot: [500 + slot]}, {slot})
        alone[slot] = slots.logits(slot).copy()
        slots.cut(slot, 100)
    slots.evaluate({slot: [500 + slot] for slot in together}, set(together))
    for slot in together:
        assert np.array_equal(slots.logits(slot), alone[slot]), slot
        slots.cut(slot, 100)
    slots.evaluate({slot: [500 + slot, *range(slot)] for slot in together}, set())
    for slot in together:
        slots.cut(slot, 100)
        slots.evaluate({slot: [500 + slot]}, {slot})
        assert np.array_equal(slots.logits(slot), alone[slot]), slot


def test_replies_dont_depend_on_what_else_is_played(model_file: Path, adapter: Path) -> None:
    def game(model: LlamaModel, number: int) -> list[str]:
        return play(model.session(f"{number}"), opening(number), step(), 2, 100 * number)

    with LlamaModel(model_file, adapter=adapter, context=1024, temperature=1.0, shape=Shape(1, 1)) as model:
        alone = [game(model, number) for number in range(4)]
    with LlamaModel(model_file, adapter=adapter, context=1024, temperature=1.0, slots=3, shape=Shape(1, 1)) as model:
        assert at_once([partial(game, model, number) for number in range(4)]) == alone
