"""Reads the PDDL of a game as the official translator does: lower case, `;` comments, types after a dash."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from .errors import CannotCompile
from .relations import Fact

Nested = str | tuple["Nested", ...]
"""A word, or what stood between two parentheses."""

ROOT = "object"
"""The type that every other one belongs to."""

_COMMENT = re.compile(";[^\n]*")
_TOKEN = re.compile(r"[()]|[^\s()]+")
_HEAD = re.compile(r"\(define\s*\(\s*problem\s+[^\s()]+\s*\)\s*\(\s*:domain\s+([^\s()]+)\s*\)\s*\(\s*:objects\s")
_COST = re.compile(r"\(\s*=\s*\(\s*total-cost\s*\)\s*\d+\s*\)")
_INIT, _GOAL = "(:init", "(:goal"


@dataclass(frozen=True)
class Schema:
    """An action of the domain, before its variables have values."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    """Each variable and its type."""
    precondition: Nested
    effect: Nested


@dataclass(frozen=True, eq=False)
class Domain:
    """The rules that the games of a kind share."""

    name: str
    subtypes: Mapping[str, frozenset[str]]
    """A type, and the types of the objects that belong to it."""
    constants: tuple[tuple[str, str], ...]
    arities: Mapping[str, int]
    """The number of arguments of each declared predicate."""
    schemas: tuple[Schema, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """One game: its objects and their types, what holds at the start, and the goal."""

    types: Mapping[str, str]
    facts: Mapping[str, frozenset[Fact]]
    goal: str
    """The text of the goal's condition."""


@lru_cache(maxsize=16)
def read_domain(text: str) -> Domain:
    """Read a domain. Raises CannotCompile where it isn't one or has what the simulator doesn't know."""
    tree = nested(_clean(text, "domain"), "domain")
    if tree[:1] != ("define",) or len(tree) < 2 or len(tree[1]) != 2:
        raise CannotCompile("The domain should begin with (define (domain NAME), but doesn't.")
    sections: dict[str, Nested] = {}
    schemas: list[Schema] = []
    for part in tree[2:]:
        if isinstance(part, str) or not part:
            raise CannotCompile("The domain should be parts in parentheses, but has something else.")
        if part[0] == ":action":
            schemas.append(_schema(part))
        elif part[0] not in (":requirements", ":types", ":constants", ":predicates", ":functions"):
            raise CannotCompile(f"The domain has a part {part[0]}, which the simulator doesn't know.")
        elif part[0] in sections:
            raise CannotCompile(f"The domain has two parts {part[0]}.")
        else:
            sections[str(part[0])] = part[1:]
    arities = {str(entry[0]): len(_variables(entry[1:])) for entry in sections.get(":predicates", ())}
    arities["="] = 2
    return Domain(
        name=str(tree[1][1]),
        subtypes=_subtypes(typed_list(sections.get(":types", ()))),
        constants=tuple(typed_list(sections.get(":constants", ()))),
        arities=arities,
        schemas=tuple(schema for schema in schemas if schema.effect),
    )


def read_problem(text: str, domain: Domain) -> Problem:
    """Read a problem of a domain. Raises CannotCompile where it isn't one or has what the simulator doesn't know."""
    text = _clean(text, "problem").strip()
    head = _HEAD.match(text)
    start, end = text.find(_INIT), text.find(_GOAL)
    if head is None or head[1] != domain.name or not 0 < start < end:
        raise CannotCompile(
            f"The problem should be one of the domain {domain.name} with (:objects ...), (:init ...) and (:goal ...) "
            "in this order."
        )
    declared = [*domain.constants, *typed_list(_closed(text[head.end() : start], "objects").split())]
    types = dict(declared)
    if len(types) < len(declared):
        raise CannotCompile("The problem declares an object twice.")
    for kind in {*types.values()} - domain.subtypes.keys():
        raise CannotCompile(f"The problem has objects of the type {kind}, which the domain doesn't declare.")
    initial = _closed(text[start + len(_INIT) : end], "initial facts")
    facts = _facts(_COST.sub("", initial) if "=" in initial else initial)
    for predicate, found in facts.items():
        lengths = {len(fact) for fact in found}
        if lengths != {domain.arities.get(predicate, min(lengths))} or not types.keys() >= {*chain(*found)}:
            raise CannotCompile(f"The problem's facts {predicate} should be of declared objects, each of as many.")
    return Problem(types, facts, text[end:])


