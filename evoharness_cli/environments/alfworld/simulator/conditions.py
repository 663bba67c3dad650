"""Turns PDDL conditions into alternatives, each a conjunction of literals, and effects into a list of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from .errors import CannotCompile
from .pddl import Nested, typed_list

_MOST_ALTERNATIVES = 256


@dataclass(frozen=True)
class Literal:
    """A predicate over variables, which begin with `?`, and constants; or that it doesn't hold."""

    predicate: str
    arguments: tuple[str, ...]
    positive: bool = True

    @property
    def variables(self) -> list[str]:
        """Its arguments that are variables."""
        return [argument for argument in self.arguments if argument.startswith("?")]


@dataclass(frozen=True)
class Conjunction:
    """Literals that hold together, and the variables that the condition brought along, with their types."""

    literals: tuple[Literal, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Effect:
    """A literal that an action makes true, where one of `when` holds before."""

    literal: Literal
    when: tuple[Conjunction, ...] | None = None


def alternatives(tree: Nested, arities: Mapping[str, int], taken: Iterable[str] = ()) -> list[Conjunction]:
    """Return the conjunctions of which one must hold. `taken` are the variables that the condition is about.

    Raises:
        CannotCompile: it uses an undeclared predicate, or quantifies over all objects.
    """
    return _Reader(arities, set(taken)).read(tree, {}) if tree else [Conjunction()]


def effects(tree: Nested, arities: Mapping[str, int], taken: Iterable[str]) -> list[Effect]:
    """Return the effects of an action in the order that they are written; costs are left out.

    Raises:
        CannotCompile: as `alternatives` does, or an effect is on all objects.
    """
    tag = tree[0] if tree else ""
    if tag == "and":
        return [effect for part in tree[1:] for effect in effects(part, arities, taken)]
    if tag == "increase" and tree[1:2] == (("total-cost",),) and re.fullmatch(r"\d+", str(tree[-1])) and len(tree) == 3:
        return []
    if tag == "when" and len(tree) == 3:
        when = tuple(alternatives(tree[1], arities, taken))
        found = effects(tree[2], arities, taken)
        if any(effect.when is not None for effect in found):
            raise CannotCompile("The domain has a conditional effect in a conditional effect.")
        return [replace(effect, when=when) for effect in found]
    if tag in ("when", "forall", "increase", "assign"):
        raise CannotCompile(f"The domain has an effect ({tag} ...), which the simulator doesn't know.")
    literals = [literal for one in alternatives(tree, arities, taken) for literal in one.literals] if tree else []
    if len(literals) != 1 or tag == "exists" or literals[0].predicate == "=":
        raise CannotCompile(f"The domain has an effect ({tag} ...), which is neither that a fact holds nor that not.")
    return [Effect(literals[0])]


class _Reader:
    def __init__(self, arities: Mapping[str, int], taken: set[str]) -> None:
        self._arities = arities
        self._taken = taken

    def read(self, tree: Nested, names: Mapping[str, str], positive: bool = True) -> list[Conjunction]:
        if isinstance(tree, str) or not tree or not isinstance(tree[0], str):
            raise CannotCompile(f"A condition should be a predicate or an operator in parentheses; found {tree!r}.")
        tag = tree[0]
        parts = tree[1:]
        if tag == "not" and len(parts) == 1:
            return self.read(parts[0], names, not positive)
        if tag == "imply" and len(parts) == 2:
            return self.read(("or", ("not", parts[0]), parts[1]), names, positive)
        if tag in ("and", "or"):
            read = [self.read(part, names, positive) for part in parts]
            return self._all_of(read) if (tag == "and") == positive else [one for found in read for one in found]
        if tag in ("exists", "forall") and len(parts) == 2:
            if (tag == "exists") != positive:
                raise CannotCompile("The game has a condition on all objects, which the simulator doesn't know.")
            return self._any_of(parts[0], parts[1], names, positive)
        return [Conjunction((self._literal(tree, names, positive),))]

    def _all_of(self, read: list[list[Conjunction]]) -> list[Conjunction]:
        found = [
            Conjunction(
                tuple(literal for one in chosen for literal in one.literals),
                tuple(variable for one in chosen for variable in one.variables),
            )
            for chosen in product(*read)
        ]
        if len(found) > _MOST_ALTERNATIVES:
            raise CannotCompile(f"A condition has more than {_MOST_ALTERNATIVES} alternatives.")
        return found

    def _any_of(self, quantified: Nested, tree: Nested, names: Mapping[str, str], positive: bool) -> list[Conjunction]:
        renamed = dict(names)
        variables: list[tuple[str, str]] = []
        for name, kind in typed_list(quantified):
            fresh = name
            while fresh in self._taken:
                fresh += "'"
            self._taken.add(fresh)
            renamed[name] = fresh
            variables.append((fresh, kind))
        found = self.read(tree, renamed, positive)
        return [replace(one, variables=(*variables, *one.variables)) for one in found]

    def _literal(self, tree: Nested, names: Mapping[str, str], positive: bool) -> Literal:
        predicate, arguments = tree[0], tree[1:]
        words = [names.get(argument, argument) for argument in arguments if isinstance(argument, str)]
        is_closed = all(word in self._taken for word in words if word.startswith("?"))
        if self._arities.get(str(predicate)) != len(arguments) or len(words) < len(arguments) or not is_closed:
            raise CannotCompile(f"A condition should be of declared predicates and variables; found ({predicate} ...).")
        return Literal(str(predicate), tuple(words), positive)


def columns(
    starting: Mapping[str, tuple[frozenset[str], ...]],
    actions: Iterable[tuple[Iterable[tuple[str, str]], Conjunction, Iterable[Effect]]],
    subtypes: Mapping[str, frozenset[str]],
) -> dict[str, tuple[frozenset[str], ...]]:
    """Return, for each argument of each predicate, the types of the objects that may ever come to stand there.

    `starting` says so of the initial facts; each action is its parameters, one of its conjunctions, and its effects.
    """
    found = dict(starting)
    known = list(actions)
    before = None
    while before != found:
        before = dict(found)
        for parameters, conjunction, changes in known:
            kinds = variable_types((*parameters, *conjunction.variables), conjunction.literals, found, subtypes.get)
            if not all(kinds.values()):
                continue
            for effect in changes:
                literal = effect.literal
                if literal.positive:
                    old = found.get(literal.predicate, (frozenset(),) * len(literal.arguments))
                    new = [kinds.get(argument, frozenset()) for argument in literal.arguments]
                    found[literal.predicate] = tuple(a | b for a, b in zip(old, new, strict=True))
    return found


def variable_types(
    variables: Iterable[tuple[str, str]],
    literals: Iterable[Literal],
    columns: Mapping[str, tuple[frozenset[str], ...]],
    subtypes: Callable[[str], frozenset[str] | None],
) -> dict[str, frozenset[str]]:
    """Return the types of the objects that each variable can stand for where the literals hold; none if it can't."""
    kinds = {name: subtypes(kind) or frozenset() for name, kind in variables}
    for literal in literals:
        if literal.positive and literal.predicate != "=":
            places = columns.get(literal.predicate, (frozenset(),) * len(literal.arguments))
            for argument, place in zip(literal.arguments, places, strict=True):
                if argument in kinds:
                    kinds[argument] &= place
    return kinds
