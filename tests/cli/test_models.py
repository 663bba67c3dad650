"""`evoharness models` lists, fetches and looks into models."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import ROOT, Command
from stand_in_hub import hub_of

from evoharness_cli.models.catalogue import CATALOGUE, SMOLLM2_FILE, SMOLLM2_PACKAGE
from evoharness_cli.models.files import packaged_file


def test_the_models_are_listed_with_what_they_need(evoharness: Command) -> None:
    listed = {each["name"]: each for each in evoharness("models", "list", "--json").objects}

    assert set(listed) == set(CATALOGUE)
    assert listed["smollm2-135m"]["here"] is True
    qwen = listed["qwen3-8b"]
    assert (qwen["repository"], qwen["file"]) == ("Qwen/Qwen3-8B-GGUF", "Qwen3-8B-Q8_0.gguf")
    assert (qwen["licence"], qwen["here"], qwen["sha256"]) == ("Apache-2.0", False, None)
    # The weights, 1.2 GB of keys and values, and room to compute.
    assert qwen["memory"] - qwen["bytes"] == pytest.approx(1.48e9, rel=0.01)
    assert "qwen3-32b-q4" in evoharness("models", "list").out


def test_listing_loads_no_engine_and_no_client() -> None:
    heavy = ("llama_cpp", "numpy", "openai", "huggingface_hub", "httpx2")
    code = (
        "import sys; sys.argv = ['evoharness', 'models', 'list', '--json']\n"
        "from evoharness_cli.cli import main\n"
        "try: main()\n"
        f"finally: print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr.strip() == "[]"


def test_a_model_that_was_fetched_plays(
    process: Callable[..., subprocess.Popen[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    content = packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE).read_bytes()
    early = process("run", "heat-apple", "--model", "qwen3-0.6b")
    assert "`evoharness models pull qwen3-0.6b` fetches its file, about 0.6 GB" in early.communicate()[1]
    assert early.returncode == 3

    with hub_of("Qwen/Qwen3-0.6B-GGUF", "Qwen3-0.6B-Q8_0.gguf", content) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        pulled = process("models", "pull", "qwen3-0.6b")
        said, complaints = pulled.communicate()
    assert (pulled.returncode, complaints) == (0, "")
    assert "qwen3-0.6b is here: " in said

    played = process("run", "heat-apple", "--model", "qwen3-0.6b", "--max-steps", 1, "--json")
    said, _ = played.communicate()
    assert '"outcome": "out of steps"' in said
    assert played.returncode == 1


def test_without_a_hub_pulling_is_a_sentence(
    evoharness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    ended = evoharness("models", "pull", "qwen3-4b")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("error: HF_HUB_OFFLINE is set, so ")
    assert ended.err.count("\n") == 1


def test_what_is_here_needs_no_fetching_and_what_has_no_name_is_not_fetched(evoharness: Command) -> None:
    (pulled,) = evoharness("models", "pull", "smollm2-135m", "--json").objects
    assert Path(pulled["file"]).is_file()
    assert len(pulled["sha256"]) == 64
    unknown = evoharness("models", "pull", "qwen3-8g")
    assert unknown.code == 2
    assert "No model is called 'qwen3-8g'. Did you mean qwen3-8b" in unknown.err


def test_a_model_that_is_here_is_looked_into_and_measured(evoharness: Command) -> None:
    (found,) = evoharness("models", "info", "smollm2-135m", "--json").objects

    contents = found["contents"]
    assert (contents["architecture"], contents["quantisation"]) == ("llama", "Q8_0")
    assert (contents["parameters"], contents["trained_context"]) == (134_515_008, 8192)
    # 30 blocks of 3 heads of 64 numbers of 16 bits, for keys and for values: what the catalogue says as well.
    assert contents["kept_bytes"] == 30 * 3 * 64 * 2 * 2 == CATALOGUE["smollm2-135m"].kept.bytes
    assert found["need"] == CATALOGUE["smollm2-135m"].memory(8192)
    assert (found["fits"], found["speed"]["how"]) == (True, "measured with the engine")
    assert found["speed"]["prompt"] > found["speed"]["reply"] > 1
    (same,) = evoharness("models", "info", found["file"], "--json").objects
    assert (same["contents"], same["sha256"], same["licence"]) == (contents, found["sha256"], None)


def test_a_model_that_is_not_here_is_estimated(
    evoharness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr("evoharness_cli.models.describing.memory", lambda: 16 * 10**9)

    small = evoharness("models", "info", "qwen3-8b").out
    large = evoharness("models", "info", "qwen3-32b").out

    assert "not here; fetch it with: evoharness models pull qwen3-8b (8.71 GB)" in small
    assert "memory 10.2 GB with 8,192 tokens of context; this machine holds it, with 16.0 GB" in small
    assert "this machine does not hold it, with 16.0 GB" in large
    assert "of a reply a second, estimated from " in small
