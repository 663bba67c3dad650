"""The items of a memory policy: entries of the store in a branch of scopes that is the policy's alone.

What is learnt by the policy `expel` in the scope `a/b` is an entry of the scope `@expel/a/b`. No episode is played in
such a scope, so the items of one policy never reach another, while whatever shows, copies or prunes entries has them
too. What an entry has no column for (title, role, importance, kind of task) is in the table `policy_items`; an entry
without a row there, as a person's note, has the defaults.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ..drafts import LONGEST
from ..entries import COLUMNS, Entry, marks, private_scope, read_entry, record_event, scopes_above
from ..store import Store, storable, utc_now
from ..vocabulary import EntryStatus, Kind, Trust
from ..word_index import Statistics, candidates, statistics
from ..words import indexed, query_words, wording

FIRST_IMPORTANCE = 2


@dataclass(frozen=True)
class Item:
    """Something that a policy keeps."""

    entry: Entry
    role: str
    """What it is to its policy; the entry's kind where the policy has but one role for each."""
    task_kind: str
    """The kind of task it comes from; empty for what is not tied to one."""
    title: str
    importance: int


@dataclass(frozen=True)
class NewItem:
    """An item before it is kept. Texts longer than an entry may be are cut."""

    kind: Kind
    text: str
    when: str = ""
    role: str = ""
    task_kind: str = ""
    title: str = ""
    below: str = ""
    """The scope below the bank's own in which it holds."""


