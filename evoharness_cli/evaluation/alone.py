"""Episodes that are played at once, each shown its notes as if it were alone, so that what is shown repeats."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..experience.policies import MemoryPolicy
from ..experience.store import Store
from ..experience.vocabulary import EntryStatus
from ..harness import Answer
from ..harness.belief import Belief
from ..harness.protocols import Experience

_NUMBER = re.compile(r"\[(\d+)\]")


class Alone:
    """A memory policy whose notes are numbered as if no other episode were playing.

    `bank` tells the number of the newest entry that all episodes see; an episode's own notes have the numbers after it.
    """

    def __init__(self, policy: MemoryPolicy, bank: Callable[[Store], int]) -> None:
        self.name, self.curated = policy.name, policy.curated
        self._policy, self._bank = policy, bank

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> Experience:
        """Return what the policy opens, renumbered."""
        return _Renumbered(self._policy.open(store, episode, scope, world, learn), store, episode, self._bank(store))

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Close as the policy does."""
        self._policy.close(store, episode, outcome, success, belief, learn)


def newest(store: Store) -> int:
    """Return the number of the newest entry that isn't a note of a game that was not learnt."""
    return store.number("SELECT max(id) FROM entries WHERE episode IS NULL OR episode IN (SELECT episode FROM learnt)")


class _Renumbered:
    """Shows an episode's own notes with the numbers after the bank's, whatever numbers they have among others'."""

    def __init__(self, experience: Experience, store: Store, episode: int, bank: int) -> None:
        self._experience, self._store, self._episode, self._bank = experience, store, episode, bank

    def recall(self, query: str, step: int) -> Answer:
        """Answer as the experience does."""
        answer = self._experience.recall(query, step)
        return Answer(self._shown(answer.text), answer.entries)

    def note(self, insight: str, step: int, because: str) -> str:
        """Answer as the experience does."""
        return self._shown(self._experience.note(insight, step, because))

    def _shown(self, text: str) -> str:
        return _NUMBER.sub(lambda found: f"[{self._number(int(found[1]))}]", text)

    def _number(self, entry: int) -> int:
        if entry <= self._bank:
            return entry
        own = "SELECT count(*) FROM entries WHERE episode = ? AND status != ? AND id > ? AND id <= ?"
        return self._bank + self._store.number(own, [self._episode, EntryStatus.DROPPED, self._bank, entry])
