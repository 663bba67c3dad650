"""Finds entries that say the same, among any number of them, without comparing each with each.

Only entries of one kind, scope and world are compared. Claims about places say the same if all three of their slots are
equal, other texts as `sameness` tells. So what contradicts another entry is never its duplicate.

Of two texts that say the same, one only adds words to the other, at most a quarter of the other's. So the rarest
words of the shorter one are among the few rarest of the longer one, and looking texts up by their three rarest finds
every pair (after the prefix filter of Chaudhuri, Ganti and Kaushik, A primitive operator for similarity joins, ICDE
2006), which hashing into bands (MinHash) does only with some probability.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ..entries import Entry, is_private
from ..sameness import Said, read_said, say_same
from ..vocabulary import Trust
from ..words import NEAR

_KEY_WORDS = 3


@dataclass(frozen=True)
class Duplicates:
    """Entries that say the same: the one to keep and the others, by id."""

    keeper: Entry
    others: tuple[Entry, ...]


def find_duplicates(entries: Sequence[Entry], since: int = 0) -> list[Duplicates]:
    """Return the groups of entries that say the same, those with an entry newer than the id `since`.

    What belongs to one memory policy alone is left to it. Each of the others says the same as the keeper itself:
    sameness isn't passed on from one to the next, so a chain of small differences doesn't end in one entry.
    """
    blocks: dict[tuple[object, ...], list[Entry]] = defaultdict(list)
    said: dict[int, Said] = {}
    private = {scope for scope in {each.scope for each in entries} if is_private(scope)}
    for each in entries:
        if each.scope in private:
            continue
        if slots := each.slots:
            key: tuple[object, ...] = (slots.subject, slots.relation, slots.object)
        else:
            read = said[each.id] = read_said(f"{each.text} {each.when}" if each.when else each.text)
            key = (read.words.numbers, read.words.turns)
        blocks[(each.kind, each.scope, each.world, each.slots is None, *key)].append(each)
    found: list[Duplicates] = []
    for block in blocks.values():
        if len(block) > 1 and any(each.id > since for each in block):
            found += _same_slots(block) if block[0].slots else _same_words(block, said, since)
    return sorted(found, key=lambda group: group.keeper.id)


def better(each: Entry) -> tuple[bool, int, float, bool, int]:
    """Return what decides which text is kept: a person's, else the most often noted, the best, the oldest."""
    return each.trust == Trust.PERSON, each.strength, each.record, each.when is not None, -each.id


def _same_slots(block: list[Entry]) -> list[Duplicates]:
    keeper, *others = sorted(block, key=better, reverse=True)
    return [Duplicates(keeper, tuple(sorted(others, key=lambda each: each.id)))]


def _same_words(block: list[Entry], said: dict[int, Said], since: int) -> list[Duplicates]:
    """Let the best entry gather what says the same as it, then the best of the rest, and so on."""
    ordered = sorted(block, key=better, reverse=True)
    texts = [said[each.id] for each in ordered]
    near = _pairs(texts)
    taken: set[int] = set()
    found: list[Duplicates] = []
    for index, each in enumerate(ordered):
        if index in taken:
            continue
        same = [rival for rival in near[index] - taken if each.id > since or ordered[rival].id > since]
        taken.update((index, *same))
        if same:
            found.append(Duplicates(each, tuple(sorted((ordered[rival] for rival in same), key=lambda e: e.id))))
    return found


def _pairs(texts: Sequence[Said]) -> dict[int, set[int]]:
    """Return which texts say the same as each."""
    frequency = Counter(word for text in texts for word in text.words.content)
    by_key: dict[tuple[str, ...], list[int]] = defaultdict(list)
    rarest: list[list[str]] = []
    for index, text in enumerate(texts):
        rarest.append(sorted(text.words.content, key=lambda word: (frequency[word], word)))
        by_key[_key(text, rarest[index])].append(index)
    near: dict[int, set[int]] = defaultdict(set)
    for index, text in enumerate(texts):
        # A text with all of its words but so many may be said by this one.
        spare = math.floor((1 - NEAR) * len(rarest[index]) + 1e-9)
        keys = combinations(rarest[index][: _KEY_WORDS + spare], _KEY_WORDS)
        for key in {_key(text, rarest[index]), *keys}:
            for other in by_key.get(key, ()):
                if other != index and say_same(text, texts[other]):
                    near[index].add(other)
                    near[other].add(index)
    return near


def _key(text: Said, rarest: Sequence[str]) -> tuple[str, ...]:
    return tuple(rarest[:_KEY_WORDS]) or (text.words.normal,)
