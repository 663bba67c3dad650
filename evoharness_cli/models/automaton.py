"""The tokens that a constraint allows at each point of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ..harness import Constraint, OutsideFault
from .free_text import FreeTokens, Next
from .segments import Choice, Free, Segment, segment
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DeadEnd(OutsideFault):
    """No token of the vocabulary continues a reply within its constraint."""


@dataclass(eq=False)
class _Node:
    """Where a choice of texts has come to, as a trie of their tokens."""

    children: dict[int, _Node] = field(default_factory=dict)
    final: bool = False


@dataclass(frozen=True)
class _InChoice:
    """Within a choice, in the segment `at` of a pattern."""

    pattern: tuple[Segment, ...]
    at: int
    node: _Node

    def __hash__(self) -> int:
        return hash((self.at, id(self.node)))


@dataclass(frozen=True)
class _InFree:
    """Within free text, in the segment `at` of a pattern; `tail` are the bytes of an unfinished character."""

    pattern: tuple[Segment, ...]
    at: int
    expected: Next
    length: int = 0
    tail: bytes = b""

    def __hash__(self) -> int:
        return hash((self.at, self.length, self.tail))


_Position = _InChoice | _InFree


@dataclass(frozen=True)
class State:
    """All places in patterns that a reply may have come to; `complete` tells whether it may end here."""

    positions: tuple[_Position, ...]
    complete: bool


@dataclass(frozen=True)
class Options:
    """What may come next: `tokens`, ascending only within each source, and the end of the reply where `complete`."""

    tokens: NDArray[np.int64]
    complete: bool

    @property
    def forced(self) -> int | None:
        """The token that has to come next, if there is only one continuation."""
        return int(self.tokens[0]) if len(self.tokens) == 1 and not self.complete else None

    def choices(self, end: int) -> NDArray[np.int64]:
        """Return what is chosen among: the tokens, and the one that ends a reply where it may."""
        import numpy as np

        return np.append(self.tokens, end) if self.complete else self.tokens


class Grammar:
    """Turns constraints into automata over one vocabulary, and remembers what they share."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.automaton = lru_cache(64)(self._automaton)
        self.trie = lru_cache(1024)(self._trie)
        self.endings = lru_cache(64)(self._endings)

    @cached_property
    def free(self) -> FreeTokens:
        """The vocabulary, sorted for free text."""
        return FreeTokens(self._vocabulary)

    def union(self, sources: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the tokens of any source once, ascending; `np.unique` takes 100 times as long for a vocabulary."""
        import numpy as np

        found = np.zeros(self._vocabulary.size, np.bool_)
        for tokens in sources:
            found[tokens] = True
        return np.flatnonzero(found)

    def _automaton(self, constraint: Constraint) -> Automaton:
        return Automaton(self, segment(constraint.patterns))

    def _trie(self, choice: Choice) -> _Node:
        root = _Node()
        for text in choice.texts:
            node = root
            for token in self._vocabulary.continuation(text, choice.after):
                node = node.children.setdefault(token, _Node())
            node.final = True
        return root

    def _endings(self, closing: str, expected: Next) -> dict[int, int]:
        return self.free.endings(closing, expected)


class Automaton:
    """The replies that a constraint allows, as tokens: literal text only as its text would be tokenised."""

    def __init__(self, grammar: Grammar, patterns: Sequence[tuple[Segment, ...]]) -> None:
        self._grammar = grammar
        self._options: dict[State, Options] = {}
        self.start = self._state([entry for pattern in patterns for entry in self._enter(pattern, 0)])

    def options(self, state: State) -> Options:
        """Return what may come next. Raises DeadEnd when nothing may, not even the end."""
        found = self._options.get(state)
        if found is None:
            found = self._options[state] = self._find_options(state)
        return found

    def advance(self, state: State, token: int) -> State:
        """Return where a token of the options leads."""
        reached: list[_Position | None] = []
        for position in state.positions:
            if isinstance(position, _InChoice):
                if node := position.node.children.get(token):
                    reached += self._choosing(position.pattern, position.at, node)
            else:
                reached += self._write(position, token)
        return self._state(reached)

    def _find_options(self, state: State) -> Options:
        import numpy as np

        named: dict[int, None] = {}
        free: list[NDArray[np.int64]] = []
        for position in state.positions:
            if isinstance(position, _InChoice):
                named.update(dict.fromkeys(position.node.children))
                continue
            room = self._room(position)
            free.append(self._grammar.free.allowed(room, position.expected, position.tail))
            named.update((token, None) for token, added in self._closing(position).items() if added <= room)
        sources = [source for source in (np.array([*named], np.int64), *free) if len(source)]
        tokens = sources[0] if len(sources) == 1 else self._grammar.union(sources)
        if not len(tokens) and not state.complete:
            raise DeadEnd("No token of the model's vocabulary continues the reply within its constraint.")
        return Options(tokens, state.complete)

    def _write(self, position: _InFree, token: int) -> list[_Position | None]:
        if (added := self._closing(position).get(token)) is not None:
            return self._enter(position.pattern, position.at + 2) if added <= self._room(position) else []
        more = self._grammar.free.add(token, position.expected, position.tail)
        if more is None or more[0] > self._room(position):
            return []
        length, tail = position.length + more[0], more[1]
        # Until its first character is known, only its beginning may be said to be one.
        unknown = bool(tail) and length == 1
        written = _InFree(position.pattern, position.at, position.expected if unknown else Next.ANY, length, tail)
        if unknown and position.expected is Next.SPACED_WORD:
            written = _InFree(position.pattern, position.at, Next.WORD, length, tail)
        if length == 0:
            written = _InFree(position.pattern, position.at, Next.WORD)
        return self._writing(written)

    def _closing(self, position: _InFree) -> dict[int, int]:
        """Return the tokens that end free text and say the closing character after it, with what they add to it."""
        following = position.pattern[position.at + 1 : position.at + 2]
        if position.tail or not following or not isinstance(following[0], Choice):
            return {}
        texts = following[0].texts
        if len(texts) != 1 or len(texts[0]) != 1:
            return {}
        endings = self._grammar.endings(texts[0], position.expected)
        shortest = self._place(position).shortest - position.length
        return {token: added for token, added in endings.items() if added >= shortest} if shortest > 1 else endings

    def _enter(self, pattern: tuple[Segment, ...], at: int) -> list[_Position | None]:
        """Return where a pattern is at the beginning of a segment, None for its end."""
        if at == len(pattern):
            return [None]
        place = pattern[at]
        if isinstance(place, Choice):
            return self._choosing(pattern, at, self._grammar.trie(place))
        return self._writing(_InFree(pattern, at, place.expected))

    def _choosing(self, pattern: tuple[Segment, ...], at: int, node: _Node) -> list[_Position | None]:
        here: list[_Position | None] = [_InChoice(pattern, at, node)] if node.children else []
        return [*here, *self._enter(pattern, at + 1)] if node.final else here

    def _writing(self, position: _InFree) -> list[_Position | None]:
        place = self._place(position)
        here: list[_Position | None] = [position] if position.tail or position.length < place.longest else []
        if position.length >= place.shortest and not position.tail:
            return [*here, *self._enter(position.pattern, position.at + 1)]
        return here

    def _room(self, position: _InFree) -> int:
        return self._place(position).longest - position.length

    def _place(self, position: _InFree) -> Free:
        place = position.pattern[position.at]
        assert isinstance(place, Free)
        return place

    def _state(self, reached: list[_Position | None]) -> State:
        positions = tuple(dict.fromkeys(position for position in reached if position is not None))
        return State(positions, None in reached)
