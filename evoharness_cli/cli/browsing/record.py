"""An episode as it is browsed: its steps, the state after each, and what became of the entries it recalled."""

from __future__ import annotations

from dataclasses import dataclass

from ...experience import journal
from ...experience.entries import entry, events
from ...experience.errors import NotFound
from ...experience.journal import EpisodeRecord
from ...experience.store import Store
from ...harness import Step
from .states import State, states


@dataclass(frozen=True)
class Recalled:
    """An entry that was recalled: what it says now, its record over all episodes, and this episode's vote."""

    number: int
    text: str
    record: str
    vote: str


@dataclass(frozen=True)
class PlayedEpisode:
    """All that is shown of an episode."""

    episode: EpisodeRecord
    steps: list[Step]
    states: list[State]
    recalled: dict[int, Recalled]


def read_episode(store: Store, episode: EpisodeRecord) -> PlayedEpisode:
    """Read an episode's steps and what they recalled. Raises StoreError."""
    steps = journal.steps(store, episode.id)
    numbers = dict.fromkeys(number for step in steps for number in step.recalled)
    recalled = {number: _recalled(store, number, episode.id) for number in numbers}
    return PlayedEpisode(episode, steps, states(episode, steps), recalled)


def _recalled(store: Store, number: int, episode: int) -> Recalled:
    try:
        found = entry(store, number)
    except NotFound:
        return Recalled(number, "no longer kept", "", "")
    votes = [_vote(each.kind, each.detail) for each in events(store, number) if each.episode == episode]
    record = f"{found.status}, helped {found.helped:.2f}, hurt {found.hurt:.2f}"
    return Recalled(number, found.said, record, "; ".join(filter(None, votes)) or "no vote")


def _vote(kind: str, detail: dict[str, object]) -> str:
    if kind == "contradicted":
        return f"contradicted: {detail['saw']}"
    return f"{kind} by {abs(float(str(detail['vote']))):.2f}" if kind in ("helped", "hurt") else ""
