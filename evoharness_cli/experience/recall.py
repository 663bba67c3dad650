"""What past episodes taught about a query: entries by relevance, record and age, and places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..harness.protocols import Answer, WrongUsage
from .entries import COLUMNS, Entry, marks, read_entry, record_event, scopes_above
from .noting import any_of, frequency
from .places import Whereabouts, whereabouts
from .store import Store, utc_now
from .vocabulary import EntryStatus, Kind
from .words import content_words

LIMIT = 5
"""Entries in one recall."""
BUDGET = 160
"""Tokens of the text shown, each taken to be four characters."""
FLOOR = 0.15
"""The least share of a query, by weight of its words, that a relevant entry covers."""
HALF_LIFE = 90.0
"""Days after which an entry that nothing confirmed counts half."""
NOTHING = "nothing relevant in experience"

_BACKGROUND = 100
_CANDIDATES = 200
_QUERY_WORDS = 48


class NotRecallable(WrongUsage):
    """Entries of that status are out of recall."""


@dataclass(frozen=True)
class Scored:
    """An entry and why it ranks where it does; `score` is `bm25` x `record` x `age`."""

    entry: Entry
    share: float
    """The share of the query that it covers, from 0 to 1: what the floor is held against."""
    bm25: float
    """Its relevance by BM25, from 0 to the 1 of the best match."""
    record: float
    """The posterior mean of helping, from its votes."""
    age: float
    """From 1 for what was confirmed just now, halved every `HALF_LIFE` days."""
    score: float


@dataclass(frozen=True)
class Recollection:
    """What is known about a query, best first."""

    entries: tuple[Scored, ...]
    places: tuple[Whereabouts, ...]


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
    now: datetime | None = None,
) -> Recollection:
    """Return what is known about a query, and change nothing.

    Entries are those of the scope and of those it lies in, or of every scope if it is None; what is about one
    world is shown in that world only, and first. The pending notes of `episode` count, and what they correct
    doesn't. With a `kind` or `status` only such entries are returned, and no places; for all pending notes ask for
    that status. Raises NotRecallable where nothing of the status can be recalled.

    An entry is relevant if the query's words that it holds make up at least `FLOOR` of the query, each
    weighing ln(1 + (N + 100) / (n + 1)) where n of N entries hold it. This is an inverse document frequency
    as if there were a hundred entries more without the word, so that the floor means the same in a store of
    ten and of ten thousand.
    """
    if status not in (None, EntryStatus.PENDING, EntryStatus.ACTIVE):
        raise NotRecallable(
            f"Only pending and active entries can be recalled; to see {status} ones, leave out the query."
        )
    words = content_words(query)[:_QUERY_WORDS]
    asked = _Asked(scope, world, kind, status, episode)
    found = _matches(store, words, asked) if words and limit > 0 else []
    weights = _weights(store, words) if found else {}
    best = max((relevance for _, relevance, _ in found), default=1.0)
    now = now or datetime.now(UTC)
    scored = [_score(entry, relevance / best, held, weights, now) for entry, relevance, held in found]
    relevant = [each for each in scored if each.share >= FLOOR]
    ranked = sorted(relevant, key=lambda each: (each.entry.world is None, -each.score, -each.entry.id))
    places = whereabouts(store, query, scope, world) if kind is None and status is None else []
    return Recollection(tuple(ranked[:limit]), tuple(places))


def render(recollection: Recollection, budget: int = BUDGET) -> Answer:
    """Return the text shown to the agent and the entries in it: as many lines as `budget` tokens hold."""
    lines: list[tuple[str, int | None]] = [(each.entry.line, each.entry.id) for each in recollection.entries]
    lines += [(f"{each.thing} here: {', '.join(each.here)}", None) for each in recollection.places if each.here]
    for each in recollection.places:
        counts = ", ".join(f"{count.place} {count.found} of {count.searched}" for count in each.counts)
        lines += [(f"places for {each.thing}: {counts}", None)] if counts else []
    shown: list[tuple[str, int | None]] = []
    for line in lines:
        if tokens_of("\n".join(text for text, _ in [*shown, line])) <= budget:
            shown.append(line)
    text = "\n".join(line for line, _ in shown)
    return Answer(text or NOTHING, tuple(number for _, number in shown if number is not None))


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


def tokens_of(text: str) -> int:
    """Return the tokens that a text is taken to have."""
    return math.ceil(len(text) / 4)


@dataclass(frozen=True)
class _Asked:
    """Which entries a search looks at."""

    scope: str | None
    world: str | None
    kind: Kind | None
    status: EntryStatus | None
    episode: int | None

    @property
    def where(self) -> tuple[str, list[object]]:
        """The condition in SQL and its values."""
        terms, values = ["(world IS NULL OR world = ?)"], list[object]([self.world])
        if self.scope is not None:
            scopes = scopes_above(self.scope)
            terms.append(f"scope IN ({marks(scopes)})")
            values += scopes
        if self.kind is not None:
            terms.append("kind = ?")
            values.append(self.kind)
        if self.status is None:
            terms.append("(status = 'active' OR (status = 'pending' AND episode = ?))")
            values.append(self.episode)
        else:
            terms.append("status = ?")
            values.append(self.status)
        return " AND ".join(terms), values


def _matches(store: Store, words: Sequence[str], asked: _Asked) -> list[tuple[Entry, float, frozenset[str]]]:
    where, values = asked.where
    rows = store.rows(
        f"""
        WITH best AS (
            SELECT entries.id AS number, -bm25(entries_fts) AS relevance
            FROM entries_fts CROSS JOIN entries ON entries.id = entries_fts.rowid
            WHERE entries_fts MATCH ? AND {where}
            ORDER BY world IS NULL, relevance DESC LIMIT {_CANDIDATES}
        )
        SELECT {COLUMNS}, words AS held, relevance FROM best JOIN entries ON id = number
        """,
        [any_of(list(words)), *values],
    )
    wanted = frozenset(words)
    found = [(read_entry(row), float(row["relevance"]), wanted.intersection(row["held"].split())) for row in rows]
    own = _corrections(store, asked.episode)
    return [match for match in found if _stands(match[0], own)]


def _corrections(store: Store, episode: int | None) -> dict[tuple[str | None, ...], int]:
    """Return the latest pending claim of an episode about each subject."""
    rows = store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE episode = ? AND status = ? AND subject IS NOT NULL ORDER BY id",
        [episode, EntryStatus.PENDING],
    )
    return {_claim(note): note.id for note in map(read_entry, rows)}


def _stands(entry: Entry, own: dict[tuple[str | None, ...], int]) -> bool:
    return entry.slots is None or own.get(_claim(entry), entry.id) == entry.id


def _claim(entry: Entry) -> tuple[str | None, ...]:
    return entry.scope, entry.world, entry.subject, entry.relation


def _weights(store: Store, words: Sequence[str]) -> dict[str, float]:
    # The highest id stands for the number of entries, since counting many takes longer than the search.
    total = store.number("SELECT max(id) FROM entries")
    return {word: math.log(1 + (total + _BACKGROUND) / (frequency(store, word) + 1)) for word in words}


def _score(entry: Entry, bm25: float, held: frozenset[str], weights: dict[str, float], now: datetime) -> Scored:
    share = sum(weights[word] for word in held) / sum(weights.values())
    days = max(0.0, (now - datetime.fromisoformat(entry.confirmed)).total_seconds() / 86400)
    age = 0.5 ** (days / HALF_LIFE)
    return Scored(entry, share, bm25, entry.record, age, bm25 * entry.record * age)
