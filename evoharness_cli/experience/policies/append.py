"""An append-only notebook with BM25: each note stays as it was written, and a recall returns the nearest few.

The plain baseline, after the unedited note stores of retrieval-augmented agents; ranking is Okapi BM25 (Robertson and
Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009). Nothing merges, is voted on or corrected, no
floor holds a weak match back, and the world that a note was made in is not looked at.
"""

from __future__ import annotations

from functools import partial

from ...harness.belief import Belief
from ...harness.protocols import Model
from ..drafts import InvalidEntry, read_note
from ..entries import record_event
from ..journal import require_open
from ..store import Store, storable
from ..vocabulary import EntryStatus
from .episodes import EpisodeMemory, finish, finish_unlearned
from .items import Bank, NewItem

TOP = 5
"""Notes in one recall."""


class AppendMemory:
    """Notes, as they were written."""

    name = "append"
    curated = False

    def __init__(self, curator: Model | None = None) -> None:
        del curator

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> EpisodeMemory:
        """Return the notebook as the episode sees it; its own notes are seen at once."""
        return _Notebook(store, episode, world, learn, Bank(store, self.name, scope))

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Make the episode's notes visible to others."""
        del belief
        if not learn:
            finish_unlearned(store, episode, outcome, success)
            return
        with store.transaction():
            require_open(store, episode)
            for row in store.rows(
                "SELECT id FROM entries WHERE episode = ? AND status = ? ORDER BY id", [episode, EntryStatus.PENDING]
            ):
                store.write("UPDATE entries SET status = ? WHERE id = ?", [EntryStatus.ACTIVE, row["id"]])
                record_event(store, "activated", row["id"], episode)
            finish(store, episode, outcome, success)


class _Notebook(EpisodeMemory):
    def __init__(self, store: Store, episode: int, world: str, learn: bool, bank: Bank) -> None:
        super().__init__(store, episode, learn, partial(bank.search, limit=TOP, episode=episode))
        self._bank, self._world = bank, world

    def note(self, insight: str, step: int, because: str) -> str:
        """Add a note, whatever is there."""
        try:
            draft = read_note(insight, self._bank.scope, self._world)
        except InvalidEntry as error:
            return f"not noted: {error}"
        new = NewItem(draft.kind, draft.text, draft.when or "")
        return f"noted as [{self._bank.add(new, self._episode, step, storable(because))}]"
