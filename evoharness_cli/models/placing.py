"""Which sequence is in which slot: what sequences share is copied, and what has to leave is saved."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .slots import Slots

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORTH_COPYING = 16
"""Tokens from which on copying another sequence's beginning is cheaper than evaluating it again."""
_FOR_OPENINGS = 8
"""One part in so many of the room is for the openings of conversations that nobody goes on with."""


@dataclass(eq=False)
class CachedSequence:
    """The tokens evaluated so far of one conversation; they are in a slot, or saved, or there are none."""

    ids: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    """Tokens that are about to be evaluated after `ids`; none when nobody waits for a reply."""
    busy: bool = False
    """Whether a reply is being written, so that the slot can't be given away."""
    abandoned: bool = False
    """Whether nobody will go on with it, so that it is only worth what others share with it."""
    lane: int | None = None
    """Which of the engine's contexts holds it."""
    slot: int | None = None
    saved: NDArray[np.uint8] | None = None
    used: int = 0
    """When it was last used, in placings."""
    opening: int = 0
    """How many tokens its first prompt had; other conversations may begin with the same."""


class Placing:
    """Gives sequences slots. `room` is how many bytes of saved sequences are kept; the oldest give way."""

    def __init__(self, slots: Slots, room: int) -> None:
        self._slots = slots
        self._room = room
        self._sequences: list[CachedSequence] = []
        self._clock = itertools.count(1)

    def place(self, sequence: CachedSequence, target: list[int]) -> int | None:
        """Give a sequence a slot and the longest beginning of a target that was evaluated anywhere, but its last token.

        Returns how many tokens of the target are there, or None when it has to wait: for a slot, or for another
        sequence that is about to evaluate what both need.
        """
        own = shared(sequence.ids, target)
        source, common = self._best_source(sequence, target, own)
        if source and common > len(source.ids):
            return None
        if sequence.slot is None and not self._has_room_for_one():
            return None
        sequence.used = next(self._clock)
        sequence.opening = sequence.opening or len(target)
        if source and not (sequence.slot is None and self._takes_over(sequence, source, common)):
            ids, state = list(source.ids), self._state(source)
            self._give_slot(sequence, source, state)
            self._load(sequence, state, ids)
        elif sequence.slot is None:
            self._give_slot(sequence)
            if sequence.saved is not None:
                self._load(sequence, sequence.saved, sequence.ids)
        assert sequence.slot is not None
        kept = min(shared(sequence.ids, target), len(target) - 1)
        if kept < len(sequence.ids):
            kept = self._slots.cut(sequence.slot, kept)
            del sequence.ids[kept:]
        return kept

    def known(self, target: list[int]) -> int:
        """Return how many of a target's first tokens were evaluated in one of the sequences.

        Any thread may ask: it is told what was so a moment ago.
        """
        return max((shared(other.ids, target) for other in list(self._sequences)), default=0)

    def is_coming(self, target: list[int]) -> bool:
        """Tell whether more of a target's beginning is about to be evaluated than was so far."""
        source, common = self._best_source(CachedSequence(), target, 0)
        return source is not None and common > len(source.ids)

    def beginning(self, target: list[int]) -> tuple[list[int], NDArray[np.uint8] | None]:
        """Return the tokens and the state of the sequence that shares most of a target, for another context."""
        source, _ = self._best_source(CachedSequence(), target, 0)
        return (list(source.ids), self._state(source)) if source else ([], None)

    def copy(self, sequence: CachedSequence) -> CachedSequence:
        """Return a saved copy of a sequence, which goes on separately."""
        if sequence.slot is None and sequence.saved is None:
            return CachedSequence()
        copied = CachedSequence(list(sequence.ids), saved=self._state(sequence), used=next(self._clock))
        self._sequences.append(copied)
        self._keep_room()
        return copied

    def release(self, sequence: CachedSequence) -> None:
        """Save a sequence and let it go, so that another context can take it up."""
        if sequence.slot is not None and sequence.ids:
            sequence.saved = self._slots.save(sequence.slot)
        if sequence.slot is not None:
            self._slots.cut(sequence.slot, 0)
            sequence.slot = None
        if sequence in self._sequences:
            self._sequences.remove(sequence)

    def clear(self, sequence: CachedSequence) -> None:
        """Forget what was evaluated of a sequence, which keeps its slot."""
        sequence.ids, sequence.saved = [], None
        if sequence.slot is not None:
            self._slots.cut(sequence.slot, 0)

    def clear_all(self) -> None:
        """Forget what was evaluated of all sequences, as when the weights have changed."""
        for sequence in self._sequences:
            self.clear(sequence)
        self._sequences = [each for each in self._sequences if each.slot is not None or not each.abandoned]

    def _best_source(self, sequence: CachedSequence, target: list[int], own: int) -> tuple[CachedSequence | None, int]:
        """Return the sequence that shares, or will, so much more of a target that copying it pays, and how much."""
        best, most = None, own + WORTH_COPYING - 1
        for other in self._sequences:
            if other is sequence or (other.slot is None and other.saved is None):
                continue
            ids = other.ids + other.pending if other.busy else other.ids
            if len(ids) <= most or target[own : most + 1] != ids[own : most + 1]:
                continue
            common = shared(ids, target)
            if not self._slots.trims and common < len(ids):
                continue
            if common > most:
                best, most = other, common
        return best, most

    def _free_slots(self) -> set[int]:
        return set(range(self._slots.count)) - {other.slot for other in self._sequences if other.slot is not None}

    def _idle(self) -> list[CachedSequence]:
        return [other for other in self._sequences if other.slot is not None and not other.busy]

    def _has_room_for_one(self) -> bool:
        return bool(self._free_slots() or self._idle())

    def _takes_over(self, sequence: CachedSequence, source: CachedSequence, common: int) -> bool:
        """Make a slot that nobody goes on with the sequence's own, as it is, where no slot is free.

        Where its opening is worth more than what is in common, it isn't.
        """
        if self._free_slots() or source.slot is None or source.busy or not source.abandoned:
            return False
        if self._slots.trims and source.opening >= common + WORTH_COPYING:
            return False
        self._add(sequence)
        sequence.slot, sequence.ids, sequence.saved = source.slot, source.ids, None
        source.ids = []
        self._sequences.remove(source)
        source.slot = None
        return True

    def _give_slot(
        self,
        sequence: CachedSequence,
        source: CachedSequence | None = None,
        state: NDArray[np.uint8] | None = None,
    ) -> None:
        """Give a sequence a slot if it has none: a free one, else of one that nobody goes on with, else of the idlest.

        `state` is what the source holds, which so isn't saved twice.
        """
        self._add(sequence)
        if sequence.slot is not None:
            return
        if free := self._free_slots():
            sequence.slot = min(free)
            return
        victim = min(self._idle(), key=lambda other: (not other.abandoned, other.used))
        slot = victim.slot
        assert slot is not None
        if victim.abandoned:
            self._shorten(victim)
        if not victim.ids:
            self._forget(victim)
        else:
            is_saved = victim is source and state is not None and not victim.abandoned
            victim.saved = state if is_saved else self._slots.save(slot)
            victim.slot = None
            self._keep_room()
        self._slots.cut(slot, 0)
        sequence.slot = slot

    def _state(self, source: CachedSequence) -> NDArray[np.uint8]:
        if source.saved is not None:
            return source.saved
        assert source.slot is not None
        return self._slots.save(source.slot)

    def _add(self, sequence: CachedSequence) -> None:
        if sequence not in self._sequences:
            self._sequences.append(sequence)

    def _forget(self, sequence: CachedSequence) -> None:
        self._sequences.remove(sequence)
        sequence.slot, sequence.saved, sequence.ids = None, None, []

    def _load(self, sequence: CachedSequence, state: NDArray[np.uint8], ids: list[int]) -> None:
        assert sequence.slot is not None
        sequence.ids, sequence.saved = [], None
        self._slots.restore(sequence.slot, state, len(ids))
        sequence.ids = ids

    def _shorten(self, sequence: CachedSequence) -> None:
        """Leave only the opening of a sequence that nobody goes on with, or nothing where it can't be shortened."""
        assert sequence.slot is not None
        if len(sequence.ids) > sequence.opening:
            del sequence.ids[self._slots.cut(sequence.slot, sequence.opening) :]

    def _keep_room(self) -> None:
        for abandoned, room in ((True, self._room // _FOR_OPENINGS), (False, self._room)):
            saved = [other for other in self._sequences if other.saved is not None and other.abandoned is abandoned]
            saved.sort(key=lambda other: other.used)
            total = sum(map(_size, saved))
            # The latest is kept whatever its size: it may be what is being moved.
            for oldest in saved if abandoned else saved[:-1]:
                if total <= room:
                    break
                total -= _size(oldest)
                self._forget(oldest)


def shared(one: list[int], other: list[int]) -> int:
    """Return the length of the common beginning of two sequences of ids."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _size(sequence: CachedSequence) -> int:
    return 0 if sequence.saved is None else int(sequence.saved.nbytes)
