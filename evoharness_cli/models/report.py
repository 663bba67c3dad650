"""What there is to know about the local engine and the model that comes with the installation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .catalogue import SMOLLM2_FILE, SMOLLM2_PACKAGE
from .files import is_intact, packaged_file, requantised_path
from .gguf import ModelFileError, check_start, check_whole
from .native import library, physical_cores


@dataclass(frozen=True)
class EngineReport:
    """The llama.cpp library. `fault` is why it can't be used, then `features` is empty."""

    features: tuple[str, ...]
    gpu_offload: bool
    threads: int
    fault: str | None = None


@dataclass(frozen=True)
class FileReport:
    """The packaged model file, `size` in bytes. `fault` is why it can't be used, then the rest is empty."""

    path: Path | None = None
    size: int = 0
    fault: str | None = None


@dataclass(frozen=True)
class CacheReport:
    """The requantised form of the packaged file; `present` tells whether it is there and whole."""

    path: Path | None
    present: bool


@dataclass(frozen=True)
class LlamaReport:
    """Engine, packaged model and cache."""

    engine: EngineReport
    packaged: FileReport
    cache: CacheReport


def llama_report() -> LlamaReport:
    """Look at the engine, the packaged model and the cache; what is wrong with one is its `fault`."""
    engine = _engine()
    packaged = _file(readable=engine.fault is None)
    cached = requantised_path(packaged.path) if packaged.path else None
    cache = CacheReport(cached, cached is not None and is_intact(cached))
    return LlamaReport(engine, packaged, cache)


def _engine() -> EngineReport:
    try:
        llama = library()
    except (ImportError, OSError, RuntimeError) as error:
        return EngineReport((), False, physical_cores(), f"llama-cpp-python can't be used: {error}.")
    flags = llama.llama_print_system_info().decode(errors="replace")
    # The text reads `CPU : SSE3 = 1 | AVX = 1 | OPENMP = 1 | `.
    features = [part.split(":")[-1].strip() for part in flags.split("|")]
    on = tuple(feature.removesuffix("= 1").strip() for feature in features if feature.endswith("= 1"))
    return EngineReport(on, bool(llama.llama_supports_gpu_offload()), physical_cores())


def _file(readable: bool) -> FileReport:
    try:
        path = packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE)
        if readable:
            check_whole(path)
        else:
            check_start(path)
    except ModelFileError as error:
        return FileReport(fault=str(error))
    return FileReport(path, path.stat().st_size)
