"""What a run is computed on: device, precision and threads, chosen once by measuring and then recorded."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from ..models.native import physical_cores

_SHAPE = (128, 576, 1536)
"""Rows, inputs and outputs of the layer that is tried."""
_TRIES = 3


@dataclass(frozen=True)
class Machine:
    """What a run is computed on. Another one gives other roundings, so a resumed run keeps it."""

    device: str
    dtype: str
    """Of the base's weights and of what goes through the model; what is learnt is float32."""
    threads: int
    """Of each process."""
    processes: int = 1
    """How many train together, each with a GPU of its own where the device is one."""

    @property
    def torch_dtype(self) -> torch.dtype:
        """The precision as torch knows it."""
        found: torch.dtype = getattr(torch, self.dtype)
        return found

    @property
    def torch_device(self) -> torch.device:
        """The device as torch knows it."""
        return torch.device(self.device)


def choose_machine(dtype: str | None = None, threads: int | None = None, processes: int = 1) -> Machine:
    """Return the GPU where there is one, else the CPU with the precision in which a layer is fastest there.

    Threads that aren't given are shared by the processes.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    threads = threads or max(1, physical_cores() // processes)
    if dtype is None and device == "cuda":
        dtype = "bfloat16"
    if dtype is None:
        torch.set_num_threads(threads)
        # Processors without instructions for it compute in bfloat16 several times slower than in float32.
        dtype = min(("float32", "bfloat16"), key=lambda name: _seconds(getattr(torch, name)))
    return Machine(device, dtype, threads, processes)


def set_up(machine: Machine) -> None:
    """Make torch compute as a machine does."""
    torch.set_num_threads(machine.threads)


def _seconds(dtype: torch.dtype) -> float:
    """Return the time of a layer forward and backward, the least of some tries, as other programs may run too."""
    rows, inputs, outputs = _SHAPE
    weight = torch.randn(outputs, inputs).to(dtype)
    x = torch.randn(rows, inputs).to(dtype).requires_grad_()
    found = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        torch.nn.functional.linear(x, weight).sum().backward()
        found.append(time.perf_counter() - start)
    return min(found)
