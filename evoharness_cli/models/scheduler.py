"""Which replies are written at once: a thread that evaluates, in one call after the other, what waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..harness import OutsideFault
from .placing import CachedSequence, Placing
from .slots import CHUNK, EvaluationFault, Slots
from .writing import Writer

_FEW = 8
"""Tokens up to which filling up costs less than another call, which takes about as long as four tokens."""
_LOOK_UP = 0.5
"""Seconds after which a caller that waits looks up, for platforms where waiting itself can't be interrupted."""


class ModelClosed(OutsideFault):
    """A reply was asked of a model that is closed, or was closed meanwhile."""


@dataclass(eq=False)
class Job:
    """A reply to be written after `target`, or a call to be made between two evaluations.

    A call with a target is made once nobody is about to evaluate more of that target's beginning.
    """

    sequence: CachedSequence
    target: list[int] = field(default_factory=list)
    writer: Writer | None = None
    call: Callable[[], None] | None = None
    kept: int = 0
    """How many tokens of the target didn't have to be evaluated."""
    cancelled: bool = False
    error: Exception | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def finish(self, error: Exception | None = None) -> None:
        """Let the caller go on."""
        self.sequence.busy = False
        self.sequence.pending = []
        self.error = error
        self.done.set()


class Scheduler:
    """Runs jobs, any number at a time. Only its thread uses the slots, from the first job until `close` returns."""

    def __init__(self, slots: Slots, placing: Placing) -> None:
        self._slots = slots
        self._placing = placing
        self._wake = threading.Condition()
        self._arrived: list[Job] = []
        self._waiting: list[Job] = []
        self._active: list[Job] = []
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="evoharness-engine", daemon=True)
        self._thread.start()

    def run(self, job: Job) -> None:
        """Wait until a job is done; raises what it failed with, and ModelClosed when the scheduler is closed."""
        with self._wake:
            if self._closing:
                raise ModelClosed("The model was closed and can't reply.")
            self._arrived.append(job)
            self._wake.notify()
        try:
            while not job.done.wait(_LOOK_UP):
                pass
        except BaseException:
            job.cancelled = True
            raise
        if job.error:
            raise job.error

    def close(self) -> None:
        """End all jobs with ModelClosed; closing twice does nothing more."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._wake:
                while not (self._arrived or self._waiting or self._active or self._closing):
                    self._wake.wait()
                self._waiting += self._arrived
                self._arrived = []
                if self._closing:
                    break
            for job in self._waiting[:]:
                with self._failing(job):
                    self._begin(job)
            if self._active:
                self._step()
        for job in (*self._waiting, *self._active):
            job.finish(ModelClosed("The model was closed while it was to reply."))

    def _begin(self, job: Job) -> None:
        if job.call and not job.cancelled and job.target and self._placing.is_coming(job.target):
            return
        if job.cancelled or job.call:
            if job.call and not job.cancelled:
                job.call()
            self._waiting.remove(job)
            job.finish()
            return
        kept = self._placing.place(job.sequence, job.target)
        if kept is None:
            return
        job.kept = kept
        job.sequence.busy = True
        job.sequence.pending = job.target[kept:]
        self._waiting.remove(job)
        self._active.append(job)

    def _step(self) -> None:
        """Evaluate one chunk of some replies, and go on writing those whose tokens were all evaluated."""
        chosen, length = self._choose()
        work = {_slot(job): job.sequence.pending[:length] for job in chosen}
        ready = [job for job in chosen if len(job.sequence.pending) <= length]
        try:
            self._slots.evaluate(work, {_slot(job) for job in ready})
        except EvaluationFault as fault:
            for job in chosen:
                self._end(job, fault)
            return
        for job in chosen:
            sequence = job.sequence
            sequence.ids += sequence.pending[:length]
            del sequence.pending[:length]
        for job in ready:
            with self._failing(job):
                assert job.writer
                job.sequence.pending = job.writer.choose(self._slots.logits(_slot(job)))
                if job.writer.over:
                    self._end(job)
        for job in [job for job in self._active if job.cancelled]:
            self._end(job)

    def _choose(self) -> tuple[list[Job], int]:
        """Return whose tokens are evaluated next, and how many of each at most.

        All those with many to evaluate go first, in chunks of one length, and so catch up with those that go on
        by a few tokens: these are then evaluated together, the shorter filled up.
        """
        pending = [len(job.sequence.pending) for job in self._active]
        if not self._slots.trims:
            length = min(CHUNK, *pending)
        elif many := [count for count in pending if count > _FEW]:
            length = min(CHUNK, *many)
            chosen = [job for job in self._active if len(job.sequence.pending) > _FEW]
            return chosen[: self._slots.batch // length], length
        else:
            length = max(pending)
        return self._active[: max(1, self._slots.batch // length)], length

    @contextmanager
    def _failing(self, job: Job) -> Iterator[None]:
        """Let what one job raises be that job's end, and no other's."""
        try:
            yield
        except Exception as error:
            self._end(job, error)

    def _end(self, job: Job, error: Exception | None = None) -> None:
        for jobs in (self._waiting, self._active):
            if job in jobs:
                jobs.remove(job)
        if error:
            # Whatever failed, what a slot holds is not to be trusted.
            self._placing.clear(job.sequence)
        job.finish(error)


def _slot(job: Job) -> int:
    assert job.sequence.slot is not None
    return job.sequence.slot
