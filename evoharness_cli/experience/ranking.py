"""How entries are ranked for a question, and which of them are left out: plain arithmetic, without the store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from .entries import Entry
from .slots import agree

FLOOR = 0.28
"""The least relevance of what is shown; `python -m benchmarks.recall --calibrate` measures where it lies best."""
HALF_LIFE = 90.0
"""Days after which an entry that nothing confirmed counts half."""
LEVEL = 0.85
"""What each level between the scope asked and the scope of an entry takes from its score."""
PROVISIONAL = 0.9
"""What counts of an entry that only one episode taught and that helped in none yet."""
ALIKE = 0.6
"""The Jaccard index of words from which two entries say the same thing."""
BEHIND = 0.5
"""The least share of the best relevance found that another entry needs to be shown beside it."""
KIN = 0.7
"""What a word covers of another one that begins alike."""
_OWN = 1 / 3
"""The power of an entry's own share in its relevance."""


class Why(StrEnum):
    """Why an entry that holds words of the question isn't shown."""

    FLOOR = "not relevant enough"
    BEHIND = "far less relevant than the best"
    SAME = "says the same"
    LIMIT = "too many better ones"
    BUDGET = "no room in the text"


@dataclass(frozen=True)
class Scored:
    """An entry and why it ranks where it does; `score` is the product of its five parts, each from 0 to 1."""

    entry: Entry
    relevance: float
    """How far it and the question cover each other (`relevance_of`): what the floor is held against."""
    record: float
    """The posterior mean of helping, from its votes."""
    age: float
    """From 1 for what was confirmed just now, halved every `HALF_LIFE` days."""
    nearness: float
    """1 in the scope asked, `LEVEL` times that for each level above it."""
    standing: float
    """`PROVISIONAL` for what only one episode says, else 1."""
    score: float
    held: frozenset[str]
    """The words of the entry."""


@dataclass(frozen=True)
class LeftOut:
    """An entry that isn't shown, and why; `same` is the number of the one that says it."""

    scored: Scored
    why: Why
    same: int | None = None


def score(entry: Entry, said: Collection[str], relevance: float, scope: str | None, now: datetime) -> Scored:
    """Score an entry that holds the words `said` and is that relevant, for who asks from a scope."""
    days = max(0.0, (now - datetime.fromisoformat(entry.confirmed)).total_seconds() / 86400)
    age = 0.5 ** (days / HALF_LIFE)
    nearness = 1.0 if scope is None else LEVEL ** max(0, _depth(scope) - _depth(entry.scope))
    standing = PROVISIONAL if entry.provisional else 1.0
    product = relevance * entry.record * age * nearness * standing
    return Scored(entry, relevance, entry.record, age, nearness, standing, product, frozenset(said))


def relevance_of(said: Collection[str], weights: Mapping[str, float], kin: Mapping[str, frozenset[str]]) -> float:
    """Return the share of a question that an entry covers, times the cube root of its own share in the question.

    Each word of the question weighs by its rarity in the scopes that were asked, also one that nothing there holds:
    what is asked and nowhere known counts against every entry, but `KIN` of it is covered by a word of its `kin`. Of
    the entry each distinct word counts the same; the root keeps a long entry in reach of a short question.
    """
    covered = words = 0.0
    for word, weight in weights.items():
        share = 1.0 if word in said else KIN if word in kin and not kin[word].isdisjoint(said) else 0.0
        covered += share * weight
        words += share
    return float(covered / sum(weights.values()) * (words / len(said)) ** _OWN) if words else 0.0


def select(scored: Sequence[Scored], limit: int, floor: float = FLOOR) -> tuple[list[Scored], list[LeftOut]]:
    """Return what is shown, best first, and what isn't: what is about one world leads, and nothing is said twice."""
    shown: list[Scored] = []
    out: list[LeftOut] = []
    best = max((each.relevance for each in scored), default=0.0)
    for each in sorted(scored, key=lambda each: (each.entry.world is None, -each.score, -each.entry.id)):
        if each.relevance < floor:
            out.append(LeftOut(each, Why.FLOOR))
        elif each.relevance < BEHIND * best:
            out.append(LeftOut(each, Why.BEHIND))
        elif same := next((other for other in shown if say_the_same(each, other)), None):
            out.append(LeftOut(each, Why.SAME, same.entry.id))
        elif len(shown) >= limit:
            out.append(LeftOut(each, Why.LIMIT))
        else:
            shown.append(each)
    return shown, out


def say_the_same(one: Scored, other: Scored) -> bool:
    """Tell whether showing both would say a thing twice: claims by their slots, other texts by their words."""
    slots, others = one.entry.slots, other.entry.slots
    if slots and others:
        same = (slots.subject, slots.relation) == (others.subject, others.relation)
        return same and agree(slots.object, others.object)
    if slots or others:
        return False
    numbers = {word for word in one.held ^ other.held if word.isdigit()}
    union = len(one.held | other.held)
    return not numbers and union > 0 and len(one.held & other.held) >= ALIKE * union


def _depth(scope: str) -> int:
    return sum(1 for part in scope.split("/") if part)
