from __future__ import annotations

import struct
from pathlib import Path

import pytest
from gguf import GGUFWriter

from evoharness_cli.harness.protocols import OutsideFault
from evoharness_cli.models import ModelFileError, check_adapter, check_gguf


def test_the_header_tells_architecture_context_and_template(model_file: Path) -> None:
    header = check_gguf(model_file)
    assert header.architecture == "llama"
    assert header.context_length == 8192
    assert "<|im_start|>" in (header.chat_template or "")
    assert header.tensors == 272


def test_the_size_of_a_whole_file_is_the_size_it_has(model_file: Path) -> None:
    assert check_gguf(model_file).size == model_file.stat().st_size


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"found nothing there"):
        check_gguf(tmp_path / "none.gguf")


def test_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="found a folder"):
        check_gguf(tmp_path)


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"")
    with pytest.raises(ModelFileError, match="found an empty file"):
        check_gguf(tmp_path / "a.gguf")


def test_another_format_is_not_taken_for_gguf(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"PK\x03\x04 an archive")
    with pytest.raises(ModelFileError, match="starts differently"):
        check_gguf(tmp_path / "a.gguf")


def test_a_file_cut_in_its_tensors_names_both_sizes(model_file: Path, tmp_path: Path) -> None:
    whole = model_file.stat().st_size
    cut = tmp_path / "cut.gguf"
    with model_file.open("rb") as source:
        cut.write_bytes(source.read(4_000_000))
    with pytest.raises(ModelFileError, match=rf"truncated: expected {whole} bytes, found 4000000"):
        check_gguf(cut)


@pytest.mark.parametrize("length", [4, 10, 23, 200, 100_000])
def test_a_file_cut_in_its_header_is_damaged(model_file: Path, tmp_path: Path, length: int) -> None:
    cut = tmp_path / "cut.gguf"
    with model_file.open("rb") as source:
        cut.write_bytes(source.read(length))
    with pytest.raises(ModelFileError, match="truncated or damaged in its header"):
        check_gguf(cut)


def test_lengths_that_lead_out_of_the_file_are_damage(tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60) + struct.pack("<Q", 2**62) + b"key")
    with pytest.raises(ModelFileError, match="damaged"):
        check_gguf(bad)


def test_an_adapter_is_not_a_model_and_a_model_is_no_adapter(model_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "adapter.gguf"
    writer = GGUFWriter(path, "qwen2")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ModelFileError, match="found an adapter"):
        check_gguf(path)
    with pytest.raises(ModelFileError, match=r"for the architecture llama .* found one for qwen2"):
        check_adapter(path, "llama")
    with pytest.raises(ModelFileError, match="Expected a LoRA adapter"):
        check_adapter(model_file, "llama")
    assert check_adapter(path, "qwen2").architecture == "qwen2"


def test_file_faults_come_from_outside_the_harness() -> None:
    assert issubclass(ModelFileError, OutsideFault)
