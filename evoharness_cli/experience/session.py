"""Experience as one episode sees it: the store behind the harness's `recall` and `note`."""

from __future__ import annotations

from dataclasses import replace

from ..harness.protocols import Answer
from .drafts import InvalidEntry, read_note
from .noting import Kept, find_same, keep
from .recall import BUDGET, LIMIT, mark_recalled, render, search
from .store import Store, storable
from .withdrawing import withdraw, wrote_since


class EpisodeExperience:
    """Implements the harness's Experience for an episode of the journal.

    A process may have died between what a step wrote here and the recording of that step. Whatever is newer
    than the last recorded step is taken back first, so that the step which is played again counts once.

    Unless it is to `learn`, nothing that other episodes see is changed: recalls aren't counted, notes strengthen
    nothing, and those it makes are its own until they are dropped when it closes.
    """

    def __init__(
        self,
        store: Store,
        episode: int,
        scope: str,
        world: str,
        *,
        learn: bool = True,
        limit: int = LIMIT,
        budget: int = BUDGET,
    ) -> None:
        self._learn = learn
        self._store, self._episode = store, episode
        self._scope, self._world = scope, world
        self._limit, self._budget = limit, budget
        take_back(store, episode)

    def recall(self, query: str, step: int) -> Answer:
        """Return what is known about the query, and count it as recalled."""
        known = search(self._store, query, self._scope, self._world, episode=self._episode, limit=self._limit)
        answer = render(known, self._budget)
        if self._learn:
            mark_recalled(self._store, self._episode, step, answer.entries, storable(query))
        return answer

    def note(self, insight: str, step: int, because: str) -> str:
        """Keep an insight, pending until the episode closes; return what to tell the agent."""
        try:
            draft = read_note(insight, self._scope, self._world)
        except InvalidEntry as error:
            return f"not noted: {error}"
        draft = replace(draft, episode=self._episode, step=step, because=storable(because))
        if not self._learn and (same := find_same(self._store, draft)):
            return _answer(Kept(same, recurred=True))
        return _answer(keep(self._store, draft))


def take_back(store: Store, episode: int) -> None:
    """Take back what an episode wrote in a step that was not recorded."""
    since = 1 + store.number("SELECT coalesce(max(number), -1) FROM steps WHERE episode = ?", [episode])
    if wrote_since(store, episode, since):
        withdraw(store, episode, since, "the step was cut short and is played again")


def _answer(kept: Kept) -> str:
    if kept.recurred:
        return f"known already: [{kept.entry.id}], noted {kept.entry.strength} times"
    corrected = f", which corrects {', '.join(f'[{old.id}]' for old in kept.corrects)}" if kept.corrects else ""
    return f"noted as [{kept.entry.id}]{corrected}"
