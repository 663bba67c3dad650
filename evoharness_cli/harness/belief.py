"""Belief: what is true in the environment now, as facts with the step that showed them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

AT = "at"
"""The relation of a thing, or of the agent, to the place it is at."""
YOU = "you"
HAND = "hand"
"""The place of what the agent holds."""
SEARCHED = "searched"
"""The relation of a place to `yes` once its contents were seen, to `no` while they were not."""
YES, NO = "yes", "no"

_LISTED = 40
_FRAME = re.compile(r"^(?:(?:where|what|which|is|are|in|on|at|the|a|an|my)\s+)+|[?.!\s]+$")


@dataclass(frozen=True)
class Fact:
    """`subject` stands in `relation` to `object`; a property is a relation to `yes` or `no`."""

    subject: str
    relation: str
    object: str

    def __str__(self) -> str:
        if self.object == YES:
            return f"{self.subject} {self.relation}"
        if self.object == NO:
            return f"{self.subject} not {self.relation}"
        if (self.relation, self.object) == (AT, HAND):
            return f"{self.subject} in hand"
        return f"{self.subject} {self.relation} {self.object}"


@dataclass(frozen=True)
class Known:
    """A fact and the step whose observation showed it (0 is the first observation), or at which it was noted."""

    fact: Fact
    step: int
    noted: bool = False
    """Whether the agent wrote it down, and nothing showed it."""

    def __str__(self) -> str:
        return f"{self.fact} ({'noted at ' if self.noted else ''}step {self.step})"


def kind_of(name: str) -> str:
    """Return the type of a numbered thing: `mug 1` is a `mug`."""
    head, _, number = name.rpartition(" ")
    return head if head and number.isdecimal() else name


class Belief:
    """Facts by subject and relation; a newer fact supersedes the older one about the same two.

    What was observed and what the agent noted are kept apart: only the first is evidence, and answers `value`, `holds`
    and `subjects`. An observation ends a note about the same subject and relation.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Known] = {}
        self._noted: dict[tuple[str, str], Known] = {}
        self.history: list[Known] = []
        """Every fact that was news when it was observed, in order."""

    def absorb(self, facts: Iterable[Fact], step: int) -> list[Fact]:
        """Take in what a step showed and return what of it was news."""
        news = []
        for fact in facts:
            key = (fact.subject, fact.relation)
            before = self._known.get(key)
            self._known[key] = Known(fact, step)
            self._noted.pop(key, None)
            if before is None or before.fact.object != fact.object:
                news.append(fact)
                self.history.append(Known(fact, step))
        return news

    def note(self, fact: Fact, step: int) -> None:
        """Keep what the agent says is so."""
        self._noted[fact.subject, fact.relation] = Known(fact, step, noted=True)

    def value(self, subject: str, relation: str) -> str | None:
        """Return the object of a subject's relation, or None when nothing is known."""
        known = self._known.get((subject, relation))
        return known.fact.object if known else None

    def holds(self, subject: str, relation: str) -> bool:
        """Tell whether a property is known to be so."""
        return self.value(subject, relation) == YES

    def subjects(self, relation: str, object: str | None = None, kind: str | None = None) -> list[str]:
        """Return what stands in a relation, to one object and of one type where these are given, oldest first."""
        return [
            known.fact.subject
            for known in self._known.values()
            if known.fact.relation == relation
            and (object is None or known.fact.object == object)
            and (kind is None or kind_of(known.fact.subject) == kind)
        ]

    def about(self, query: str) -> list[Known]:
        """Return the facts in whose words the query's words stand, whole and in its order, newest first."""
        words = _FRAME.sub("", query.strip().lower())
        if not words:
            return []
        pattern = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
        found = [known for known in self.all() if pattern.search(str(known.fact).lower())]
        return sorted(found, key=lambda known: -known.step)

    def all(self) -> list[Known]:
        """Return every fact that stands, oldest subject first, the observed ones before the noted."""
        return [*self._known.values(), *self._noted.values()]

    def things(self) -> list[Known]:
        """Return what stands besides the agent's own place and what was searched, oldest subject first."""
        return [known for known in self.all() if known.fact.subject != YOU and known.fact.relation != SEARCHED]

    def track(self, query: str) -> str:
        """Answer `track [query]`: the facts about it, or what was searched for it in vain."""
        known = self.about(query)
        if not known:
            return f"nothing known of {query}. {self.searches()}".rstrip()
        return "; ".join(map(str, known[:_LISTED])) + _more(known)

    def situation(self) -> str:
        """Say where the agent is, what it holds, what it has and hasn't searched, and what it noted."""
        place = self.value(YOU, AT)
        held = self.subjects(AT, HAND)
        where = f"you are at {place}" if place else "you are at no place yet"
        noted = [str(known.fact) for known in self._noted.values()]
        notes = f"noted: {_listed(noted)}." if noted else ""
        return " ".join(filter(None, (f"{where}, holding {', '.join(held) or 'nothing'}.", self.searches(), notes)))

    def searches(self) -> str:
        """Say how many places were searched, and which were not; places of a type stand together, in order.

        Nothing where there is nothing to search.
        """
        done, left = self.subjects(SEARCHED, YES), self.subjects(SEARCHED, NO)
        kinds = list(dict.fromkeys(map(kind_of, left)))
        left.sort(key=lambda place: (kinds.index(kind_of(place)), _number(place)))
        count = len(done) + len(left)
        return f"searched {len(done)} of {count}. not searched: {_listed(left)}." if count else ""

    def bearing(self, subgoal: str) -> str:
        """Say what is known that bears on a subgoal, or nothing where a thing that it names is in the hand.

        That is where the things that it names were seen, and, once anything was searched, what is left to search.
        """
        known = [each.fact for each in self._known.values() if each.fact.relation == AT and each.fact.subject != YOU]
        named = [fact for fact in known if _names(subgoal, fact.subject)]
        named = named or [fact for fact in known if _names(subgoal, kind_of(fact.subject))]
        if any(fact.object == HAND for fact in named):
            return ""
        seen = f"seen: {_listed(list(map(str, named)))}." if named else ""
        left = self.searches() if self.subjects(SEARCHED, YES) else ""
        return " ".join(filter(None, (seen, left)))


def _names(text: str, name: str) -> bool:
    """Tell whether a name stands in a text as whole words, in the plural too."""
    return re.search(rf"(?<!\w){re.escape(name)}s?(?!\w)", text, re.IGNORECASE) is not None


def _number(name: str) -> int:
    number = name.rpartition(" ")[2]
    return int(number) if number.isdecimal() else 0


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + _more(names) if names else "none"


def _more(items: Sequence[object]) -> str:
    return f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