@dataclass(frozen=True)
class Bank:
    """The items of one policy that can be seen from a scope."""

    store: Store
    policy: str
    scope: str

    @property
    def home(self) -> str:
        """The scope in which new items are kept."""
        return private_scope(self.policy, self.scope)

    @property
    def visible(self) -> list[str]:
        """The policy's scopes in which the home lies, and itself."""
        return [scope for scope in scopes_above(self.home) if scope]

    def items(self, *roles: str, below: bool = False, episode: int | None = None) -> list[Item]:
        """Return the active items of some roles (of any, by default), and an episode's own pending ones, oldest first.

        With `below`, those of the scopes directly below the home count too.
        """
        found = self._read("scope IN", self.visible, roles, episode)
        if below:
            nested = self.store.rows(
                "SELECT DISTINCT scope FROM partitions "
                "WHERE substr(scope, 1, ?) = ? AND instr(substr(scope, ?), '/') = 0",
                [len(self.home) + 1, f"{self.home}/", len(self.home) + 2],
            )
            found += self._read("scope IN", [row["scope"] for row in nested], roles, episode)
        return sorted(found, key=lambda item: item.entry.id)

    def search(self, query: str, limit: int, *roles: str, episode: int | None = None) -> list[Item]:
        """Return the items with a word of the query, best first by Okapi BM25.

        Words are as rare as in the whole bank; an item is as long as it is against the others that hold such a word.
        """
        words = query_words(query)
        known = statistics(self.store, words, self.visible, None)
        numbers = candidates(self.store, known)
        found = {item.entry.id: item for item in self._read("entries.id IN", numbers, roles, episode)}
        rows = self.store.rows(f"SELECT id, words FROM entries WHERE id IN ({marks(found)})", [*found])
        said = {row["id"]: row["words"].split() for row in rows}
        mean = sum(map(len, said.values())) / max(len(said), 1)
        scores = {number: _bm25(each, words, known, mean) for number, each in said.items()}
        best = sorted((number for number in found if scores[number] > 0), key=lambda each: (-scores[each], -each))
        return [found[number] for number in best[:limit]]

    def recalled(self, episode: int) -> set[int]:
        """Return the entries that an episode was shown."""
        return {row["entry"] for row in self.store.rows("SELECT entry FROM recalls WHERE episode = ?", [episode])}

    def add(self, new: NewItem, episode: int, step: int | None = None, because: str = "") -> int:
        """Keep an item, pending if a step of an episode made it and else active; return its entry's number."""
        when = cut(new.when, LONGEST // 2)
        text = cut(new.text, LONGEST - len(when))
        status = EntryStatus.ACTIVE if step is None else EntryStatus.PENDING
        words = f"{text} {when} {new.task_kind}"
        now = utc_now()
        with self.store.transaction():
            number = self.store.write(
                "INSERT INTO entries (kind, scope, text, applies, trust, status, created, confirmed, episode, step, "
                f"because, normal, words) VALUES ({marks(range(13))})",
                [
                    new.kind,
                    f"{self.home}/{new.below}" if new.below else self.home,
                    text,
                    when or None,
                    Trust.DISTILLED if step is None else Trust.AGENT,
                    status,
                    now,
                    now,
                    episode,
                    step,
                    because,
                    wording(words).normal,
                    indexed(words),
                ],
            )
            self.store.write(
                "INSERT INTO policy_items (entry, role, task_kind, title, importance) VALUES (?, ?, ?, ?, ?)",
                [number, new.role or new.kind, new.task_kind, cut(new.title, LONGEST), FIRST_IMPORTANCE],
            )
            self.add_source(number, episode, step, because)
            record_event(self.store, "noted", number, episode, step, status=status, because=because)
        return number

    def add_source(self, number: int, episode: int, step: int | None = None, because: str = "") -> None:
        """Write down an episode that an item comes from."""
        self.store.write(
            "INSERT OR IGNORE INTO sources (entry, episode, step, because) VALUES (?, ?, ?, ?)",
            [number, episode, step, because],
        )

    def edit(self, item: Item, text: str, episode: int, when: str | None = None, title: str | None = None) -> None:
        """Give an item another text, and another condition and title where given; its history keeps the old text."""
        old = item.entry
        condition = cut(when or old.when or "", LONGEST // 2)
        text = cut(text, LONGEST - len(condition))
        words = f"{text} {condition} {item.task_kind}"
        self.store.write(
            "UPDATE entries SET text = ?, applies = ?, confirmed = ?, normal = ?, words = ? WHERE id = ?",
            [text, condition or None, utc_now(), wording(words).normal, indexed(words), old.id],
        )
        if title is not None:
            self.store.write("UPDATE policy_items SET title = ? WHERE entry = ?", [cut(title, LONGEST), old.id])
        self.add_source(old.id, episode)
        record_event(self.store, "edited", old.id, episode, before=old.text)

    def weigh(self, item: Item, importance: int, episode: int, why: str) -> None:
        """Give an item another importance."""
        self.store.write(
            "INSERT INTO policy_items (entry, role, task_kind, title, importance) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (entry) DO UPDATE SET importance = excluded.importance",
            [item.entry.id, item.role, item.task_kind, item.title, importance],
        )
        record_event(self.store, "weighed", item.entry.id, episode, importance=importance, why=why)

    def drop(self, item: Item, episode: int, why: str) -> None:
        """Recall an item no longer."""
        self.store.write("UPDATE entries SET status = ? WHERE id = ?", [EntryStatus.DROPPED, item.entry.id])
        record_event(self.store, "dropped", item.entry.id, episode, why=why)

    def _read(self, column: str, values: Sequence[object], roles: Sequence[str], episode: int | None) -> list[Item]:
        of_role = f"coalesce(role, kind) IN ({marks(roles)})" if roles else "1"
        rows = self.store.rows(
            f"SELECT {_COLUMNS} FROM entries LEFT JOIN policy_items ON entry = entries.id "
            f"WHERE {column} ({marks(values)}) AND {of_role} "
            "AND (status = 'active' OR (status = 'pending' AND episode = ?)) ORDER BY entries.id",
            [*values, *roles, episode],
        )
        return [_item(row) for row in rows]


_COLUMNS = f"{COLUMNS}, role, task_kind, title, importance"


def cut(text: str, longest: int) -> str:
    """Return a text on one line, without control characters and within a number of characters."""
    plain = "".join(char if char.isprintable() else " " for char in storable(text))
    line = " ".join(plain.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _bm25(said: Sequence[str], query: Sequence[str], known: Statistics, mean: float) -> float:
    """Return Okapi BM25 with k1 = 1.2 and b = 0.75, and an inverse document frequency that is never negative."""
    length = 1.2 * (0.25 + 0.75 * len(said) / mean)
    score = 0.0
    for word in query:
        if times := said.count(word):
            n = known.count(word)
            score += math.log(1 + (known.entries - n + 0.5) / (n + 0.5)) * times * 2.2 / (times + length)
    return score


def _item(row: sqlite3.Row) -> Item:
    entry = read_entry(row)
    if row["role"] is None:
        return Item(entry, entry.kind, "", "", FIRST_IMPORTANCE)
    return Item(entry, row["role"], row["task_kind"], row["title"], row["importance"])
