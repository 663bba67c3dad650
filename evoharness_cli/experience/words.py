"""The words of a text, read one way for the index, for relevance and for duplicates."""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from snowballstemmer import stemmer  # type: ignore[import-untyped]

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ARTICLES = frozenset(("a", "an", "the"))
_COMMON = """
    about all also am and any are as at be because been being but by can could did do does doing each either
    else for from get gets had has have having he her here him his how i if in inside into is it its itself
    just let may me might must my of on onto or other our ought out over own per put puts shall she should so
    some such than that their them then there these they this those through to too under up upon us very was
    we were what when where which while who whom why will with would you your yours
"""
_NEGATING = "not never no none nor neither nothing nowhere without cannot avoid"
_ORDERING = "before after first last always only until unless except instead more less"
STOP_WORDS = _ARTICLES.union(_COMMON.split())
_NEGATIONS = frozenset(_NEGATING.split())
_ORDER = frozenset(_ORDERING.split())


@dataclass(frozen=True)
class Wording:
    """What of a text is compared: numbers and turns have to agree, contents nearly so."""

    normal: str
    """Every word in order, without case, articles, punctuation and plural endings."""
    content: frozenset[str]
    """The words that carry meaning; no numbers."""
    numbers: tuple[str, ...]
    """The numbers, in order."""
    turns: tuple[str, ...]
    """Negations and words of order (`before`, `only`), sorted: they turn a sentence into its contrary."""


def tokens(text: str) -> list[str]:
    """Return the words and numbers of a text in order, without case."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return _TOKEN.findall(plain)


def stem(word: str) -> str:
    """Take the plural ending off a word, as Harman's S stemmer does (How effective is suffixing?, 1991)."""
    if len(word) < 4:
        return word
    if word.endswith("ies") and word[-4] not in "ea":
        return word[:-3] + "y"
    if word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    if word.endswith("s") and word[-2] not in "us":
        return word[:-1]
    return word


_ENGLISH = stemmer("english")
_ONE_AT_A_TIME = threading.Lock()


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """Return what the inflected forms of a word have in common (Snowball's English stemmer; Porter, 2001)."""
    with _ONE_AT_A_TIME:  # the stemmer keeps the word it works on
        return str(_ENGLISH.stemWord(word))


def wording(text: str) -> Wording:
    """Take a text apart for comparison."""
    said = tokens(text)
    return Wording(
        normal=" ".join(stem(token) for token in said if token not in _ARTICLES),
        content=frozenset(content_words(text)),
        numbers=tuple(token for token in said if token.isdigit()),
        turns=tuple(sorted(turn for token in said if (turn := _turn(token)))),
    )


def indexed(text: str) -> str:
    """Return the words of a text that the index holds, uninflected: content and numbers, in order."""
    return " ".join(root(token) for token in tokens(text) if token not in STOP_WORDS and not _turn(token))


def query_words(text: str) -> list[str]:
    """Return the distinct words of a question as the index holds them, without those that only ask.

    Numbers are looked up beside words; a question of numbers alone asks for nothing.
    """
    words = list(dict.fromkeys(indexed(text).split()))
    asked = [word for word in words if word not in _ASKING] or words
    return asked if any(not word.isdigit() for word in asked) else []


def content_words(text: str) -> list[str]:
    """Return the distinct words of a text that carry meaning, uninflected and in order; no numbers."""
    return [word for word in dict.fromkeys(indexed(text).split()) if not word.isdigit()]


def same_claim(one: Wording, other: Wording) -> bool:
    """Tell whether two texts say the same: equal once normalised, or a Jaccard index of at least `NEAR`."""
    if one.normal == other.normal:
        return True
    if (one.numbers, one.turns) != (other.numbers, other.turns):
        return False
    return _jaccard(one.content, other.content) >= NEAR - 1e-9


def nearly(content: frozenset[str], held: str) -> bool:
    """Tell whether an entry of the indexed words `held` may say the same as a text of that content."""
    words = held.split()
    # The index is at most the part of the content that both have, which tells most of them apart at once.
    if len(content.intersection(words)) < NEAR * len(content) - 1e-9:
        return False
    return _jaccard(content, frozenset(word for word in words if not word.isdigit())) >= NEAR - 1e-9


_ASKING_WORDS = """
    find found locate look search seek show tell say know need want help way best good tip advice anything something
    everything someone please thing many much more most whom whose let make made use
"""
_ASKING = frozenset(map(root, _ASKING_WORDS.split()))
"""What a question is put with, and is not about."""
NEAR = 0.8
"""The Jaccard index from which two sets of words count as the same claim."""


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _turn(word: str) -> str:
    if word in _NEGATIONS or word.endswith("n't"):
        return "not"
    return word if word in _ORDER else ""