@lru_cache(maxsize=64)
def read_goal(text: str) -> Nested:
    """Read the end of a problem, from `(:goal` on, and return the goal's condition."""
    tree = nested(f"(problem {text}", "goal")
    goal, *rest = tree[1:]
    if len(goal) != 2 or isinstance(goal[1], str) or any(part[0] != ":metric" for part in rest):
        raise CannotCompile("The problem should end with (:goal CONDITION), but doesn't.")
    return goal[1]


def nested(text: str, what: str) -> tuple[Nested, ...]:
    """Return a text in parentheses as nested tuples of its words."""
    stack: list[list[Nested]] = [[]]
    for token in _TOKEN.findall(text.replace("?", " ?")):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise CannotCompile(f"The {what} has a closing parenthesis too many.")
            stack[-2].append(tuple(stack.pop()))
        else:
            stack[-1].append(token)
    if len(stack) > 1 or len(stack[0]) != 1 or isinstance(stack[0][0], str):
        raise CannotCompile(f"The {what} should be one text in parentheses, but isn't.")
    return stack[0][0]


def typed_list(words: Sequence[Nested]) -> list[tuple[str, str]]:
    """Read `a b - type c` as pairs of a name and its type; the last names may have none, and are of type `object`."""
    pairs: list[tuple[str, str]] = []
    names: list[str] = []
    is_type = False
    for word in words:
        if not isinstance(word, str):
            raise CannotCompile("A list of names with their types has parentheses in it.")
        if is_type:
            pairs += [(name, word) for name in names]
            names, is_type = [], False
        elif word == "-":
            is_type = True
        else:
            names.append(word)
    if is_type:
        raise CannotCompile("A list of names with their types ends with a dash.")
    return pairs + [(name, ROOT) for name in names]


def _variables(words: Sequence[Nested]) -> list[tuple[str, str]]:
    pairs = typed_list(words)
    if not all(name.startswith("?") for name, _ in pairs):
        raise CannotCompile("A predicate or an action should have variables, which begin with a question mark.")
    return pairs


def _clean(text: str, what: str) -> str:
    if not text.isascii():
        raise CannotCompile(f"The {what} has characters that aren't ASCII.")
    return _COMMENT.sub("", text.lower())


def _schema(part: Nested) -> Schema:
    fields = dict(zip(part[2::2], part[3::2], strict=False))
    if not isinstance(part[1], str) or list(fields) != [":parameters", ":precondition", ":effect"] or len(part) != 8:
        raise CannotCompile(
            f"The action {part[1]} should have :parameters, :precondition and :effect in this order, but hasn't."
        )
    return Schema(part[1], tuple(_variables(fields[":parameters"])), fields[":precondition"], fields[":effect"])


def _subtypes(declared: list[tuple[str, str]]) -> dict[str, frozenset[str]]:
    parents = {kind: parent for kind, parent in declared if kind != ROOT}
    subtypes: dict[str, set[str]] = {kind: {kind} for kind in (ROOT, *parents)}
    for kind in parents:
        above, seen = kind, {kind}
        while above != ROOT:
            above = parents.get(above, ROOT)
            if above in seen or above not in subtypes:
                raise CannotCompile(f"The type {kind} should descend from declared types, but doesn't.")
            seen.add(above)
            subtypes[above].add(kind)
    return {kind: frozenset(below) for kind, below in subtypes.items()}


def _closed(text: str, what: str) -> str:
    text = text.rstrip()
    if not text.endswith(")"):
        raise CannotCompile(f"The problem's {what} should end with a parenthesis, but don't.")
    return text[:-1]


def _facts(text: str) -> dict[str, frozenset[Fact]]:
    facts: dict[str, set[Fact]] = {}
    *pieces, rest = text.split(")")
    for piece in pieces:
        before, _, fact = piece.partition("(")
        words = fact.split()
        if not words or before.strip() or "(" in fact or words[0] == "=":
            raise CannotCompile(f"The problem's initial facts should all be plain ones; found '{piece.strip()})'.")
        facts.setdefault(words[0], set()).add(tuple(words[1:]))
    if rest.strip():
        raise CannotCompile(f"The problem's initial facts should all be plain ones; found '{rest.strip()}'.")
    return {predicate: frozenset(found) for predicate, found in facts.items()}
