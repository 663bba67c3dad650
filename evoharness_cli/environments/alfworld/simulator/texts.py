"""Makes the symbols of a grammar into functions that write the text for a state."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from .conditions import Literal
from .errors import CannotCompile
from .grammar import Grammar
from .joins import Join, ordered_join
from .relations import Relation, Row
from .symbols import Evaluate, Expand, Literally, Symbol

Placeholder = tuple[str, str]
"""A variable of the grammar and its type; two of one name and different types are different."""
Columns = Mapping[str, tuple[frozenset[str], ...]]

_ATOM = re.compile(r"\s*(!?[\w/]+)\s*\(([^()]*)\)\s*")
_PLACEHOLDER = re.compile(r"\s*([\w']+)\s*:\s*([\w/-]+)\s*")
_NEGATION = "not_"


class World(Protocol):
    """What a text is written about."""

    @property
    def relations(self) -> Mapping[str, Relation]:
        """The facts by their predicate; what was true and is no longer is found under `not_` and the predicate."""
        ...

    @property
    def names(self) -> Mapping[str, str]:
        """The name that is shown for each id."""
        ...


Text = Callable[[World, Row], str]
"""Writes a text about the world, given the ids that the variables in scope stand for."""


class TextWriter:
    """Makes texts ready; what they ask for is in `queried` afterwards."""

    def __init__(self, grammar: Grammar, columns: Columns, subtypes: Mapping[str, frozenset[str]]) -> None:
        self.queried: set[str] = set()
        """Every predicate that some text depends on."""
        self._grammar = grammar
        self._columns = columns
        self._subtypes = subtypes
        self._rules: dict[tuple[str, tuple[Placeholder, ...]], Text | None] = {}

    def text(self, symbols: Sequence[Symbol], scope: tuple[Placeholder, ...]) -> Text:
        """Return the writer of a text whose variables in scope are given by a row.

        Raises:
            CannotCompile: it uses an unknown rule, variable, type or form of expression.
        """
        parts = [self._part(symbol, scope) for symbol in symbols]
        if all(isinstance(part, str) for part in parts):
            whole = "".join(part for part in parts if isinstance(part, str))
            return lambda _world, _row: whole
        writers = [part if callable(part) else _constant(part) for part in parts]
        if len(writers) == 1:
            return writers[0]
        return lambda world, row: "".join([write(world, row) for write in writers])

    def _part(self, symbol: Symbol, scope: tuple[Placeholder, ...]) -> Text | str:
        if isinstance(symbol, Literally):
            return symbol.text
        if isinstance(symbol, Expand):
            return self._rule(symbol.rule, scope)
        inner_scope, query = scope, None
        if symbol.query is not None:
            query, inner_scope = self._query(symbol.query, scope)
        if isinstance(symbol.text, Evaluate):
            inner = _evaluated(symbol.text.expression, inner_scope)
        else:
            inner = self._rule(symbol.text.rule, inner_scope)
        if query is None:
            return inner
        if not symbol.is_list:
            return _joined(query, inner)
        between, last, empty = (
            self._rule(name, scope) for name in ("list_separator", "list_last_separator", "list_empty")
        )
        return _listed(query, inner, between, last, empty)

    def _rule(self, name: str, scope: tuple[Placeholder, ...]) -> Text:
        key = (name, scope)
        if key in self._rules:
            known = self._rules[key]
            if known is None:
                raise CannotCompile(f"The grammar's rule {name} refers to itself.")
            return known
        alternatives = self._grammar.rules.get(name)
        if not alternatives:
            raise CannotCompile(f"The grammar refers to a rule {name}, which it doesn't have.")
        self._rules[key] = None
        choices: list[tuple[Join, Text]] = []
        for alternative in alternatives:
            text = self.text(alternative.symbols, scope)
            if not alternative.condition:
                break
            choices.append((self._query(alternative.condition, scope)[0], text))
        else:
            raise CannotCompile(f"The grammar's rule {name} should end with an unconditional text, but doesn't.")
        self._rules[key] = rule = _chosen(choices, text) if choices else text
        return rule

    def _query(self, text: str, scope: tuple[Placeholder, ...]) -> tuple[Join, tuple[Placeholder, ...]]:
        literals: list[Literal] = []
        found = list(scope)
        for part in text.split("&"):
            atom = _ATOM.fullmatch(part)
            if atom is None or atom[1].startswith("!"):
                raise CannotCompile(f"The grammar should ask for facts as p(x:type, ...); found {text!r}.")
            placeholders = [self._placeholder(word, text) for word in atom[2].split(",")] if atom[2].strip() else []
            found += [placeholder for placeholder in dict.fromkeys(placeholders) if placeholder not in found]
            predicate = self._checked(atom[1], placeholders)
            self.queried.add(predicate)
            literals.append(Literal(predicate, tuple(map(_variable, placeholders))))
        return ordered_join(literals, [_variable(placeholder) for placeholder in scope]), tuple(found)

    def _placeholder(self, word: str, text: str) -> Placeholder:
        match = _PLACEHOLDER.fullmatch(word)
        if match is None or match[2] not in self._subtypes:
            raise CannotCompile(f"The grammar should name variables as x:type with a declared type; found {text!r}.")
        return match[1], match[2]

    def _checked(self, predicate: str, placeholders: Sequence[Placeholder]) -> str:
        """Return the predicate to ask for: facts with other types than those asked for never match."""
        fact = predicate.removeprefix(_NEGATION)
        places = self._columns.get(fact, ())
        if len(places) != len(placeholders) or not all(places):
            return f"{predicate}/{len(placeholders)}"
        for kinds, (_, kind) in zip(places, placeholders, strict=True):
            if not kinds & self._subtypes[kind]:
                return f"{predicate}/{len(placeholders)}"
            if len(kinds) > 1:
                raise CannotCompile(f"The grammar asks for {fact}, which holds for objects of several types.")
        return predicate


def _variable(placeholder: Placeholder) -> str:
    return f"?{placeholder[0]}:{placeholder[1]}"


def _constant(text: str) -> Text:
    return lambda _world, _row: text


def _joined(query: Join, inner: Text) -> Text:
    return lambda world, row: "".join([inner(world, found) for found in query.rows(world.relations, row)])


def _listed(query: Join, inner: Text, between: Text, last: Text, empty: Text) -> Text:
    def write(world: World, row: Row) -> str:
        texts = [inner(world, found) for found in query.rows(world.relations, row)]
        if not texts:
            return empty(world, row)
        *others, end = texts
        return between(world, row).join(others) + last(world, row) + end if others else end

    return write


def _chosen(choices: Sequence[tuple[Join, Text]], otherwise: Text) -> Text:
    def write(world: World, row: Row) -> str:
        for condition, text in choices:
            if condition.rows(world.relations, row):
                return text(world, row)
        return otherwise(world, row)

    return write


def _evaluated(expression: str, scope: Sequence[Placeholder]) -> Text:
    try:
        tree = ast.parse(expression.strip(" \t"), mode="eval").body
    except SyntaxError:
        raise CannotCompile(f"The grammar has an expression that isn't one: {expression!r}.") from None
    return _value(tree, expression, scope)


def _value(tree: ast.expr, expression: str, scope: Sequence[Placeholder]) -> Text:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return _constant(tree.value)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add) and not _has_thing(tree):
        left, right = (_value(side, expression, scope) for side in (tree.left, tree.right))
        return lambda world, row: left(world, row) + right(world, row)
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.Or):
        values = [_value(value, expression, scope) for value in tree.values]
        return lambda world, row: next((text for value in values if (text := value(world, row))), "")
    if isinstance(tree, ast.Name):
        return _name(tree.id, expression, scope)
    if isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name):
        slot = _slot(tree.value.id, expression, scope)
        if tree.attr == "name":
            return lambda world, row: world.names[row[slot]]
        if tree.attr == "id":
            return lambda _world, row: row[slot]
        if tree.attr in ("indefinite", "definite"):
            return _constant("a" if tree.attr == "indefinite" else "the")
    raise CannotCompile(f"The grammar has an expression that the simulator doesn't know: {expression!r}.")


def _has_thing(tree: ast.BinOp) -> bool:
    """Whether a whole thing is added to something, which can't be; only texts can."""
    return isinstance(tree.left, ast.Name) or isinstance(tree.right, ast.Name)


def _name(variable: str, expression: str, scope: Sequence[Placeholder]) -> Text:
    slot = _slot(variable, expression, scope)
    return lambda world, row: world.names[row[slot]]


def _slot(variable: str, expression: str, scope: Sequence[Placeholder]) -> int:
    """Return where the value stands; of variables of one name the latest counts."""
    for slot in range(len(scope) - 1, -1, -1):
        if scope[slot][0] == variable:
            return slot
    raise CannotCompile(f"The grammar has an expression with an unknown variable: {expression!r}.")
