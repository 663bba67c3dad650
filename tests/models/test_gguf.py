from __future__ import annotations

import struct
from pathlib import Path

import pytest
from gguf import GGUFWriter

from evoharness_cli.harness import OutsideFault
from evoharness_cli.models import ModelFileError
from evoharness_cli.models.gguf import check_start, check_whole


def test_a_model_is_whole(model_file: Path) -> None:
    check_whole(model_file)
    assert check_start(model_file).startswith(b"GGUF")


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"found nothing there"):
        check_whole(tmp_path / "none.gguf")


def test_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="found a folder"):
        check_whole(tmp_path)


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"")
    with pytest.raises(ModelFileError, match="found an empty file"):
        check_whole(tmp_path / "a.gguf")


def test_another_format_is_not_taken_for_gguf(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"PK\x03\x04 an archive")
    with pytest.raises(ModelFileError, match="starts differently"):
        check_whole(tmp_path / "a.gguf")


@pytest.mark.parametrize("missing", [1, 100_000_000])
def test_a_file_cut_in_its_tensors_is_incomplete(model_file: Path, tmp_path: Path, missing: int) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(model_file.read_bytes()[:-missing])
    with pytest.raises(ModelFileError, match=r"load the model .*cut.gguf: error loading model: tensor .* incomplete\."):
        check_whole(cut)


@pytest.mark.parametrize("length", [4, 10, 23, 200, 100_000])
def test_a_file_cut_in_its_header_says_what_could_not_be_read(model_file: Path, tmp_path: Path, length: int) -> None:
    cut = tmp_path / "cut.gguf"
    with model_file.open("rb") as source:
        cut.write_bytes(source.read(length))
    with pytest.raises(ModelFileError, match=r"cut.gguf: failed to read (header|key-value pairs)\."):
        check_whole(cut)


def test_lengths_that_lead_out_of_the_file_are_damage(tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 2**62) + b"key")
    with pytest.raises(ModelFileError, match="string length 4611686018427387904 exceeds maximum"):
        check_whole(bad)


def test_the_cause_told_is_that_of_the_latest_failure(model_file: Path, tmp_path: Path) -> None:
    for length, cause in ((10, "failed to read header"), (200, "failed to read key-value pairs")):
        cut = tmp_path / "cut.gguf"
        with model_file.open("rb") as source:
            cut.write_bytes(source.read(length))
        with pytest.raises(ModelFileError, match=cause):
            check_whole(cut)


def test_an_adapter_is_not_a_model(tmp_path: Path) -> None:
    path = tmp_path / "adapter.gguf"
    writer = GGUFWriter(path, "qwen2")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ModelFileError, match="found an adapter: give it as the adapter of its base model"):
        check_whole(path)


def test_file_faults_come_from_outside_the_harness() -> None:
    assert issubclass(ModelFileError, OutsideFault)
