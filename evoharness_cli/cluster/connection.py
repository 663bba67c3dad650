"""Joining a Ray cluster, and playing on its nodes."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Unpack

from ..environments import Adapter
from ..harness import Model, OutsideFault, WrongUsage
from ..models import is_served, load_model
from ..models.load import Options

if TYPE_CHECKING:
    from .crew import Crew
    from .model import RemoteModel

_REACHED_WITHIN = 5.0
"""Seconds to reach the address, for Ray itself waits for minutes."""


@contextmanager
def connected(address: str) -> Iterator[Nodes]:
    """Yield the nodes of the cluster at an address: `HOST:PORT`, `auto` for the one on this machine, or `local`.

    Raises OutsideFault where Ray isn't installed or no cluster answers, and WrongUsage for what is no address.
    """
    if importlib.util.find_spec("ray") is None:
        raise OutsideFault("--ray needs Ray, which is not installed: pip install 'evoharness-cli[cluster]'")
    # Ray tells its makers that it is used, unless it is asked not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    _check_reachable(address)
    try:
        _join(address)
        with closing(Nodes()) as place:
            yield place
    finally:
        ray.shutdown()


class Nodes:
    """The nodes of a cluster as a place to play: each model is loaded on those that are there then."""

    def __init__(self) -> None:
        self._environments: Crew | None = None

    def load(self, spec: str, **options: Unpack[Options]) -> Model:
        """Load a model on every node; one on a server is asked from here, where its key is."""
        return load_model(spec, **options) if is_served(spec) else self.sampler(spec, **options)

    def sampler(self, spec: str, **options: Unpack[Options]) -> RemoteModel:
        """Load a model on every node, or on as many as there are slots."""
        from .crew import nodes
        from .model import RemoteModel

        return RemoteModel(nodes()[: options.get("slots", 1)], spec, **options)

    def adapters(self, environments: Collection[str]) -> dict[str, Adapter]:
        """Return adapters that open tasks on the nodes."""
        from .crew import Crew, nodes
        from .environment import RemoteAdapter
        from .hosts import EnvironmentHost

        if self._environments is None:
            self._environments = Crew(EnvironmentHost, nodes())
        return {name: RemoteAdapter(name, self._environments) for name in environments}

    def close(self) -> None:
        """End what is on the nodes."""
        if self._environments:
            self._environments.close()


def _join(address: str) -> None:
    import ray

    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except ValueError as error:
        raise WrongUsage(f"Expected --ray HOST:PORT, auto or local; {address} can't be used: {error}") from error
    except Exception as error:  # Ray has no class of its own for a cluster that it can't join or start
        raise OutsideFault(f"No Ray cluster answers at {address}: {str(error).splitlines()[0]}") from error


def _check_reachable(address: str) -> None:
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), _REACHED_WITHIN).close()
    except OSError as error:
        raise OutsideFault(f"No Ray cluster answers at {address}: {error.strerror or error}.") from error
