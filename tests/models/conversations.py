"""Conversations of a house, and several sessions that play them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from evoharness_cli.harness.constraint import Constraint, Decode, FreeText, PatternPart, constrain
from evoharness_cli.harness.protocols import Model
from evoharness_cli.harness.transcript import Transcript

NAMES = {"o": ["mug 1", "mug 2", 'the "old" cup'], "r": ["desk 1", "desk 10", "drawer 2"]}
SYSTEM = "You are in a house. Reply with one action on one line.\n\nactions: go to {r}, take {o} from {r}, look"
OBSERVATIONS = [
    "On the desk 1, you see a mug 1, a pen 3, and a book 2.",
    "You open the drawer 2. The drawer 2 is open. In it, you see nothing.",
    "Nothing happens.",
]

T = TypeVar("T")


def step(decode: Decode = Decode.GRAMMAR) -> Constraint:
    """Return the constraint of a step."""
    forms = ["go to {r}", "take {o} from {r}", "look"]
    constraint = constrain(decode, forms, NAMES, ["look", "go to desk 1"], ["track", "commit", "note"])
    assert constraint is not None
    # A model that wasn't trained on these fills all that it may.
    return Constraint(tuple(tuple(map(_shorter, pattern)) for pattern in constraint.patterns))


def opening(number: int = 0) -> Transcript:
    """Return a conversation before the first reply; those of different numbers share the system message."""
    return Transcript(SYSTEM, f"You are in the room {number}. " + "You see a desk 1, a desk 10, a drawer 2. " * 4)


def play(model: Model, transcript: Transcript, constraint: Constraint | None, turns: int, seed: int = 0) -> list[str]:
    """Return the replies of some turns, of which each has a seed of its own."""
    replies = []
    for turn in range(turns):
        reply = model.reply(transcript, constraint, 16, seed + turn)
        replies.append(reply.text)
        transcript.add(reply.text, OBSERVATIONS[turn % len(OBSERVATIONS)])
    return replies


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Make calls in a thread each, and return what they return."""
    with ThreadPoolExecutor(len(calls)) as threads:
        return [future.result() for future in [threads.submit(call) for call in calls]]


def _shorter(part: PatternPart) -> PatternPart:
    return FreeText(part.shortest, 12) if isinstance(part, FreeText) else part
