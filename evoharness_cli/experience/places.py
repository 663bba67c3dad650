"""Where things are: how often a type of thing was found in a type of place, and what one world holds."""

from __future__ import annotations

from dataclasses import dataclass

from ..harness.belief import kind_of
from .entries import marks, scopes_above
from .sightings import Evidence, findings
from .store import Store, utc_now
from .words import stem, tokens

SHOWN = 5
"""How many places are shown for a thing."""
_LONGEST_NAME = 3
_NAMES = 60


@dataclass(frozen=True)
class PlaceCount:
    """How often a search of a type of place found a type of thing."""

    place: str
    found: int
    searched: int
    imported: bool = False
    """Whether the word of a published bank is counted in, as one find in as many searches as the place's rank."""

    @property
    def chance(self) -> float:
        """The mean of the Beta posterior of finding it there, from a uniform prior."""
        return (self.found + 1) / (self.searched + 2)


@dataclass(frozen=True)
class Whereabouts:
    """What is known of where a type of thing is: in this world, and in general, likeliest first."""

    thing: str
    here: tuple[str, ...]
    counts: tuple[PlaceCount, ...]


def observe(store: Store, episode: int, scope: str, world: str, evidence: Evidence) -> None:
    """Add an episode's first sightings and searches to the counts of its scope and to its world."""
    searched, found = findings(evidence)
    now = utc_now()
    with store.transaction():
        store.write_many(
            "INSERT INTO place_searches (place, scope, searched) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET searched = searched + excluded.searched",
            [[place, scope, times] for place, times in searched.items()],
        )
        store.write_many(
            "INSERT INTO place_finds (object, scope, place, found) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET found = found + excluded.found",
            [[thing, scope, place, times] for (thing, place), times in found.items()],
        )
        store.write_many(
            "INSERT OR REPLACE INTO sightings (world, kind, scope, object, place, episode, step, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                [world, kind_of(seen.thing).lower(), scope, seen.thing, seen.place, episode, seen.step, now]
                for seen in evidence.sightings.values()
            ],
        )


def whereabouts(store: Store, query: str, scope: str | None, world: str | None) -> list[Whereabouts]:
    """Return what is known of the whereabouts of what a query names, in the order it names them.

    It comes from a scope and those it lies in, from all of them where the scope is None.
    """
    names = _names(query)
    scopes = [] if scope is None else scopes_above(scope)
    within = "1" if scope is None else f"scope IN ({marks(scopes)})"
    counts: dict[str, list[PlaceCount]] = {}
    for row in store.rows(
        f"""
        SELECT object, place, sum(found) AS found,
            (SELECT sum(searched) FROM place_searches AS searches
             WHERE searches.place = finds.place AND {within}) AS searched
        FROM place_finds AS finds WHERE object IN ({marks(names)}) AND {within}
        GROUP BY object, place
        """,
        [*scopes, *names, *scopes],
    ):
        counts.setdefault(row["object"], []).append(PlaceCount(row["place"], row["found"], row["searched"]))
    for row in store.rows(
        f"""
        SELECT object, place, min(rank) AS rank,
            (SELECT sum(searched) FROM place_searches AS searches
             WHERE searches.place = priors.place AND {within}) AS searched
        FROM place_priors AS priors WHERE object IN ({marks(names)}) AND {within}
        GROUP BY object, place
        """,
        [*scopes, *names, *scopes],
    ):
        known_places = counts.setdefault(row["object"], [])
        found = sum(each.found for each in known_places if each.place == row["place"])
        others = [each for each in known_places if each.place != row["place"]]
        # A place that is the so-manieth to look into counts as one find in as many searches: so the order of an
        # imported list is kept, and soon outweighed.
        likely = PlaceCount(row["place"], found + 1, (row["searched"] or 0) + row["rank"], imported=True)
        counts[row["object"]] = [*others, likely]
    here: dict[str, list[str]] = {}
    for row in store.rows(
        f"SELECT kind, place FROM sightings WHERE world = ? AND kind IN ({marks(names)}) AND {within} ORDER BY object",
        [world, *names, *scopes],
    ):
        here.setdefault(row["kind"], []).append(row["place"])
    known: list[Whereabouts] = []
    for name in names:
        if name in counts or name in here:
            likeliest = sorted(counts.get(name, ()), key=lambda each: (-each.chance, -each.found, each.place))
            places = tuple(dict.fromkeys(here.get(name, ())))
            known.append(Whereabouts(name, places[:SHOWN], tuple(likeliest[:SHOWN])))
    return known


def _names(query: str) -> list[str]:
    """Return the names that a query may mean, in the order it holds them: as written, in one word, in the singular."""
    said = tokens(query)[:_NAMES]
    names: dict[str, None] = {}
    for start in range(len(said)):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(said)) + 1):
            head = said[start : end - 1]
            for last in _singulars(said[end - 1]):
                names[" ".join([*head, last])] = None
                names["".join([*head, last])] = None
    return list(names)


def _singulars(word: str) -> list[str]:
    """Return a word and what it may be the plural of."""
    forms = [word, stem(word)]
    if word.endswith("ves"):
        forms += [f"{word[:-3]}f", f"{word[:-3]}fe"]
    if word.endswith("es"):
        forms.append(word[:-2])
    return list(dict.fromkeys(forms))
