"""Drafts of entries: what an agent or a person wants kept, read and checked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

from ..harness import WrongUsage
from .entries import Entry, scopes_above
from .slots import Slots, about_this_world, read_slots
from .store import storable
from .vocabulary import Kind, Trust
from .words import indexed

LONGEST = 500
"""Characters of an entry's text and condition; a recall shows a few entries in about 160 tokens."""
_KIND = re.compile(rf"({'|'.join(Kind)})\s*:\s*", re.IGNORECASE)
_WHEN = re.compile(r"\s*\(when:?\s+([^()]*)\)\s*$", re.IGNORECASE)


class InvalidEntry(WrongUsage):
    """What was to be kept cannot be an entry."""


@dataclass(frozen=True)
class Draft:
    """An entry before it has a number."""

    kind: Kind
    scope: str
    world: str | None
    text: str
    when: str | None = None
    slots: Slots | None = None
    trust: Trust = Trust.AGENT
    episode: int | None = None
    step: int | None = None
    because: str = ""

    @property
    def words(self) -> str:
        """What of it is compared and indexed."""
        return f"{self.text} {self.when}" if self.when else self.text


def read_note(insight: str, scope: str, world: str) -> Draft:
    """Read an agent's insight: `skill: ...`, `mistake: ...` or a plain note, then perhaps `(when: ...)`.

    Raises InvalidEntry.
    """
    kind, text = str(Kind.NOTE), insight.strip()
    if match := _KIND.match(text):
        kind, text = match[1].lower(), text[match.end() :]
    draft = draft_entry(kind, text, scope)
    local = draft.slots or about_this_world(draft.text)
    return replace(draft, world=world if local else None)


def draft_entry(
    kind: str,
    text: str,
    scope: str,
    when: str | None = None,
    world: str | None = None,
    trust: Trust = Trust.AGENT,
) -> Draft:
    """Check and tidy what is to be kept. A mistake says what went wrong, so that no claim is read from it.

    Raises InvalidEntry.
    """
    if kind not in tuple(Kind):
        raise InvalidEntry(f"An entry is one of {', '.join(Kind)}; got {kind!r}.")
    text = _line(text)
    if when is None and (match := _WHEN.search(text)):
        when, text = match[1], text[: match.start()]
    when = _line(when or "") or None
    if not indexed(text):
        raise InvalidEntry(f"An entry needs at least one word that says something; got {text!r}.")
    if len(text) + len(when or "") > LONGEST:
        raise InvalidEntry(f"An entry has at most {LONGEST} characters; got {len(text) + len(when or '')}.")
    slots = None if kind == Kind.MISTAKE else read_slots(text)
    return Draft(Kind(kind), scopes_above(scope)[-1], world, text, when, slots, trust)


def draft_of(old: Entry) -> Draft:
    """Return an entry as the draft that would make it."""
    return Draft(
        old.kind,
        old.scope,
        old.world,
        old.text,
        old.when,
        old.slots,
        old.trust,
        old.episode,
        old.step,
        old.because,
    )


def _line(text: str) -> str:
    """Return a text on one line, without control characters."""
    kept = (" " if unicodedata.category(char) == "Cc" else char for char in storable(text))
    return " ".join("".join(kept).split())
