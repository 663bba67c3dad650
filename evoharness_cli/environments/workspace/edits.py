"""Edits by exact replacement: what stands in a file once is replaced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SEARCH = re.compile(r"<{5,9} ?SEARCH")
_MIDDLE = re.compile(r"={5,9}")
_REPLACE = re.compile(r">{5,9} ?REPLACE")
BLOCK = "<<<<<<< SEARCH\nold lines\n=======\nnew lines\n>>>>>>> REPLACE"
"""What a block looks like."""


@dataclass(frozen=True)
class Edit:
    """One replacement."""

    old: str
    new: str


class Unclear(Exception):
    """An edit can't be made out or made; the message is a sentence for the agent."""


def read_blocks(text: str) -> tuple[Edit, ...]:
    """Return the edits of SEARCH/REPLACE blocks, one after another. Raises Unclear."""
    edits, part, old, new = [], 0, list[str](), list[str]()
    for number, line in enumerate(text.split("\n"), 2):
        mark = line.rstrip()
        if part == 0 and _SEARCH.fullmatch(mark):
            part, old, new = 1, [], []
        elif part == 1 and _MIDDLE.fullmatch(mark):
            part = 2
        elif part == 2 and _REPLACE.fullmatch(mark):
            edits.append(Edit(_lines(old), _lines(new)))
            part = 0
        elif part == 0 and mark:
            raise Unclear(f"line {number} of the action is in no block; expected blocks such as\n{BLOCK}")
        elif part:
            (old if part == 1 else new).append(line)
    if part or not edits:
        found = "the last block has no end" if part else "there is no block"
        raise Unclear(f"{found}; expected blocks such as\n{BLOCK}")
    return tuple(edits)


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Make the edits in their order. Raises Unclear where what is to be replaced isn't there exactly once."""
    for number, edit in enumerate(edits, 1):
        which = f"the text of block {number}" if len(edits) > 1 else "the text to replace"
        if not edit.old:
            raise Unclear(f"{which} is empty; expected what stands in the file now, or write the whole file")
        # Whole lines may be the last of a file that doesn't end its last line.
        old, new = edit.old, edit.new
        if old not in text and old.endswith("\n") and text.endswith(old[:-1]):
            old, new = old[:-1], new.removesuffix("\n")
        found = text.count(old)
        if found != 1:
            how = f"is there {found} times; add lines around it until it is there once" if found else _absent(text, old)
            raise Unclear(f"{which} {how}")
        text = text.replace(old, new)
    return text


def _absent(text: str, old: str) -> str:
    wanted = [line.strip() for line in old.strip().splitlines()]
    there = [line.strip() for line in text.splitlines()]
    for first in range(len(there) - len(wanted) + 1):
        if wanted and there[first : first + len(wanted)] == wanted:
            return f"is not there as written, but line {first + 1} on is the same but for its spaces; copy it exactly"
    return "is not in the file; read it again and copy what stands there"


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
