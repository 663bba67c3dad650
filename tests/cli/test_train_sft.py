"""Training from the command line: what it refuses, and what Ctrl-C leaves."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Command

TORCH = importlib.util.find_spec("torch") and importlib.util.find_spec("transformers")


@pytest.fixture
def demonstrations(tmp_path: Path) -> Path:
    """Three demonstrations of one reply each."""
    path = tmp_path / "demos.jsonl"
    with path.open("w") as file:
        for number in range(3):
            messages = [
                {"role": "system", "text": "Reply with one action."},
                {"role": "user", "text": f"You see a desk {number}."},
                {"role": "assistant", "text": f"go to desk {number}", "loss": True},
            ]
            file.write(json.dumps({"format": "a", "messages": messages}) + "\n")
    return path


def test_what_is_missing_or_contradicts_is_said(evoharness: Command, demonstrations: Path, tmp_path: Path) -> None:
    nothing = evoharness("train", "sft")
    assert (nothing.code, nothing.out) == (2, "")
    assert "Expected demonstrations and --out FOLDER, or --resume FOLDER" in nothing.err

    other = evoharness("train", "sft", "--resume", tmp_path, "--lr", "0.1", "--rank", 4)
    assert other.code == 2
    assert "leave out --lr, --rank" in other.err

    both = evoharness("train", "sft", demonstrations, "--resume", tmp_path)
    assert both.code == 2
    assert "knows the demonstrations" in both.err


def test_without_torch_it_says_what_to_install(
    evoharness: Command, demonstrations: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for command in (["sft", demonstrations, "--out", tmp_path / "run"], ["export", tmp_path, "-o", tmp_path / "a"]):
        ended = evoharness("train", *command)
        assert ended.code == 3
        assert "pip install 'evoharness-cli[train]'" in ended.err
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not TORCH, reason="what trains is not installed")
def test_bad_demonstrations_and_folders_are_sentences(
    evoharness: Command, demonstrations: Path, tmp_path: Path
) -> None:
    missing = evoharness("train", "sft", tmp_path / "none.jsonl", "--out", tmp_path / "run")
    assert missing.code == 2
    assert "No such file" in missing.err

    no_run = evoharness("train", "export", tmp_path, "-o", tmp_path / "adapter.gguf")
    assert no_run.code == 2
    assert "Expected a training run" in no_run.err

    demonstrations.write_text("no demonstration\n")
    bad = evoharness("train", "sft", demonstrations, "--out", tmp_path / "run")
    assert bad.code == 2
    assert "line 1 of" in bad.err


@pytest.mark.skipif(not TORCH, reason="what trains is not installed")
def test_an_interrupt_keeps_what_was_learnt(
    process: Callable[..., subprocess.Popen[str]], evoharness: Command, demonstrations: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    running = process(
        *("train", "sft", demonstrations, "--out", folder, "--json", "--epochs", 500, "--batch", 1),
        *("--layers", 1, "--rank", 2, "--threads", 1, "--precision", "float32"),
    )
    assert running.stdout is not None
    updates: list[int] = []
    while len(updates) < 3:
        told = json.loads(running.stdout.readline())
        updates += [told["update"]] if "loss" in told else []
    os.kill(running.pid, signal.SIGINT)
    out, err = running.communicate()

    told = [json.loads(text) for text in out.splitlines()]
    assert running.returncode == 130
    assert f"go on with: evoharness train sft --resume {folder}" in err
    done = max([*updates, *(event["update"] for event in told if "loss" in event)])
    assert told[-1] == {"saved": done}
    assert len((folder / "log.jsonl").read_text().splitlines()) == done

    exported = evoharness("train", "export", folder, "-o", tmp_path / "adapter.gguf", "--json").objects[0]
    assert exported["bytes"] == (tmp_path / "adapter.gguf").stat().st_size < 200_000
    again = evoharness("train", "sft", demonstrations, "--out", folder)
    assert again.code == 2
    assert "go on with --resume" in again.err
