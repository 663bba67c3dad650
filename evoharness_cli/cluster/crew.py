"""The actors on the nodes of a cluster, and what is held there for us, which moves when a node is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .. import __version__
from ..harness import OutsideFault, WrongUsage
from .hosts import HOST, Host

_listed: Callable[[], list[dict[str, Any]]] = ray.nodes
_MOST_AT_ONCE = 64
"""Questions that an actor answers at once, as many as `--parallel` may be."""
_PATIENCE = 120.0
"""Seconds that a node has to start an actor."""
_MOST_LOST = 3
"""After so many nodes that were lost with it, something is not tried again: it may be what ends them."""
_SHOWN = 300
"""Characters of what Ray says of a loss."""


class NodeLost(Exception):
    """An actor has ended, or its node has, and what it held is gone."""


@dataclass(frozen=True)
class Node:
    """A machine of the cluster, with what Ray may give away of it."""

    id: str
    name: str
    cpus: float
    gpus: float

    @property
    def is_alive(self) -> bool:
        """Whether the cluster has it still."""
        return any(node["NodeID"] == self.id and node["Alive"] for node in _listed())


def nodes() -> list[Node]:
    """Return the nodes that the cluster has now with processors to give. Raises OutsideFault where there are none."""
    found = [
        Node(node["NodeID"], node["NodeManagerAddress"], node["Resources"]["CPU"], node["Resources"].get("GPU", 0))
        for node in _listed()
        if node["Alive"] and node["Resources"].get("CPU")
    ]
    if not found:
        raise OutsideFault("The Ray cluster has no node with processors: start one by `ray start`.")
    return found


class Member:
    """An actor on a node."""

    def __init__(self, node: Node, actor: Any) -> None:
        self.node = node
        self.seats: set[Seat] = set()
        """What it holds for us."""
        self.forgotten: list[int] = []
        """Numbers of what it needn't hold any more, which it is told with the next question."""
        self._actor = actor

    def ask(self, number: int, method: str, *arguments: object, patience: float | None = None) -> Any:
        """Return what something on the node answers, within `patience` seconds where they are given.

        Raises what it raises, GetTimeoutError, and NodeLost.
        """
        gone = [self.forgotten.pop() for _ in range(len(self.forgotten))]
        try:
            return ray.get(self._actor.ask.remote(number, method, arguments, gone), timeout=patience)
        except RayTaskError as error:
            cause = error.cause
            if isinstance(cause, (OutsideFault, WrongUsage)):
                raise type(cause)(f"On the node {self.node.name}: {cause}") from None
            raise cause from None
        except GetTimeoutError:
            raise
        except RayError as error:
            reason = " ".join(str(error).split())[:_SHOWN]
            raise NodeLost(f"The node {self.node.name} was lost: {reason.rstrip('.')}.") from None

    def end(self) -> None:
        """End the actor."""
        ray.kill(self._actor)


class Seat:
    """Room for one thing on a member, taken at once so that others see that it is."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self._number: int | None = None
        member.seats.add(self)

    def hold(self, method: str, *arguments: object) -> None:
        """Have the host hold what one of its methods makes. Raises as `Member.ask`."""
        self._number = self.member.ask(HOST, method, *arguments)

    def ask(self, method: str, *arguments: object) -> Any:
        """Return what the thing answers. Raises as `Member.ask`."""
        assert self._number is not None
        return self.member.ask(self._number, method, *arguments)

    def fork(self) -> Seat:
        """Return a seat for a copy of the thing. Raises as `Member.ask`."""
        copy = Seat(self.member)
        try:
            copy.hold("fork", self._number)
        except BaseException:
            copy.leave()
            raise
        return copy

    def leave(self) -> None:
        """Have the thing held no more; doing so twice does nothing more. It asks nothing, so it may end an object."""
        self.member.seats.discard(self)
        number, self._number = self._number, None
        if number is not None:
            self.member.forgotten.append(number)


class Crew:
    """An actor of one kind on each node. One that ends is begun anew where its node is alive."""

    def __init__(
        self,
        kind: type[Host],
        nodes: Sequence[Node],
        takes_all: bool = False,
        prepare: Callable[[Member], None] = lambda _: None,
    ) -> None:
        """Begin the actors; those that take all have their nodes' processors and GPUs for themselves.

        `prepare` is done with each before anything else is asked of it. Raises OutsideFault where a node that is there
        can't begin one, and what `prepare` raises.
        """
        self._kind, self._takes_all, self._prepare = kind, takes_all, prepare
        self._members: list[Member] = []
        self._changing = threading.Lock()
        try:
            with ThreadPoolExecutor(len(nodes)) as pool:
                for node, begun in [(node, pool.submit(self._begin, node)) for node in nodes]:
                    try:
                        self._members.append(begun.result())
                    except NodeLost as lost:
                        if node.is_alive:
                            needed = f"Expected evoharness {__version__} and what it needs to be there."
                            raise OutsideFault(f"{lost} {needed}") from None
        except BaseException:
            self.close()
            raise

    @property
    def members(self) -> tuple[Member, ...]:
        """The actors there are now."""
        return tuple(self._members)

    def seat(self) -> Seat:
        """Return a seat on the member that holds the fewest things. Raises OutsideFault where there is none left."""
        with self._changing:
            if not self._members:
                raise OutsideFault(
                    "No node of the cluster is left. Start nodes, and go on with --resume: what was played is kept."
                )
            return Seat(min(self._members, key=lambda member: len(member.seats)))

    def lose(self, member: Member) -> None:
        """Do without a member, any thread of which found that it is lost."""
        with self._changing:
            if member not in self._members:
                return
            self._members.remove(member)
            if member.node.is_alive:
                with suppress(NodeLost, OutsideFault):
                    self._members.append(self._begin(member.node))

    def close(self) -> None:
        """End the actors."""
        for member in self._members:
            member.end()
        self._members.clear()

    def _begin(self, node: Node) -> Member:
        actor = ray.remote(self._kind).options(
            num_cpus=node.cpus if self._takes_all else 0,
            num_gpus=node.gpus if self._takes_all else 0,
            max_concurrency=_MOST_AT_ONCE,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
        )
        member = Member(node, actor.remote())
        try:
            found = member.ask(HOST, "version", patience=_PATIENCE)
            if found != __version__:
                raise OutsideFault(f"Expected evoharness {__version__} on the node {node.name}, found {found}.")
            self._prepare(member)
        except GetTimeoutError:
            member.end()
            raise OutsideFault(
                f"The node {node.name} gave no room for two minutes: something else has its {node.cpus:g} processors"
                f"{f' and {node.gpus:g} GPUs' if node.gpus else ''}. Wait for it, or end it."
            ) from None
        except BaseException:
            member.end()
            raise
        return member


class Hosted:
    """A thing on some node; where that is lost, it is made again on another one."""

    def __init__(self, crew: Crew, make: Callable[[Seat], None], seat: Seat | None = None) -> None:
        """`make` makes it as it is now; `seat` is where it is, if it was made."""
        self._crew, self._make, self._seat = crew, make, seat
        self._lost = 0

    def ask(self, method: str, *arguments: object) -> Any:
        """Return what the thing answers, wherever it is.

        Raises what it raises, and OutsideFault where it was lost three times or no node is left.
        """
        while True:
            try:
                return self._made().ask(method, *arguments)
            except NodeLost as lost:
                self._leave()
                self._lost += 1
                if self._lost == _MOST_LOST:
                    raise OutsideFault(
                        f"{lost} It was the third to be lost so, and what is played may be the reason."
                    ) from None

    def fork(self) -> Hosted:
        """Return the same thing once more, which goes on separately; it has a method `fork` on its host."""
        seat = None
        if self._seat:
            try:
                seat = self._seat.fork()
            except NodeLost:
                self._leave()
        return Hosted(self._crew, self._make, seat)

    def close(self, method: str | None = None) -> None:
        """Have it held no more, after it was asked something at last."""
        seat, self._seat = self._seat, None
        if seat is None:
            return
        try:
            if method:
                with suppress(NodeLost):
                    seat.ask(method)
        finally:
            seat.leave()

    def _made(self) -> Seat:
        if self._seat is None:
            seat = self._crew.seat()
            try:
                self._make(seat)
            except NodeLost:
                self._seat = seat
                raise
            except BaseException:
                seat.leave()
                raise
            self._seat = seat
        return self._seat

    def _leave(self) -> None:
        seat, self._seat = self._seat, None
        assert seat is not None
        seat.leave()
        self._crew.lose(seat.member)

    def __del__(self) -> None:
        # What is only forgotten is held no more either.
        if self._seat is not None:
            self._seat.leave()
