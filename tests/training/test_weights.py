"""A GGUF file of each architecture that can be trained gives torch what llama.cpp computes, adapter and all."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gguf import GGUFWriter, get_tensor_name_map  # noqa: E402
from transformers import AutoConfig, AutoModelForCausalLM  # noqa: E402

from evoharness_cli.models.gguf import load_gguf  # noqa: E402
from evoharness_cli.models.native import library  # noqa: E402
from evoharness_cli.models.slots import Slots  # noqa: E402
from evoharness_cli.training import lora  # noqa: E402
from evoharness_cli.training.adapter_file import write_adapter  # noqa: E402
from evoharness_cli.training.examples import Example  # noqa: E402
from evoharness_cli.training.packing import pack  # noqa: E402
from evoharness_cli.training.scoring import target_logits  # noqa: E402
from evoharness_cli.training.weights import ARCHITECTURES, Layout, ModelFile, UntrainableModel  # noqa: E402

BLOCKS, HEADS, KEY_VALUE_HEADS, HEAD, WIDTH, INNER, WORDS = 2, 4, 2, 32, 128, 192, 96
IDS = tuple(range(3, 20))


def made(architecture: str) -> Any:
    """Return a small model with random weights."""
    torch.manual_seed(1)
    config = AutoConfig.for_model(
        architecture,
        vocab_size=WORDS,
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=BLOCKS,
        num_attention_heads=HEADS,
        num_key_value_heads=KEY_VALUE_HEADS,
        head_dim=HEAD,
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0},
        tie_word_embeddings=architecture != "llama",
    )
    model = AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 1.0 if parameter.ndim == 1 else 0.0, 0.1)
    return model.eval()


def write(path: Path, architecture: str, model: Any) -> Path:
    """Write a model as a file without a vocabulary."""
    layout = Layout(architecture, get_tensor_name_map(ARCHITECTURES[architecture], BLOCKS), HEADS, KEY_VALUE_HEADS)
    writer = GGUFWriter(path, architecture)
    writer.add_context_length(256)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_VALUE_HEADS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_rope_dimension_count(HEAD)
    writer.add_rope_freq_base(5000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(WORDS)
    writer.add_tokenizer_model("no_vocab")
    for name, parameter in model.named_parameters():
        there = layout.name(name)
        writer.add_tensor(there, np.ascontiguousarray(layout.to_file(there, parameter.detach().numpy())))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def engine_logits(path: Path, adapter: Path | None) -> Any:
    """Return llama.cpp's logits after the ids."""
    llama = library()
    model = load_gguf(path)
    slots = Slots(model, 1, 64, 1, offloaded=False)
    try:
        if adapter:
            loaded = (llama.llama_adapter_lora_p_ctypes * 1)(llama.llama_adapter_lora_init(model, bytes(adapter)))
            llama.llama_set_adapters_lora(slots.context, loaded, 1, (ctypes.c_float * 1)(1.0))
        slots.evaluate({0: IDS}, {0})
        return torch.tensor(slots.logits(0).copy())
    finally:
        slots.close()
        llama.llama_model_free(model)


@pytest.mark.parametrize("architecture", list(ARCHITECTURES))
def test_torch_and_the_engine_compute_the_same(architecture: str, tmp_path: Path) -> None:
    path = write(tmp_path / "model.gguf", architecture, made(architecture))
    base = ModelFile.open(path)
    model = base.load(torch.float32, torch.device("cpu"))
    example = pack([Example(IDS, (len(IDS) - 1,), (1,))])
    plain = target_logits(model, example)[0]
    assert torch.allclose(plain, engine_logits(path, None), atol=0.02)

    parameters = lora.attach(model.model, lora.LoraSettings(rank=4, alpha=8.0), seed=2)
    for parameter in parameters.values():
        torch.nn.init.normal_(parameter, 0.0, 0.1)
    write_adapter(tmp_path / "adapter.gguf", base, parameters, 8.0, {"format": "a"})
    adapted = target_logits(model, example)[0]
    assert not torch.allclose(plain, adapted, atol=0.5)
    assert torch.allclose(adapted, engine_logits(path, tmp_path / "adapter.gguf"), atol=0.03)


def test_another_architecture_is_a_sentence(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "other.gguf", "gemma3")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(UntrainableModel, match="architecture llama, qwen2, qwen3 to train, found gemma3"):
        ModelFile.open(tmp_path / "other.gguf")
