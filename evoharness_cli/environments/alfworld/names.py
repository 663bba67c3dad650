"""The names that ALFWorld's text engine shows for the ids of a PDDL problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_SEPARATOR = "_bar_"


def display_names(ids: Iterable[str]) -> dict[str, str]:
    """Map each PDDL id to the name that the engine prints for it, as `apple 2` for `Apple_bar__plus_00_...`.

    Names are lower case, and their numbers run against the sorted ids: of three apples the first id is
    `apple 3`. An id of a basin is counted as one, so that `Sink_bar_.._bar_SinkBasin` is `sinkbasin 1` and
    never `sink 1`. An id without a position (`AppleType`, `agent1`) keeps its name, followed by the blank
    that the engine puts there.

    The numbers depend on which ids are given: pass every id that the facts of the game mention.
    The same mapping as alfworld's `AlfredDemangler(shuffle=False)`, whose engine lower-cases the ids first.
    """
    lowered = {identifier: identifier.lower() for identifier in ids}
    positioned = {low for low in lowered.values() if _SEPARATOR in low}
    left = Counter(_class_name(low) for low in positioned)
    names: dict[str, str] = {}
    for low in sorted(positioned):
        kind = _class_name(low)
        names[low] = f"{kind} {left[kind]}"
        left[kind] -= 1
    return {identifier: names.get(low, f"{_unescaped(low)} ") for identifier, low in lowered.items()}


def _class_name(identifier: str) -> str:
    name = identifier.split(_SEPARATOR, 1)[0]
    return f"{name}basin" if "basin" in identifier else name


def _unescaped(identifier: str) -> str:
    """Undo the escapes of an id without a position; PDDL ids may not hold these characters."""
    return identifier.replace("_minus_", "-").replace("_plus_", "+").replace("_dot_", ".").replace("_comma_", ",")
