"""How experience grew: how many entries there were, and what became of others, after so many closed episodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ..experience.store import Store
from ..experience.vocabulary import EntryStatus
from . import plots
from .content import Plot

_STANDING = (EntryStatus.ACTIVE, EntryStatus.PENDING)
_CAME, _MERGED, _CORRECTED, _REMOVED = "noted", "merged", "corrected", "removed"
_LIVES = """
    SELECT status,
        coalesce((SELECT min(at) FROM events WHERE entry = entries.id
            AND kind IN ('noted', 'imported', 'drawn', 'copied')), created) AS came,
        coalesce((SELECT max(at) FROM events WHERE entry = entries.id
            AND kind IN ('merged', 'superseded', 'dormant', 'pruned', 'dropped', 'condensed')), created) AS went,
        EXISTS (SELECT 1 FROM events WHERE entry = entries.id AND kind = 'superseded'
            AND json_extract(detail, '$.why') NOT LIKE 'said %') AS corrected
    FROM entries
"""
"""When each entry came, and when it went if it did; what another one says already counts as merged into that."""


def growth(store: Store) -> list[Plot]:
    """Return the curves, none where there is but one point."""
    closed = [row["finished"] for row in store.rows("SELECT finished FROM episodes WHERE finished > '' ORDER BY 1")]
    changes = sorted(_changes(store))
    places = [bisect_right(closed, at) for at, _ in changes]
    if len(set(places)) < 2:
        return []
    totals = {
        became: list(accumulate(int(each == became) for _, each in changes))
        for became in (_CAME, _MERGED, _CORRECTED, _REMOVED)
        if any(each == became for _, each in changes)
    }
    sizes = list(accumulate(1 if became == _CAME else -1 for _, became in changes))
    return [
        plots.curves(title, "closed episodes", _at_each_place(places, lines), smooth=False)
        for title, lines in (("Entries that can be recalled", {"entries": sizes}), ("What became of entries", totals))
    ]


def _changes(store: Store) -> Iterator[tuple[str, str]]:
    """Yield when what happened to an entry that is still in the store: that it came, and what became of it."""
    for row in store.rows(_LIVES):
        yield row["came"], _CAME
        if row["status"] in (EntryStatus.PRUNED, EntryStatus.DROPPED):
            yield row["went"], _REMOVED
        elif row["status"] not in _STANDING:
            corrected = row["corrected"] or row["status"] == EntryStatus.DORMANT
            yield row["went"], _CORRECTED if corrected else _MERGED


def _at_each_place(
    places: Sequence[int], lines: dict[str, list[int]]
) -> dict[str, tuple[Sequence[float], Sequence[float]]]:
    """Return each curve with its last value at each place only, which is what a picture can show."""
    last = {place: index for index, place in enumerate(places)}
    return {name: (list(last), [values[index] for index in last.values()]) for name, values in lines.items()}
