"""The text of a recall as the agent reads it. Policies are trained on it: a change of it is a new `RECALL_FORMAT`."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

from ..harness.protocols import Answer
from .entries import Entry
from .places import PlaceCount, Whereabouts

RECALL_FORMAT = "recall-1"
"""Names the form of the text; adapters and results that depend on it say which they saw."""
BUDGET = 160
"""Tokens of the text shown, each taken to be four characters."""
NOTHING = "nothing relevant in experience"

_NEUTRAL = str.maketrans(
    {'"': "'", "\u201c": "'", "\u201d": "'", "\u201e": "'", "\uff02": "'", "[": "(", "]": ")", "<": "(", ">": ")"}
)


@dataclass(frozen=True)
class Line:
    """A line of the text, the entry that it quotes, if it does, and whether there was room for it."""

    text: str
    entry: int | None
    shown: bool


def lay_out(entries: list[Entry], places: tuple[Whereabouts, ...], budget: int = BUDGET) -> list[Line]:
    """Return the lines, places before entries; one that `budget` tokens have no room for is left out whole."""
    wanted: list[tuple[str, int | None]] = []
    for each in places:
        if each.here:
            wanted.append((f"{plain(each.thing)} here: {', '.join(map(plain, each.here))}", None))
        if each.counts:
            wanted.append((f"places for {plain(each.thing)}: {', '.join(map(_count, each.counts))}", None))
    wanted += [(quote(entry), entry.id) for entry in entries]
    lines: list[Line] = []
    used = 0
    for text, number in wanted:
        longer = used + len(text) + (used > 0)
        fits = math.ceil(longer / 4) <= budget
        lines.append(Line(text, number, fits))
        used = longer if fits else used
    return lines


def answer(lines: list[Line]) -> Answer:
    """Return the text of the lines that are shown, and the entries in it."""
    shown = [line for line in lines if line.shown]
    text = "\n".join(line.text for line in shown)
    return Answer(text or NOTHING, tuple(line.entry for line in shown if line.entry is not None))


def quote(entry: Entry) -> str:
    """Return an entry as one line: its number and kind, and its text as data between the line's only quotes."""
    return f'[{entry.id}] {entry.kind}: "{plain(entry.said)}"'


def _count(each: PlaceCount) -> str:
    told = " (imported)" if each.imported else ""
    return f"{plain(each.place)} {each.found} of {each.searched}{told}"


def plain(text: str) -> str:
    """Return text that can't be taken for anything but itself: one line, without quotes, brackets and markup.

    Control and format characters become spaces, double quotes single ones, square and angle brackets round ones, so
    that neither the end of the quotation nor an action nor a chat template's token can be written in it.
    """
    kept = (" " if unicodedata.category(char)[0] in "CZ" else char for char in text)
    return " ".join("".join(kept).translate(_NEUTRAL).split())


def tokens_of(text: str) -> int:
    """Return the tokens that a text is taken to have."""
    return math.ceil(len(text) / 4)
