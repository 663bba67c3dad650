from __future__ import annotations

from pathlib import Path

import pytest

from evoharness_cli.models import llama_report
from evoharness_cli.models.catalogue import SMOLLM2_FILE
from evoharness_cli.models.native import physical_cores


def test_the_report_describes_engine_file_and_cache(model_file: Path) -> None:
    report = llama_report()
    assert report.engine.fault is None
    assert report.engine.threads == physical_cores() >= 1
    assert report.packaged.fault is None
    assert report.packaged.path is not None
    assert report.packaged.path.name == SMOLLM2_FILE
    assert report.packaged.size == 98_362_432
    assert report.cache.path == model_file
    assert report.cache.present


def test_the_report_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path))
    report = llama_report()
    assert report.cache.path is not None
    assert report.cache.path.is_relative_to(tmp_path)
    assert not report.cache.present
    assert not (tmp_path / "models").exists()
