"""What a recall would show and why: how `inspect experience QUERY` prints it."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from .screen import dump, line, out, row, table

if TYPE_CHECKING:
    from ..experience.recall import LeftOut, Recollection, Scored


def show_recollection(known: Recollection, explain: bool, as_json: bool) -> None:
    """Print entries with the parts of their scores, then places; to `explain`, also what is left out, and why."""
    from ..experience.recall import over_budget, render

    left_out = [*known.left_out, *over_budget(known)] if explain else []
    if as_json:
        for item in known.entries:
            dump(_object(item))
        for place in known.places:
            dump(asdict(place))
        for each in left_out:
            dump({**_object(each.scored), "left_out": each.why, "same": each.same})
        return
    listed = table("entry#", "score#", "relevance#", "record#", "age#", "scope#", "standing#", "text")
    for item in known.entries:
        row(listed, item.entry.id, *_parts(item), item.entry.text)
    if known.entries:
        out.print(listed)
    if known.places or not known.entries:
        places = render(replace(known, entries=()), budget=sys.maxsize)
        out.print(*map(line, places.text.splitlines()), sep="\n")
    if left_out:
        missing = table("left out#", "score#", "relevance#", "record#", "age#", "scope#", "standing#", "why", "text")
        for each in left_out:
            row(missing, each.scored.entry.id, *_parts(each.scored), _why(each), each.scored.entry.text)
        out.print(missing)
    if explain:
        out.print(line(_rule()))


def _rule() -> str:
    from ..experience.ranking import BEHIND, FLOOR, HALF_LIFE, LEVEL, PROVISIONAL

    return (
        f"score = relevance x record x age x scope x standing. Shown is what has a relevance of {FLOOR} at least, and "
        f"{BEHIND} of the best one's; nothing twice. Record: the posterior mean of its votes. Age: halved every "
        f"{HALF_LIFE:.0f} days since it was last confirmed. Scope: {LEVEL} for each level above the one asked. "
        f"Standing: {PROVISIONAL} for what one episode alone says."
    )


def _why(each: LeftOut) -> str:
    return f"{each.why} as [{each.same}]" if each.same else str(each.why)


def _parts(item: Scored) -> tuple[str, ...]:
    parts = (item.score, item.relevance, item.record, item.age, item.nearness, item.standing)
    return tuple(f"{part:.2f}" for part in parts)


def _object(item: Scored) -> dict[str, Any]:
    return {**asdict(item), "held": sorted(item.held)}
