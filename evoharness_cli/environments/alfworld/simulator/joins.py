"""Finds the values of variables for which literals hold: rows of values that each literal extends or filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .conditions import Literal
from .relations import Fact, Relation, Row, picker

Relations = Mapping[str, Relation]
Step = Callable[[Relations, list[Row]], list[Row]]


class Join:
    """Literals made ready to be asked which rows of values they hold for."""

    __slots__ = ("_prefix", "_steps", "predicates", "slots")

    def __init__(
        self, slots: Mapping[str, int], prefix: Row, steps: Sequence[Step], literals: Sequence[Literal]
    ) -> None:
        self.slots = slots
        """Where the value of a variable or constant stands in a row."""
        self.predicates = frozenset(literal.predicate for literal in literals) - {"="}
        """The predicates that it looks at."""
        self._prefix = prefix
        self._steps = tuple(steps)

    def rows(self, relations: Relations, row: Row = ()) -> list[Row]:
        """Return every row that extends the one given."""
        rows = [row + self._prefix]
        for step in self._steps:
            rows = step(relations, rows)
            if not rows:
                break
        return rows


def plan_join(literals: Sequence[Literal], given: Sequence[str], fluents: frozenset[str]) -> Join:
    """Make literals ready in the order that looks cheapest.

    `given` are the variables whose values are known; `fluents` the predicates whose facts change, of which there are
    few. Every other variable must stand in a positive literal. The rows come in no particular order.
    """
    left = list(literals)
    constants = dict.fromkeys(a for literal in left for a in literal.arguments if not a.startswith("?"))
    slots = {name: slot for slot, name in enumerate((*given, *constants))}
    steps: list[Step] = []

    def cost(literal: Literal) -> tuple[bool, bool, bool, int]:
        unknown = {argument for argument in literal.arguments if argument not in slots}
        is_check = literal.predicate == "=" or not literal.positive
        return (
            bool(unknown) and is_check,
            bool(unknown) and len(unknown) == len(set(literal.arguments)),
            bool(unknown) and literal.predicate not in fluents,
            len(unknown),
        )

    while left:
        literal = min(left, key=cost)
        left.remove(literal)
        steps.append(_step(literal, slots))
    return Join(slots, tuple(constants), steps, literals)


def ordered_join(literals: Sequence[Literal], given: Sequence[str]) -> Join:
    """Make positive literals over variables ready in the order they stand in, as the official engine's queries are.

    The rows come in the order of the facts. Different variables have different values.
    """
    slots = {name: slot for slot, name in enumerate(given)}
    steps = [_step(literal, slots, distinct=True) for literal in literals]
    return Join(slots, (), steps, literals)


def _step(literal: Literal, slots: dict[str, int], distinct: bool = False) -> Step:
    arguments = literal.arguments
    known = tuple(place for place, argument in enumerate(arguments) if argument in slots)
    key = picker(tuple(slots[arguments[place]] for place in known))
    if len(known) == len(arguments):
        return _same(key, literal.positive) if literal.predicate == "=" else _check(literal, known, key)
    fresh: dict[str, int] = {}
    repeated: list[tuple[int, int]] = []
    for place, argument in enumerate(arguments):
        if argument in fresh:
            repeated.append((place, fresh[argument]))
        elif argument not in slots:
            fresh[argument] = place
    for argument in fresh:
        slots[argument] = len(slots)
    return _extend(literal.predicate, known, key, tuple(fresh.values()), repeated, distinct)


def _same(key: Callable[[Row], Sequence[str]], positive: bool) -> Step:
    def step(_: Relations, rows: list[Row]) -> list[Row]:
        return [row for row in rows if (key(row)[0] == key(row)[1]) == positive]

    return step


def _check(literal: Literal, known: tuple[int, ...], key: Callable[[Row], object]) -> Step:
    predicate = literal.predicate

    def holds(relations: Relations, rows: list[Row]) -> list[Row]:
        found = relations[predicate].index(known)
        return [row for row in rows if key(row) in found]

    def fails(relations: Relations, rows: list[Row]) -> list[Row]:
        found = relations[predicate].index(known)
        return [row for row in rows if key(row) not in found]

    return holds if literal.positive else fails


def _extend(
    predicate: str,
    known: tuple[int, ...],
    key: Callable[[Row], object],
    fresh: tuple[int, ...],
    repeated: Sequence[tuple[int, int]],
    distinct: bool,
) -> Step:
    none: tuple[Fact, ...] = ()
    (only, *others) = fresh

    def one(relations: Relations, rows: list[Row]) -> list[Row]:
        found = relations[predicate].index(known)
        return [(*row, fact[only]) for row in rows for fact in found.get(key(row), none)]

    def several(relations: Relations, rows: list[Row]) -> list[Row]:
        found = relations[predicate].index(known)
        extended: list[Row] = []
        for row in rows:
            for fact in found.get(key(row), none):
                if any(fact[place] != fact[first] for place, first in repeated):
                    continue
                values = tuple(fact[place] for place in fresh)
                if distinct and (len({*values}) < len(values) or not set(row).isdisjoint(values)):
                    continue
                extended.append(row + values)
        return extended

    return several if others or repeated or distinct else one
