"""The project's own memory: claims, places and votes; see docs/experience.md."""

from __future__ import annotations

from ...harness.belief import Belief
from ...harness.protocols import Model
from ..evolve import close_episode
from ..session import EpisodeExperience
from ..store import Store


class BpeMemory:
    """`session.EpisodeExperience` and `evolve.close_episode` as a policy."""

    name = "bpe"
    curated = False

    def __init__(self, curator: Model | None = None) -> None:
        del curator

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> EpisodeExperience:
        """Return the store as the episode sees it."""
        return EpisodeExperience(store, episode, scope, world, learn=learn)

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Vote, settle the notes, count the places, and close."""
        close_episode(store, episode, outcome, success, belief, learn)
