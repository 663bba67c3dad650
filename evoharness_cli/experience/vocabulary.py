"""The words for kinds and statuses, in the store as in the command line's options."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What an entry of experience is."""

    SKILL = "skill"
    MISTAKE = "mistake"
    NOTE = "note"


class EntryStatus(StrEnum):
    """Where an entry stands. Only pending and active ones can be recalled."""

    PENDING = "pending"
    """Noted in an episode that isn't closed."""
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    """Corrected by another entry, or merged into it."""
    DORMANT = "dormant"
    """Contradicted by what was observed, and not corrected; it comes back when it is noted or seen again."""
    PRUNED = "pruned"
    """Put aside by a pruning, which can be undone."""
    DROPPED = "dropped"
    """Taken back with the step of the episode that noted it."""


class Trust(StrEnum):
    """Who an entry comes from."""

    AGENT = "agent"
    PERSON = "person"
    DISTILLED = "distilled"
    """Drawn from what episodes did and observed."""
    IMPORTED = "imported"
    """Brought in from elsewhere."""


class RunStatus(StrEnum):
    """How a run ended, if it did."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    FAULT = "fault"
    UNFINISHED = "unfinished"
    """It goes on, or its process was killed."""
