"""Which tokens may stand in free text: one line, no brackets, up to a number of characters."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from .vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Brackets end an argument; the rest are all the characters at which `str.splitlines` begins a new line.
_NEVER = frozenset("[]\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
_FIRST_SIGN = 0xA1
"""The first printable character beyond ASCII."""


class Next(Enum):
    """What the next character of a free text may be."""

    ANY = "any character that free text may hold"
    WORD = "the beginning of a word: a letter, a digit, or a sign beyond ASCII"
    SPACED_WORD = "a space, which doesn't count, and the beginning of a word"


class FreeTokens:
    """A vocabulary sorted by what its tokens add to free text.

    A token may end within a character. Its bytes so far are then a `tail`, which is already counted as a character.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        steering = vocabulary.steering
        self._added: dict[int, tuple[str, bytes]] = {}
        self._ending: dict[int, str] = {}
        self._continuing: dict[int, bytes] = {}
        """Tokens that begin within a character."""
        for token in range(vocabulary.size):
            if steering[token] or vocabulary.ends(token):
                continue
            raw = vocabulary.bytes_of(token)
            if raw and raw[0] & 0xC0 == 0x80:
                self._continuing[token] = raw
            elif raw and (read := _read(raw)):
                text, _ = read
                if _NEVER.isdisjoint(text):
                    self._added[token] = read
                elif text[-1] in _NEVER and _NEVER.isdisjoint(text[:-1]) and text[:-1] and not read[1]:
                    self._ending[token] = text
        self.allowed = lru_cache(4096)(self._allowed)
        self._sorted = lru_cache(None)(self._sort)

    def add(self, token: int, expected: Next, tail: bytes) -> tuple[int, bytes] | None:
        """Return how many characters a token adds to free text and its tail, or None where it may not stand."""
        if tail:
            raw = self._continuing.get(token)
            read = _read(tail + raw) if raw else None
            if read is None or not _NEVER.isdisjoint(read[0]):
                return None
            if expected is not Next.ANY and read[0] and not _begins_word(read[0]):
                return None
            return len(read[0]) + bool(read[1]) - 1, read[1]
        read = self._added.get(token)
        return None if read is None else _measure(*read, expected)

    def endings(self, closing: str, expected: Next) -> dict[int, int]:
        """Return the tokens that add free text and the one closing character, with how much free text they add."""
        found = {}
        for token, text in self._ending.items():
            measured = _measure(text[:-1], b"", expected) if text[-1] == closing else None
            if measured and measured[0] > 0:
                found[token] = measured[0]
        return found

    def _allowed(self, room: int, expected: Next, tail: bytes) -> NDArray[np.int64]:
        """Return the tokens that may stand where there is room for so many characters."""
        import numpy as np

        if tail:
            added = {token: self.add(token, expected, tail) for token in self._continuing}
            fitting = [token for token, more in added.items() if more and more[0] <= room]
            return np.array(fitting, np.int64)
        tokens, lengths = self._sorted(expected)
        return tokens[: np.searchsorted(lengths, room, side="right")]

    def _sort(self, expected: Next) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        import numpy as np

        measured = ((_measure(*read, expected), token) for token, read in self._added.items())
        pairs = sorted((more[0], token) for more, token in measured if more)
        lengths, tokens = np.array(pairs, np.int64).reshape(-1, 2).T
        return tokens.copy(), lengths.copy()


def _read(raw: bytes) -> tuple[str, bytes] | None:
    """Return the characters of bytes and those of an unfinished one at the end; None for what is no UTF-8."""
    try:
        return raw.decode(), b""
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return None
        return raw[: error.start].decode(), raw[error.start :]


def _measure(text: str, tail: bytes, expected: Next) -> tuple[int, bytes] | None:
    if expected is Next.SPACED_WORD:
        if not text.startswith(" "):
            return None
        text = text[1:]
    if expected is not Next.ANY and text and not _begins_word(text):
        return None
    return len(text) + bool(tail), tail


def _begins_word(text: str) -> bool:
    first = text[0]
    return first.isalnum() if first.isascii() else ord(first) >= _FIRST_SIGN
