"""No memory, to compare with: `recall` answers nothing and `note` keeps nothing, but both can be called."""

from __future__ import annotations

from ...harness.belief import Belief
from ...harness.protocols import Answer, Model
from ..shown import NOTHING
from ..store import Store
from .episodes import finish


class NoMemory:
    """Remembers nothing."""

    name = "none"
    curated = False

    def __init__(self, curator: Model | None = None) -> None:
        del curator

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> _Nothing:
        """Return what answers nothing."""
        del store, episode, scope, world, learn
        return _Nothing()

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Record the outcome."""
        del belief, learn
        finish(store, episode, outcome, success)


class _Nothing:
    def recall(self, query: str, step: int) -> Answer:
        """Return that nothing is known."""
        del query, step
        return Answer(NOTHING)

    def note(self, insight: str, step: int, because: str) -> str:
        """Keep nothing."""
        del insight, step, because
        return "not kept: nothing is kept in this run"
