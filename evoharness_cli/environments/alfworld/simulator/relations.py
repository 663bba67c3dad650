"""The facts of one predicate, found by any of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from operator import itemgetter
from typing import Any

Fact = tuple[str, ...]
Row = tuple[str, ...]
Key = Any
"""One argument, or a tuple of none or several of them."""

_NONE: Fact = ()


def picker(positions: tuple[int, ...]) -> Callable[[Row], Key]:
    """Return a function that takes the key of a row: a single item as it is, else a tuple."""
    return itemgetter(*positions) if positions else lambda _: _NONE


class Relation:
    """An unchanging set of facts. Its indexes are built when first asked for."""

    __slots__ = ("_indexes", "facts")

    def __init__(self, facts: Collection[Fact] = ()) -> None:
        self.facts = frozenset(facts)
        self._indexes: dict[tuple[int, ...], dict[Key, tuple[Fact, ...]]] = {}

    def index(self, positions: tuple[int, ...]) -> Mapping[Key, tuple[Fact, ...]]:
        """Return the facts by their arguments at these positions, sorted; without positions all are under `()`."""
        index = self._indexes.get(positions)
        if index is None:
            key = picker(positions)
            lists: dict[Key, list[Fact]] = {}
            for fact in sorted(self.facts):
                lists.setdefault(key(fact), []).append(fact)
            index = self._indexes[positions] = {at: tuple(facts) for at, facts in lists.items()}
        return index

    def changed(self, added: Collection[Fact], removed: Collection[Fact]) -> Relation:
        """Return the relation without `removed` and with `added`; the same object where nothing changes."""
        facts = self.facts.difference(removed).union(added)
        if facts == self.facts:
            return self
        relation = Relation()
        relation.facts = facts
        difference = facts ^ self.facts
        # A copy, as another thread may ask this relation for a new index meanwhile.
        for positions, index in list(self._indexes.items()):
            key = picker(positions)
            renewed = dict(index)
            for at in {key(fact) for fact in difference}:
                rest = [fact for fact in index.get(at, ()) if fact in facts]
                rest += [fact for fact in difference if fact in facts and key(fact) == at]
                if rest:
                    renewed[at] = tuple(sorted(rest))
                else:
                    del renewed[at]
            relation._indexes[positions] = renewed
        return relation
