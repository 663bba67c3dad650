from __future__ import annotations

from pathlib import Path

import pytest

from evoharness_cli.models import llama_report
from evoharness_cli.models.hashes import compute_sha256
from evoharness_cli.models.native import physical_cores


def test_the_report_describes_engine_file_and_cache(model_file: Path) -> None:
    report = llama_report()
    assert report.engine.fault is None
    assert report.engine.version.startswith("0.3.")
    assert report.engine.threads == physical_cores() >= 1
    assert report.packaged.fault is None
    assert report.packaged.path is not None
    assert report.packaged.sha256 == compute_sha256(report.packaged.path)
    assert report.packaged.size == 98_362_432
    assert (report.packaged.architecture, report.packaged.context_length) == ("llama", 8192)
    assert report.packaged.has_chat_template
    assert report.cache.path == model_file
    assert report.cache.present


def test_the_report_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path))
    report = llama_report()
    assert report.cache.folder == tmp_path
    assert not report.cache.present
    assert not (tmp_path / "models").exists()
