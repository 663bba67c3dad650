"""Asks a curator model what to keep: one operation a reply, each of a form that the decoder enforces.

A model gets what happened and what is kept, and answers with operations such as `edit [12]: text`, one at a time, until
`done` or until it repeats itself. What can't be read as one of the forms, or names what isn't kept, changes nothing and
is told to the model.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ...harness.constraint import Constraint, FreeText, OneOf, Pattern, PatternPart
from ...harness.protocols import ContextFull, Model, OutsideFault
from ...harness.transcript import Transcript

DONE = "done"
LONGEST = 120
"""Characters of each text of an operation."""
_REPLY_TOKENS = 192
_OPERATION = re.compile(r"(?P<verb>[a-z]+)(?: ?\[(?P<target>\d{1,18})\])?(?: ?: ?(?P<text>.+))?", re.IGNORECASE)


class CuratorFull(OutsideFault):
    """What a curator is asked doesn't fit its context."""


@dataclass(frozen=True)
class Form:
    """A kind of operation: whether it names an entry, and how many texts it has, parted by ` | `."""

    verb: str
    does: str
    target: bool = False
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        target = " [number]" if self.target else ""
        text = f": {' | '.join(self.fields)}" if self.fields else ""
        return f"{self.verb}{target}{text}"

    def pattern(self, numbers: Collection[int]) -> Pattern | None:
        """Return what a decoder may write, None where there is nothing that it could name."""
        parts: list[PatternPart] = [self.verb]
        if self.target:
            if not numbers:
                return None
            parts += [" [", OneOf(tuple(map(str, sorted(numbers)))), "]"]
        for number, _ in enumerate(self.fields):
            parts += [" | " if number else ": ", FreeText(1, LONGEST)]
        return tuple(parts)


@dataclass(frozen=True)
class Operation:
    """Something that a curator wants done; `target` is 0 where its form names no entry."""

    verb: str
    target: int = 0
    fields: tuple[str, ...] = ()


def ask(
    model: Model, task: str, system: str, material: str, forms: Sequence[Form], numbers: Collection[int], most: int
) -> list[Operation]:
    """Return at most so many operations of a model, of which each target is one of the numbers.

    `task` is whose session answers. Raises OutsideFault.
    """
    said = "\n".join([system, "Reply with one line, one of:", *(f"{form}  ({form.does})" for form in forms), DONE])
    patterns = [pattern for form in forms if (pattern := form.pattern(numbers))]
    constraint = Constraint((*patterns, (DONE,)))
    transcript, session = Transcript(said, material), model.session(task)
    found: list[Operation] = []
    for _ in range(most):
        try:
            reply = session.reply(transcript, constraint, _REPLY_TOKENS, 0).text
        except ContextFull:
            raise CuratorFull(
                f"The curator {model.name} has too small a context for what it is asked about the task {task}. "
                "Name another model with --curator."
            ) from None
        line = next((line.strip() for line in reply.rpartition("</think>")[2].splitlines() if line.strip()), "")
        if not line or line.rstrip(".").lower() == DONE:
            break
        operation = read_operation(line, forms, numbers)
        if operation in found:  # it has nothing else to say
            break
        if operation:
            found.append(operation)
        transcript.add(reply, "Noted. Another one, or done." if operation else "That is none of the forms.")
    return found


def read_operation(line: str, forms: Sequence[Form], numbers: Collection[int]) -> Operation | None:
    """Return the operation that a line is, None where it is none of the forms or names what isn't there."""
    match = _OPERATION.fullmatch(line)
    if match is None:
        return None
    form = next((form for form in forms if form.verb == match["verb"].lower()), None)
    if form is None:
        return None
    # The decoder can't keep the bar out of a text; it is the last one's.
    parts = match["text"].split("|", len(form.fields) - 1) if match["text"] and form.fields else []
    fields = tuple(part.strip() for part in parts)
    target = int(match["target"] or 0)
    if bool(match["text"]) != bool(form.fields) or len(fields) != len(form.fields) or not all(fields):
        return None
    if form.target != (match["target"] is not None) or (form.target and target not in numbers):
        return None
    return Operation(form.verb, target, fields)
