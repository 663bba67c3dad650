"""Turns a constraint into a GBNF grammar, llama.cpp's notation.

Notation: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

from __future__ import annotations

from ..harness import Constraint, FreeText, OutsideFault
from ..harness.constraint import Pattern, PatternPart

_PLAIN = frozenset(" !#$%&'()*+,-./:;<=>?@_{|}~^`")
# Brackets end an argument; the rest are all the characters at which `str.splitlines` begins a new line.
_NEVER_FREE = r"\x5B\x5D\n\r\x0B\x0C\x1C\x1D\x1E\x85\u2028\u2029"

# Small models that may begin with punctuation often write nothing else.
_WORD_START = r"A-Za-z0-9\u00A1-\u2027\u2030-\U0010FFFF"


class EmptyConstraint(OutsideFault):
    """A constraint that no reply can meet."""


def to_gbnf(constraint: Constraint) -> str:
    """Return the grammar whose `root` derives exactly the replies that the constraint allows.

    Free text that must not be empty starts with a letter, a digit or a sign beyond ASCII. Raises EmptyConstraint for a
    constraint without patterns.
    """
    if not constraint.patterns:
        raise EmptyConstraint("Expected a constraint that some reply can meet, found one without patterns.")
    alternatives = " | ".join(dict.fromkeys(_sequence(pattern) for pattern in constraint.patterns))
    return f"root ::= {alternatives}\n"


def _sequence(pattern: Pattern) -> str:
    return " ".join(_part(part) for part in pattern)


def _part(part: PatternPart) -> str:
    if isinstance(part, str):
        return _literal(part)
    if isinstance(part, FreeText):
        return _free(part)
    return f"({' | '.join(_literal(name) for name in dict.fromkeys(part.names))})"


def _free(text: FreeText) -> str:
    if text.shortest == 0:
        return f"[^{_NEVER_FREE}]{{0,{text.longest}}}"
    rest = f"{{{text.shortest - 1},{text.longest - 1}}}"
    return f"[{_WORD_START}] [^{_NEVER_FREE}]{rest}"


def _literal(text: str) -> str:
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(character: str) -> str:
    if character in _PLAIN or (character.isascii() and character.isalnum()):
        return character
    code = ord(character)
    return f"\\x{code:02X}" if code < 0x80 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
