"""Takes patterns apart where tokenisers take text apart, so that a reply is tokenised as its text would be."""

from __future__ import annotations

from dataclasses import dataclass

from ..harness import FreeText, OutsideFault
from ..harness.constraint import Pattern, PatternPart
from .free_text import Next


class EmptyConstraint(OutsideFault):
    """A constraint that no reply can meet."""


@dataclass(frozen=True)
class Choice:
    """A place where exactly one of the texts stands; `after` is the character before it, empty at the beginning."""

    texts: tuple[str, ...]
    after: str


@dataclass(frozen=True)
class Free:
    """A place for free text of `shortest` to `longest` characters."""

    expected: Next
    shortest: int
    longest: int


Segment = Choice | Free


def segment(patterns: tuple[Pattern, ...]) -> list[tuple[Segment, ...]]:
    """Return patterns as segments, each pattern once.

    A space belongs to the word after it, and what follows a name without a space to the name. Raises EmptyConstraint
    when no pattern can be met.
    """
    found: dict[tuple[Segment, ...], None] = {}
    for pattern in patterns:
        if any(not isinstance(part, (str, FreeText)) and not part.names for part in pattern):
            continue
        for expanded in _without_empty_text(pattern):
            found[tuple(_segments(expanded))] = None
    if not found:
        raise EmptyConstraint("Expected a constraint that some reply can meet, found none of its patterns to be one.")
    return list(found)


@dataclass(frozen=True)
class _Text:
    """Free text that isn't empty; `word` tells whether it has to begin a word."""

    word: bool
    shortest: int
    longest: int


_Part = tuple[str, ...] | _Text


def _without_empty_text(pattern: Pattern) -> list[list[_Part]]:
    """Return a pattern for each way to leave free text out that may be empty: text around it is one word then."""
    ways: list[list[_Part]] = [[]]
    for part in pattern:
        if isinstance(part, FreeText):
            there = _Text(part.shortest > 0, max(1, part.shortest), part.longest)
            with_text = [[*way, there] for way in ways] if part.longest else []
            ways = [*with_text, *(ways if part.shortest == 0 else [])]
        else:
            ways = [_joined(way, _texts(part)) for way in ways]
    return ways


def _texts(part: PatternPart) -> tuple[str, ...]:
    if isinstance(part, str):
        return (part,)
    assert not isinstance(part, FreeText)
    return tuple(dict.fromkeys(part.names))


def _joined(parts: list[_Part], texts: tuple[str, ...]) -> list[_Part]:
    last = parts[-1] if parts else None
    if isinstance(last, tuple) and len(last) == 1 and len(texts) == 1:
        return [*parts[:-1], (last[0] + texts[0],)]
    return [*parts, texts]


def _segments(parts: list[_Part]) -> list[Segment]:
    segments: list[Segment] = []
    after, space = "", ""
    queue = list(parts)
    while queue:
        part = queue.pop(0)
        if isinstance(part, _Text):
            expected = (Next.SPACED_WORD if space else Next.WORD) if part.word else Next.ANY
            if space and expected is Next.ANY:
                segments.append(Choice((space,), after))
            segments.append(Free(expected, part.shortest, part.longest))
            after, space = "x", ""
            continue
        texts, rest = part, queue[0] if queue else None
        if isinstance(rest, tuple) and len(rest) == 1 and len(texts) > 1:
            word, gap, more = rest[0].partition(" ")
            if word:
                texts = tuple(text + word for text in texts)
                queue[:1] = [(gap + more,)] if gap else []
        texts, space = tuple(space + text for text in texts), ""
        if len(texts) == 1 and queue and texts[0].endswith(" "):
            texts, space = (texts[0][:-1],), " "
        if texts != ("",):
            segments.append(Choice(texts, after))
            after = texts[0][-1:] or after
    if space:
        segments.append(Choice((space,), after))
    return segments
