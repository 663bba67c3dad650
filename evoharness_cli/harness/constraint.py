"""What a reply may be, as patterns that every decoder can turn into its own machinery."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from .actions import NEEDS_ARGUMENT

_SLOT = re.compile(r"\{(\w+)\}")


class Decode(str, Enum):
    """How replies are decoded; `admissible` is help from the environment."""

    FREE = "free"
    GRAMMAR = "grammar"
    ADMISSIBLE = "admissible"


@dataclass(frozen=True)
class OneOf:
    """A place in a pattern where exactly one of the names stands."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class FreeText:
    """A place in a pattern where any text on one line stands, up to `longest` characters, without brackets.

    Text that has to have at least one character begins with a letter or a digit.
    """

    shortest: int = 0
    longest: int = 160


PatternPart = str | OneOf | FreeText
Pattern = tuple[PatternPart, ...]


@dataclass(frozen=True)
class Constraint:
    """A reply must be exactly one of these patterns."""

    patterns: tuple[Pattern, ...]


def constrain(
    decode: Decode,
    forms: Sequence[str],
    names: Mapping[str, Sequence[str]],
    admissible: Sequence[str],
    verbs: Iterable[str],
) -> Constraint | None:
    """Build the constraint of a step, None for free decoding.

    `forms` are action templates whose placeholders take `names`; a form with a placeholder that nothing can fill is
    left out. A placeholder without an entry in `names` takes free text.
    """
    if decode is Decode.FREE:
        return None
    meta: list[Pattern] = [(f"{verb} [", FreeText(shortest=1 if verb in NEEDS_ARGUMENT else 0), "]") for verb in verbs]
    if decode is Decode.ADMISSIBLE and admissible:
        whole = tuple(action for action in admissible if not _SLOT.search(action))
        open_ended = [action for action in admissible if _SLOT.search(action)]
        return Constraint((*([(OneOf(whole),)] if whole else []), *_fill(open_ended, {}), *meta))
    return Constraint((*_fill(forms, names), *meta))


def is_among(action: str, admissible: Sequence[str]) -> bool:
    """Tell whether an action is admissible: one of those listed, or what one with placeholders stands for."""
    if action in admissible:
        return True
    patterns = (_SLOT.split(each)[::2] for each in admissible if _SLOT.search(each))
    return any(re.fullmatch("(.+)".join(map(re.escape, pieces)), action, re.DOTALL) for pieces in patterns)


def _fill(forms: Sequence[str], names: Mapping[str, Sequence[str]]) -> list[Pattern]:
    patterns: list[Pattern] = []
    for form in forms:
        parts: list[PatternPart] = []
        for index, piece in enumerate(_SLOT.split(form)):
            if index % 2 == 0:
                if piece:
                    parts.append(piece)
            elif piece in names:
                parts.append(OneOf(tuple(names[piece])))
            else:
                parts.append(FreeText(shortest=1))
        if all(not isinstance(part, OneOf) or part.names for part in parts):
            patterns.append(tuple(parts))
    return patterns
