"""How fast a model answers on this machine: measured with the engine, or estimated from what the machine can do."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .gguf import load_gguf
from .native import interruptible_after, library, physical_cores
from .slots import CHUNK, Slots

_ENOUGH = 1.0
"""Seconds after which a measurement has seen enough."""
_REPLY = 32
"""Tokens of a measured reply, at most."""
_STREAMED = 2**26
"""Numbers of 32 bits that each core reads: more than any cache holds."""
_SQUARE = 1024
"""Rows of the matrices that are multiplied."""


@dataclass(frozen=True)
class Speed:
    """Tokens a second of a prompt that is read and of a reply that is written, and how they are known."""

    prompt: float
    reply: float
    how: str


@dataclass(frozen=True)
class Throughput:
    """What the processor does a second: bytes of memory read, and operations on numbers of 32 bits."""

    bytes: float
    operations: float


def measured(path: Path) -> Speed:
    """Read a prompt and write a reply with the engine, one conversation alone. Raises ModelFileError, EvaluationFault.

    It takes some seconds, for large models longer: all of the weights are read.
    """
    llama = library()
    offloaded = bool(llama.llama_supports_gpu_offload())
    with interruptible_after():
        model = load_gguf(path, -1 if offloaded else 0)
    try:
        slots = Slots(model, 1, CHUNK + _REPLY, physical_cores(), offloaded=offloaded)
        try:
            # The first call of a context is slower, and brings the weights into memory.
            slots.evaluate({0: range(2)}, set())
            slots.cut(0, 0)
            prompt = CHUNK / _seconds(lambda: slots.evaluate({0: range(CHUNK)}, {0}))
            written, begun = 0, time.perf_counter()
            while written < _REPLY and (not written or time.perf_counter() - begun < _ENOUGH):
                slots.evaluate({0: range(1)}, {0})
                written += 1
            reply = written / (time.perf_counter() - begun)
        finally:
            slots.close()
    finally:
        llama.llama_model_free(model)
    return Speed(prompt, reply, "measured with the engine")


def estimated(size: int, parameters: float) -> Speed:
    """Return what a model of so many bytes and so many weights would do on this machine's processor.

    A token of a prompt takes two operations a weight; for a token of a reply all weights are read from memory.
    """
    found = throughput()
    return Speed(
        found.operations / (2 * parameters),
        found.bytes / size,
        f"estimated from {found.bytes / 1e9:.0f} GB of memory and {found.operations / 1e9:.0f} billion operations"
        " a second of the processor",
    )


@cache
def throughput() -> Throughput:
    """Measure the processor, in about a second."""
    import numpy as np

    cores = physical_cores()
    streamed = np.ones(_STREAMED, np.float32)
    parts = np.array_split(streamed, cores)
    square = np.ones((_SQUARE, _SQUARE), np.float32)
    with ThreadPoolExecutor(cores) as pool:
        # The first time of each brings memory, threads and libraries up.
        reading = min(_seconds(lambda: list(pool.map(np.sum, parts))) for _ in range(3))
    multiplying = min(_seconds(lambda: square @ square) for _ in range(3))
    return Throughput(streamed.nbytes / reading, 2 * _SQUARE**3 / multiplying)


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun
