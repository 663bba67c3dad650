"""Several contexts of one model side by side, each with slots and a thread of its own; sequences move between them.

On a CPU a call with few tokens loses more by its threads' waiting for each other than it gains: contexts that are
evaluated by one thread each keep the cores busy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .placing import WORTH_COPYING, CachedSequence, Placing, shared
from .scheduler import Job, Scheduler
from .slots import Slots

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUEUE = 2
"""How many more jobs may wait where the beginning of a conversation is known than elsewhere."""


_WORTH_FETCHING = 32
"""Tokens from which on a beginning is copied from another context rather than evaluated again."""


@dataclass(frozen=True)
class Shape:
    """How a model is spread over the cores: so many contexts, each evaluated by so many threads."""

    lanes: int
    threads: int


@dataclass(eq=False)
class _Lane:
    slots: Slots
    placing: Placing
    scheduler: Scheduler
    load: int = 0
    """How many jobs wait for it."""
    coming: list[list[int]] = field(default_factory=list)
    """What it was asked to evaluate for those."""

    def known(self, target: list[int]) -> int:
        """Return how many of a target's first tokens were evaluated here, or will be for what waits."""
        return max(self.placing.known(target), *(shared(other, target) for other in self.coming), 0)


class Lanes:
    """Runs jobs where there is room; any number of threads may wait for one each."""

    def __init__(self, model: Any, slots: int, size: int, shape: Shape, *, offloaded: bool, room: int) -> None:
        """Set up contexts for so many slots of `size` tokens; `room` is the bytes of saved sequences.

        Raises EvaluationFault.
        """
        self._lanes: list[_Lane] = []
        self._choosing = threading.Lock()
        each = -(-slots // shape.lanes)
        try:
            for _ in range(shape.lanes):
                own = Slots(model, each, size, shape.threads, offloaded=offloaded)
                placing = Placing(own, room // shape.lanes)
                self._lanes.append(_Lane(own, placing, Scheduler(own, placing)))
        except BaseException:
            self.close()
            raise

    def run(self, job: Job) -> None:
        """Wait until a job on a sequence is done; raises what it failed with, and ModelClosed."""
        sequence = job.sequence
        with self._choosing:
            home = self._lanes[sequence.lane] if sequence.lane is not None else None
            lane = min(self._lanes, key=lambda lane: lane.load)
            if home and not _worth_moving(home.load, lane.load):
                lane = home
            source = None
            if home is None:
                lane, source = self._begin(job.target, lane)
            lane.load += 1
            if source is None:
                lane.coming.append(job.target)
        try:
            if source:
                sequence.ids, sequence.saved = _beginning(source, job.target)
            if home and lane is not home:
                home.scheduler.run(Job(CachedSequence(), call=lambda: home.placing.release(sequence)))
            sequence.lane = self._lanes.index(lane)
            lane.scheduler.run(job)
        finally:
            with self._choosing:
                lane.load -= 1
                if source is None:
                    lane.coming.remove(job.target)

    def _begin(self, target: list[int], idlest: _Lane) -> tuple[_Lane, _Lane | None]:
        """Return where a new conversation begins, and what lane to copy its beginning from where that is worth it.

        It begins where most of its beginning is, unless too many others wait there.
        """
        best = max(self._lanes, key=lambda lane: (lane.known(target), -lane.load))
        gained = best.known(target) - idlest.known(target)
        if gained < WORTH_COPYING:
            return idlest, None
        if best.load <= idlest.load + _QUEUE:
            return best, None
        return idlest, best if gained >= _WORTH_FETCHING else None

    def copy(self, sequence: CachedSequence) -> CachedSequence:
        """Return a copy of a sequence that goes on separately. Raises EvaluationFault, ModelClosed."""
        if sequence.lane is None:
            return CachedSequence()
        lane = self._lanes[sequence.lane]
        copies: list[CachedSequence] = []
        lane.scheduler.run(Job(CachedSequence(), call=lambda: copies.append(lane.placing.copy(sequence))))
        copies[0].lane = sequence.lane
        return copies[0]

    def change(self, call: Callable[[Any], None]) -> None:
        """Make a call on each context, between two evaluations, and forget what was evaluated.

        Nobody may wait for a reply meanwhile. Raises what the call raises, and ModelClosed.
        """
        for lane in self._lanes:

            def changed(lane: _Lane = lane) -> None:
                call(lane.slots.context)
                lane.placing.clear_all()

            lane.scheduler.run(Job(CachedSequence(), call=changed))

    def end(self) -> None:
        """End all jobs with ModelClosed; ending twice does nothing more."""
        for lane in self._lanes:
            lane.scheduler.close()

    def close(self) -> None:
        """Free the contexts."""
        self.end()
        while self._lanes:
            self._lanes.pop().slots.close()


def _beginning(lane: _Lane, target: list[int]) -> tuple[list[int], NDArray[np.uint8] | None]:
    """Return the tokens and state of what a lane has, or will soon have, that begins as a target."""
    found: list[tuple[list[int], NDArray[np.uint8] | None]] = []
    lane.scheduler.run(Job(CachedSequence(), target, call=lambda: found.append(lane.placing.beginning(target))))
    return found[0]


def _worth_moving(here: int, there: int) -> bool:
    """Tell whether a sequence gains from leaving a lane with so many other jobs for one with so many."""
    return there < here - 1 or there == 0 < here
