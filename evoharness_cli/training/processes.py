"""Several processes that train one policy: each computes a share of an update, and all make the same step.

    g = sum over processes of g_p,    g_p = gradient of the part of the update's loss that process p computed

The loss is a sum over targets, divided by the targets of the whole update, so that g is what one process would compute,
but for the order in which floats are added up. Every process then makes the same step with the same g. The first one
leads: it alone shows and writes what happens.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed, nn

from ..harness import OutsideFault, WrongUsage

_ADDRESS = "127.0.0.1"
_PATIENCE = timedelta(minutes=30)
"""How long a process waits for the slowest of the others."""
_GLANCE = 0.2
"""Seconds between two looks at whether a process that is waited for is there."""
_GRACE = 10.0
"""Seconds that the others have to end after the first."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Processes:
    """All processes of a training, as one of them sees them: `rank` is its number, from 0."""

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Whether this one shows and writes what happens."""
        return self.rank == 0

    def share(self, items: Sequence[Item], size: Callable[[Item], int]) -> list[Item]:
        """Return what of an update this process computes: shares are about as large as each other by the sum of sizes.

        Each share has its items in their order; some are empty where there are more processes than items.
        """
        if self.count == 1:
            return list(items)
        sizes = [0] * self.count
        shares: list[list[int]] = [[] for _ in sizes]
        for number in sorted(range(len(items)), key=lambda number: -size(items[number])):
            least = sizes.index(min(sizes))
            sizes[least] += size(items[number])
            shares[least].append(number)
        return [items[number] for number in sorted(shares[self.rank])]

    def total(self, *values: float) -> list[float]:
        """Return the sum of each value over all processes. Raises OutsideFault where another one has ended."""
        if self.count == 1:
            return list(values)
        return _summed(torch.tensor(values, dtype=torch.float64, device=_device())).tolist()  # type: ignore[no-any-return]

    def add_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace gradients by their sum over all processes; one that has none counts as 0. Raises as `total`."""
        if self.count == 1:
            return
        own = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
        sums = _summed(torch.cat([grad.flatten() for grad in own])).split([grad.numel() for grad in own])
        for parameter, summed in zip(parameters, sums, strict=True):
            parameter.grad = summed.view_as(parameter)

    def wait(self) -> None:
        """Return once all processes have come here. Raises as `total`."""
        self.total(0.0)


ALONE = Processes()


def started_by_another() -> bool:
    """Tell whether this process is one of several, as what `torchrun` starts is."""
    return int(os.environ.get("WORLD_SIZE", 1)) > 1


@contextmanager
def joined() -> Iterator[Processes]:
    """Join the other processes, which whoever started this one told it of by the variables of `torchrun`.

    Raises WrongUsage where this machine has GPUs, but not one for each process.
    """
    processes = Processes(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    store, _, _ = next(distributed.rendezvous("env://", processes.rank, processes.count))
    store.set(_here(processes.rank), "")
    with _group(processes, store):
        yield processes


@contextmanager
def leading(count: int, command: Sequence[str]) -> Iterator[Processes]:
    """Lead so many processes on this machine, of which the others are started by a command that calls `joined`.

    They end with this one. Raises WrongUsage as `joined`, and OutsideFault where one can't be started.
    """
    if count == 1:
        yield ALONE
        return
    store = distributed.TCPStore(_ADDRESS, 0, count, is_master=True, timeout=_PATIENCE, wait_for_workers=False)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", _loopback())
    shared = {"WORLD_SIZE": str(count), "MASTER_ADDR": _ADDRESS, "MASTER_PORT": str(store.port)}
    others = [
        subprocess.Popen(
            command,
            env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the one that leads, and what it says goes for all.
        )
        for rank in range(1, count)
    ]
    try:
        _wait_for(others, store)
        with _group(Processes(0, count), store):
            yield Processes(0, count)
    except BaseException:
        for other in others:
            other.terminate()
        raise
    finally:
        for other in others:
            _ended(other)


def _wait_for(others: Sequence[subprocess.Popen[bytes]], store: Any) -> None:
    """Return once all others are there, as joining them would wait for one that has ended."""
    for rank, other in enumerate(others, 1):
        while not store.check([_here(rank)]):
            with suppress(subprocess.TimeoutExpired):
                other.wait(_GLANCE)
                raise OutsideFault("A process of the training couldn't be started; it said why above.")


def _here(rank: int) -> str:
    return f"process {rank} is here"


def _ended(other: subprocess.Popen[bytes]) -> None:
    try:
        other.wait(_GRACE)
    except subprocess.TimeoutExpired:
        other.kill()
        other.wait()


@contextmanager
def _group(processes: Processes, store: Any) -> Iterator[None]:
    on_gpus = torch.cuda.is_available()
    if on_gpus:
        _take_gpu(int(os.environ.get("LOCAL_RANK", 0)))
    try:
        distributed.init_process_group(
            "nccl" if on_gpus else "gloo",
            store=store,
            rank=processes.rank,
            world_size=processes.count,
            timeout=_PATIENCE,
        )
    except RuntimeError as error:
        raise OutsideFault(f"The processes of the training can't reach each other: {_first_line(error)}.") from error
    try:
        yield
    finally:
        distributed.destroy_process_group()


def _take_gpu(number: int) -> None:
    if number >= torch.cuda.device_count():
        raise WrongUsage(f"Expected a GPU for each process, found {torch.cuda.device_count()} on this machine.")
    torch.cuda.set_device(number)


def _summed(tensor: torch.Tensor) -> torch.Tensor:
    try:
        distributed.all_reduce(tensor)
    except RuntimeError as error:
        raise OutsideFault(
            f"Another process of the training has ended ({_first_line(error)}). Go on from what was saved by --resume."
        ) from error
    return tensor


def _device() -> str:
    return "cuda" if distributed.get_backend() == "nccl" else "cpu"


def _loopback() -> str:
    """Return the name of the interface by which this machine reaches itself."""
    return next((name for _, name in socket.if_nameindex() if name in ("lo", "lo0")), "lo")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
