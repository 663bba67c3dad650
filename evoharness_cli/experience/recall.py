"""What past episodes taught about a query: entries by relevance, record and age, and places."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..harness.protocols import Answer, WrongUsage
from .entries import COLUMNS, Entry, is_private, marks, read_entry, record_event, scopes_above
from .places import Whereabouts, whereabouts
from .ranking import FLOOR, LeftOut, Scored, Why, relevance_of, score, select
from .shown import BUDGET, NOTHING, RECALL_FORMAT, answer, lay_out, tokens_of
from .store import Store, utc_now
from .vocabulary import EntryStatus, Kind
from .word_index import candidates, statistics
from .words import query_words

LIMIT = 5
"""Entries in one recall."""
SCORED = 25
"""Entries that are read and ranked; what covers less of the query isn't looked at further."""
_QUERY_WORDS = 48

__all__ = [
    "BUDGET",
    "FLOOR",
    "LIMIT",
    "NOTHING",
    "RECALL_FORMAT",
    "LeftOut",
    "NotRecallable",
    "Recollection",
    "Scored",
    "Why",
    "mark_recalled",
    "over_budget",
    "render",
    "search",
    "tokens_of",
]


class NotRecallable(WrongUsage):
    """Entries of that status are out of recall."""


@dataclass(frozen=True)
class Recollection:
    """What is known about a query, best first, and what was thought of and left out."""

    entries: tuple[Scored, ...]
    places: tuple[Whereabouts, ...]
    left_out: tuple[LeftOut, ...] = ()


def search(
    store: Store,
    query: str,
    scope: str | None,
    world: str | None = None,
    *,
    kind: Kind | None = None,
    status: EntryStatus | None = None,
    episode: int | None = None,
    limit: int = LIMIT,
    floor: float = FLOOR,
    now: datetime | None = None,
) -> Recollection:
    """Return what is known about a query, and change nothing.

    Entries are those of the scope and of those it lies in, or of every scope if it is None; what is about one
    world is shown in that world only, and first. The pending notes of `episode` count, and what they correct
    doesn't. With a `kind` or `status` only such entries are returned, and no places; for all pending notes ask for
    that status. Raises NotRecallable where nothing of the status can be recalled.
    """
    if status not in (None, EntryStatus.PENDING, EntryStatus.ACTIVE):
        raise NotRecallable(
            f"Only pending and active entries can be recalled; to see {status} ones, leave out the query."
        )
    words = query_words(query)[:_QUERY_WORDS]
    asked = _Asked(kind, status, episode)
    scored = _scored(store, words, scope, world, asked, now or datetime.now(UTC)) if words and limit > 0 else []
    shown, left_out = select(scored, limit, floor)
    places = whereabouts(store, query, scope, world) if kind is None and status is None else []
    return Recollection(tuple(shown), tuple(places), tuple(left_out))


def render(recollection: Recollection, budget: int = BUDGET) -> Answer:
    """Return the text shown to the agent and the entries in it: as many whole lines as `budget` tokens hold."""
    return answer(lay_out([each.entry for each in recollection.entries], recollection.places, budget))


def over_budget(recollection: Recollection, budget: int = BUDGET) -> list[LeftOut]:
    """Return the entries that the text shown to an agent has no room for."""
    shown = render(recollection, budget).entries
    return [LeftOut(each, Why.BUDGET) for each in recollection.entries if each.entry.id not in shown]


def mark_recalled(store: Store, episode: int, step: int, numbers: Sequence[int], query: str) -> None:
    """Record that entries were shown to an agent at a step."""
    if not numbers:
        return
    now = utc_now()
    with store.transaction():
        known = store.rows("SELECT entry FROM recalls WHERE episode = ? AND step = ?", [episode, step])
        # A panel is rendered anew when its episode is resumed.
        for number in set(numbers).difference(row["entry"] for row in known):
            store.write("UPDATE entries SET recalled = recalled + 1, last_recalled = ? WHERE id = ?", [now, number])
            store.write("INSERT INTO recalls (episode, step, entry) VALUES (?, ?, ?)", [episode, step, number])
            record_event(store, "recalled", number, episode, step, query=query)


@dataclass(frozen=True)
class _Asked:
    """Which of the entries that hold the words a search looks at."""

    kind: Kind | None
    status: EntryStatus | None
    episode: int | None

    @property
    def where(self) -> tuple[str, list[object]]:
        """The condition in SQL and its values."""
        terms, values = list[str](), list[object]()
        if self.kind is not None:
            terms.append("+kind = ?")
            values.append(self.kind)
        if self.status is None:
            terms.append("(+status = 'active' OR (+status = 'pending' AND +episode = ?))")
            values.append(self.episode)
        else:
            terms.append("+status = ?")
            values.append(self.status)
        return " AND ".join(terms), values


def _scored(
    store: Store, words: Sequence[str], scope: str | None, world: str | None, asked: _Asked, now: datetime
) -> list[Scored]:
    known = statistics(store, words, None if scope is None else scopes_above(scope), world)
    weights = {word: known.rarity(word) for word in words}
    where, values = asked.where
    held = {
        row["id"]: set(row["words"].split())
        for row in store.rows(
            # Left to itself, the planner walks through every active entry before it looks at the numbers.
            "SELECT entries.id AS id, words FROM json_each(?) AS best CROSS JOIN entries ON entries.id = best.value "
            f"WHERE {where}",
            [json.dumps(candidates(store, known)), *values],
        )
    }
    kin = {word: frozenset(others) for word, others in known.kin.items()}
    relevance = {number: relevance_of(said, weights, kin) for number, said in held.items()}
    best = sorted(relevance, key=lambda number: (-relevance[number], -number))[:SCORED]
    rows = store.rows(f"SELECT {COLUMNS} FROM entries WHERE id IN ({marks(best)})", best)
    own = _corrections(store, asked.episode)
    return [
        score(entry, held[entry.id], relevance[entry.id], scope, now)
        for entry in map(read_entry, rows)
        if _stands(entry, own) and not (scope is None and is_private(entry.scope))
    ]


def _corrections(store: Store, episode: int | None) -> dict[tuple[str | None, ...], int]:
    """Return the latest pending claim of an episode about each subject."""
    if episode is None:
        return {}
    rows = store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE episode = ? AND status = ? AND subject IS NOT NULL ORDER BY id",
        [episode, EntryStatus.PENDING],
    )
    return {_claim(note): note.id for note in map(read_entry, rows)}


def _stands(entry: Entry, own: dict[tuple[str | None, ...], int]) -> bool:
    return entry.slots is None or own.get(_claim(entry), entry.id) == entry.id


def _claim(entry: Entry) -> tuple[str | None, ...]:
    return entry.scope, entry.world, entry.subject, entry.relation
