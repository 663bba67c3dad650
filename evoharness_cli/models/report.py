"""What there is to know about the local engine and the model that comes with the installation."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .catalogue import SMOLLM2_FILE, SMOLLM2_PACKAGE
from .files import is_intact, packaged_file, requantised_path
from .gguf import ModelFileError, check_gguf
from .hashes import cache_folder, sha256_of
from .native import library, physical_cores


@dataclass(frozen=True)
class EngineReport:
    """The llama.cpp library. `fault` is why it can't be used, then `features` is empty."""

    version: str
    features: tuple[str, ...]
    gpu_offload: bool
    threads: int
    fault: str | None = None


@dataclass(frozen=True)
class FileReport:
    """The packaged model file, `size` in bytes. `fault` is why it can't be used, then the rest is empty."""

    path: Path | None = None
    size: int = 0
    sha256: str = ""
    architecture: str = ""
    context_length: int | None = None
    has_chat_template: bool = False
    fault: str | None = None


@dataclass(frozen=True)
class CacheReport:
    """The requantised form of the packaged file; `present` tells whether it is there and whole."""

    folder: Path
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
    packaged = _file()
    cached = requantised_path(packaged.path) if packaged.path else None
    cache = CacheReport(cache_folder(), cached, cached is not None and is_intact(cached))
    return LlamaReport(_engine(), packaged, cache)


def _engine() -> EngineReport:
    try:
        installed = version("llama-cpp-python")
        llama = library()
    except (PackageNotFoundError, ImportError, OSError, RuntimeError) as error:
        return EngineReport("", (), False, physical_cores(), f"llama-cpp-python can't be used: {error}.")
    flags = llama.llama_print_system_info().decode(errors="replace")
    # The text reads `CPU : SSE3 = 1 | AVX = 1 | OPENMP = 1 | `.
    features = [part.split(":")[-1].strip() for part in flags.split("|")]
    on = tuple(feature.removesuffix("= 1").strip() for feature in features if feature.endswith("= 1"))
    return EngineReport(installed, on, bool(llama.llama_supports_gpu_offload()), physical_cores())


def _file() -> FileReport:
    try:
        path = packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE)
        header = check_gguf(path)
    except ModelFileError as error:
        return FileReport(fault=str(error))
    return FileReport(
        path,
        path.stat().st_size,
        sha256_of(path),
        header.architecture,
        header.context_length,
        header.chat_template is not None,
    )
