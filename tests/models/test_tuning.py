from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evoharness_cli.models.gguf import load_gguf
from evoharness_cli.models.lanes import Shape
from evoharness_cli.models.native import library, physical_cores
from evoharness_cli.models.tuning import ALIKE, shapes, tuned


@pytest.fixture(scope="module")
def weights(model_file: Path) -> Iterator[Any]:
    """The model's weights, without a context."""
    llama = library()
    loaded = load_gguf(model_file)
    yield loaded
    llama.llama_model_free(loaded)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of measurements in an empty cache."""
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path))
    return tmp_path / "tuning"


def test_shapes_use_at_most_the_cores_and_the_slots() -> None:
    assert [(shape.lanes, shape.threads) for shape in shapes(4, 8)] == [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1)]
    assert {shape.lanes for shape in shapes(8, 1)} == {1}


@pytest.mark.skipif(physical_cores() == 1, reason="one core leaves no choice")
def test_a_measured_shape_is_kept(weights: Any, model_file: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    measured = tuned(weights, model_file, 2, offloaded=False)
    (note,) = notes.iterdir()
    kept = json.loads(note.read_text())
    speeds = kept["tokens_per_second"]
    assert Shape(kept["lanes"], kept["threads"]) == measured
    good = [name for name, speed in speeds.items() if speed >= ALIKE * max(speeds.values())]
    assert f"{measured.lanes}x{measured.threads}" == max(good, key=lambda name: (name[0], -int(name[2])))
    other = next(shape for shape in shapes(physical_cores(), 2) if shape != measured)
    note.write_text(json.dumps({**kept, "lanes": other.lanes, "threads": other.threads}))
    assert tuned(weights, model_file, 2, offloaded=False) == other


@pytest.mark.skipif(physical_cores() == 1, reason="one core leaves no choice")
def test_nothing_is_measured_on_a_busy_machine(
    weights: Any, model_file: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 0.0, 0.0))
    assert tuned(weights, model_file, 1, offloaded=False) == Shape(1, 1)
    assert not notes.exists()
