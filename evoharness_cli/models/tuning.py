"""How a model is best spread over this machine's cores: measured once, and kept in the cache folder.

While other programs keep the cores busy a measurement says nothing. The model is then spread as is usually best for its
size, and measured another time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .hashes import cache_folder, file_state, read_note, write_note
from .lanes import Shape
from .native import physical_cores
from .slots import Slots

_MEASURED_SLOTS = 4
"""Slots with which a shape is measured, at most; more are alike."""
_SMALL = 2 * 2**30
"""Bytes of weights up to which cores can read them side by side; beyond, memory is what they would wait for."""
_BUSY = 0.5
"""Load a core, over the last minute, from which on a measurement is put off."""
ALIKE = 0.85
"""Of the best speed, what is as good: work of other programs weighs more than such a difference.

Of these shapes the one with the most lanes and the fewest threads is taken.
"""
_PROMPT = 24
"""Tokens of an observation."""
_REPLY = (2, 2, 2)
"""Tokens of a reply, by call."""


def tuned(model: Any, path: Path, slots: int, *, offloaded: bool) -> Shape:
    """Return the shape in which a model's slots are evaluated fastest. Raises EvaluationFault."""
    cores = physical_cores()
    if offloaded or cores == 1:
        return Shape(1, cores)
    slots = min(slots, _MEASURED_SLOTS)
    about = {
        "model": [str(path.resolve()), *file_state(path).values()],
        "processor": [platform.machine(), _processor(), cores],
        "library": version("llama-cpp-python"),
        "slots": slots,
    }
    name = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:32]
    note = cache_folder() / "tuning" / f"{name}.json"
    known = read_note(note)
    lanes, threads = known.get("lanes"), known.get("threads")
    if isinstance(lanes, int) and isinstance(threads, int) and 1 <= lanes * threads <= cores:
        return Shape(lanes, threads)
    if not _quiet(cores):
        many = path.stat().st_size <= _SMALL
        return Shape(min(cores, slots), 1) if many else Shape(1, cores)
    speeds = {shape: _speed(model, slots, shape) for shape in shapes(cores, slots)}
    enough = ALIKE * max(speeds.values())
    best = max((shape for shape in speeds if speeds[shape] >= enough), key=lambda shape: (shape.lanes, -shape.threads))
    # Without a place to remember it, it is measured again next time.
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        measured = {f"{shape.lanes}x{shape.threads}": round(speed, 1) for shape, speed in speeds.items()}
        write_note(note, {**about, "lanes": best.lanes, "threads": best.threads, "tokens_per_second": measured})
    return best


def shapes(cores: int, slots: int) -> Iterator[Shape]:
    """Yield the shapes that are worth measuring."""
    lanes = 1
    while lanes <= min(cores, slots):
        threads = 1
        while lanes * threads <= cores:
            yield Shape(lanes, threads)
            threads *= 2
        lanes *= 2


def _speed(model: Any, slots: int, shape: Shape) -> float:
    """Return the tokens a second of episodes that are played at once: an observation, and a reply token by token."""
    size = _PROMPT + sum(_REPLY)
    with contextlib.ExitStack() as opened:
        counts = [(slots + lane) // shape.lanes for lane in range(shape.lanes)]
        lanes = [Slots(model, count, size, shape.threads, offloaded=False) for count in counts]
        for lane in lanes:
            opened.callback(lane.close)
            # The first call of a context is slower.
            lane.evaluate({0: range(_PROMPT)}, {0})
            lane.cut(0, 0)
        pool = opened.enter_context(ThreadPoolExecutor(shape.lanes))
        started = time.perf_counter()
        list(pool.map(_play, lanes))
        return size * slots / (time.perf_counter() - started)


def _play(lane: Slots) -> None:
    every = range(lane.count)
    for slot in every:
        lane.evaluate({slot: range(_PROMPT)}, set())
    for length in _REPLY:
        lane.evaluate({slot: range(length) for slot in every}, set(every))


def _quiet(cores: int) -> bool:
    return not hasattr(os, "getloadavg") or os.getloadavg()[0] < cores * _BUSY


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
