"""Tells whether two texts say the same, so that what contradicts another text is never taken for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .words import Wording, content_words, same_claim, tokens, wording

_DIRECTED = frozenset(("than", "from", "to", "into", "onto", "with", "by", "over", "under", "per", "versus"))
"""With these, what comes first matters: `from x to y` isn't `from y to x`."""
_TURNING = frozenset(
    content_words(
        "off down away back closed shut locked empty opened unlocked full wrong false failed useless bad stop"
    )
)
"""Words that may turn a sentence into its contrary where only one of two texts has them."""


@dataclass(frozen=True)
class Said:
    """What of a text decides whether another says the same."""

    words: Wording
    order: tuple[str, ...]
    """The words that carry meaning and those that turn it, in order, each as often as it is said."""
    directed: bool
    """Whether their order matters."""


def read_said(text: str) -> Said:
    """Take a text apart for comparison."""
    said = tokens(text)
    parts = [_part(token) for token in said]
    content = frozenset(each.content for each in parts if each.content)
    turns = tuple(sorted(each.turn for each in parts if each.turn))
    words = Wording(
        normal=" ".join(each.normal for each in parts if each.normal),
        content=content,
        numbers=tuple(each.number for each in parts if each.number),
        turns=turns,
    )
    order = tuple(word for each in parts if (word := each.content or each.turn))
    return Said(words, order, bool(turns) or not _DIRECTED.isdisjoint(said))


def say_same(one: Said, other: Said) -> bool:
    """Tell whether two texts say the same.

    They are equal once normalised; or near (`words.same_claim`, which asks for the same numbers and negations), where
    one only adds words to the other, none of them such as turns its meaning, and, where order matters, the words they
    share come in the same order. A word in the place of another makes another claim: a red mug is no blue mug.
    """
    if one.words.normal == other.words.normal:
        return True
    left, right = one.words.content, other.words.content
    if not (left <= right or right <= left):
        return False
    return same_claim(one.words, other.words) and may_merge(one, other, 0)


def may_merge(one: Said, other: Said, least: float) -> bool:
    """Tell whether nothing keeps two texts apart: a number, a negation, a word that turns the meaning, or an order.

    They share at least the share `least` of their words.
    """
    left, right = one.words, other.words
    shared = left.content & right.content
    if (left.numbers, left.turns) != (right.numbers, right.turns):
        return False
    if not _TURNING.isdisjoint(left.content ^ right.content) or len(shared) < least * len(left.content | right.content):
        return False
    if not (one.directed or other.directed):
        return True
    compared = shared.union(left.turns)
    return [word for word in one.order if word in compared] == [word for word in other.order if word in compared]


@dataclass(frozen=True)
class _Part:
    """What one word of a text is: empty where it isn't of that sort."""

    normal: str
    content: str
    number: str
    turn: str


@lru_cache(maxsize=50_000)
def _part(token: str) -> _Part:
    words = wording(token)
    return _Part(words.normal, "".join(words.content), "".join(words.numbers), "".join(words.turns))
