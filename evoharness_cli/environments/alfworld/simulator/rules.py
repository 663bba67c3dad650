"""Compiles a domain and a grammar into the actions of a game: when each is possible, what it changes and says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..engine import STATE
from .conditions import Conjunction, Effect, Literal, alternatives, columns, effects, variable_types
from .errors import CannotCompile
from .grammar import read_grammar
from .joins import Join, plan_join
from .limits import check_commands, check_shown
from .pddl import Domain, Schema, read_domain, read_goal
from .relations import Fact, Row, picker
from .symbols import Expand
from .texts import Columns, Placeholder, Text, TextWriter

TYPE = "type@"
"""Before the name of a type: the predicate that holds for its objects."""
NOT = "not_"
"""Before the name of a predicate: the one that holds where it held and holds no longer."""


@dataclass(frozen=True)
class Change:
    """A fact that an action adds or removes."""

    predicate: str
    fact: Callable[[Row], Fact]
    """Makes the fact of the action's arguments."""
    adds: bool
    when: tuple[Join, ...] | None
    """Joins of which one must have a row before the action; None where the change is unconditional."""


@dataclass(frozen=True)
class Branch:
    """One way in which an action is possible."""

    join: Join
    arguments: Callable[[Row], Row]
    """Takes the action's arguments from a row of the join."""
    needs: tuple[tuple[str, Callable[[Row], Fact]], ...]
    """The changing facts that it looks at, whether they hold or not; the official engine orders actions by them."""


@dataclass(frozen=True, eq=False)
class Action:
    """An action that the agent can take, for every choice of its arguments."""

    name: str
    branches: tuple[Branch, ...]
    changes: tuple[Change, ...]
    command: Text
    feedback: Text
    is_fixed: bool
    """Whether a command reads the same in every state."""
    reads: frozenset[str]
    """The predicates that decide when it is possible and how its commands read."""


@dataclass(frozen=True, eq=False)
class Rules:
    """What the games of a domain, a grammar and the same types of facts share. Nothing in it changes."""

    domain: Domain
    columns: Columns
    actions: tuple[Action, ...]
    opening: Text
    predicates: frozenset[str]
    """Every predicate that is looked at or changed."""
    fluents: frozenset[str]
    """The predicates whose facts change."""
    remembered: frozenset[str]
    """Those of them for which it is asked what held and holds no longer."""


@lru_cache(maxsize=16)
def compile_rules(
    domain_text: str, grammar_text: str, starting: tuple[tuple[str, tuple[frozenset[str], ...]], ...]
) -> Rules:
    """Compile what games share; `starting` are the types of the arguments of each predicate's initial facts.

    Raises:
        CannotCompile: something in it isn't known to the simulator, or the official engine would refuse it.
    """
    domain, grammar = read_domain(domain_text), read_grammar(grammar_text)
    read = [(schema, *_parts(schema, domain)) for schema in domain.schemas]
    fluents = frozenset(effect.literal.predicate for _, _, changes in read for effect in changes)
    known = columns(
        dict(starting),
        [(schema.parameters, one, changes) for schema, found, changes in read for one in found],
        domain.subtypes,
    )
    writer = TextWriter(grammar, known, domain.subtypes)
    opening = writer.text((Expand("intro"),), ())
    actions: list[Action] = []
    scopes: dict[str, tuple[Placeholder, ...]] = {}
    for schema, found, changes in read:
        branches = _branches(schema, found, changes, known, domain, fluents)
        if not branches:
            continue
        if schema.name not in grammar.templates:
            raise CannotCompile(f"The grammar has no action {schema.name}, which the domain has.")
        scope = scopes[schema.name] = tuple((name.strip("?"), kind) for name, kind in schema.parameters)
        template = TextWriter(grammar, known, domain.subtypes)
        command = template.text(grammar.templates[schema.name], scope)
        writer.queried |= template.queried
        actions.append(
            Action(
                name=schema.name,
                branches=tuple(branches),
                changes=tuple(_change(effect, schema, known, domain, fluents) for effect in changes),
                command=command,
                feedback=writer.text(grammar.feedback[schema.name], scope),
                is_fixed=not any(predicate.removeprefix(NOT) in fluents for predicate in template.queried),
                reads=frozenset(template.queried).union(*(branch.join.predicates for branch in branches)),
            )
        )
    check_commands({name: grammar.templates[name] for name in scopes}, scopes)
    remembered = frozenset(fluent for fluent in fluents if f"{NOT}{fluent}" in writer.queried)
    check_shown(read, remembered, {*STATE, *(predicate.removeprefix(NOT) for predicate in writer.queried)})
    conditions = [join for action in actions for change in action.changes for join in change.when or ()]
    return Rules(
        domain=domain,
        columns=known,
        actions=tuple(actions),
        opening=opening,
        predicates=fluents.union(
            STATE,
            writer.queried,
            *(action.reads for action in actions),
            *(join.predicates for join in conditions),
        ),
        fluents=fluents,
        remembered=remembered,
    )


@lru_cache(maxsize=64)
def compile_goal(rules: Rules, text: str) -> tuple[tuple[Join, ...], frozenset[str]]:
    """Return the joins of which one has a row when the goal is reached, and the predicates that they look at.

    Raises:
        CannotCompile: the goal isn't understood, or doesn't depend on anything that an action changes.
    """
    joins: list[Join] = []
    predicates: set[str] = set()
    for one in alternatives(read_goal(text), rules.domain.arities):
        looked_at = {literal.predicate for literal in one.literals}
        if not looked_at & rules.fluents:
            raise CannotCompile("The goal, or a part of it, depends on nothing that an action changes.")
        join = _join((), one, rules.columns, rules.domain, rules.fluents)
        if join:
            joins.append(join)
            predicates |= join.predicates
    return tuple(joins), frozenset(predicates)


def _parts(schema: Schema, domain: Domain) -> tuple[list[Conjunction], list[Effect]]:
    names = [name for name, _ in schema.parameters]
    changes = effects(schema.effect, domain.arities, names)
    for effect in changes:
        if not set(effect.literal.arguments) <= set(names):
            raise CannotCompile(f"The action {schema.name} has an effect on something else than its parameters.")
    return alternatives(schema.precondition, domain.arities, names) if changes else [], changes


def _branches(
    schema: Schema,
    found: Iterable[Conjunction],
    changes: Sequence[Effect],
    known: Columns,
    domain: Domain,
    fluents: frozenset[str],
) -> list[Branch]:
    branches: list[Branch] = []
    names = [name for name, _ in schema.parameters]
    for one in found:
        for literals in _with_a_change(schema.name, one.literals, changes):
            join = _join(schema.parameters, Conjunction(literals, one.variables), known, domain, fluents)
            if join is None:
                continue
            needs = tuple(
                (literal.predicate, _facts(literal.arguments, join.slots))
                for literal in one.literals
                if literal.predicate in fluents
            )
            branches.append(Branch(join, _facts(names, join.slots), needs))
    return branches


def _join(
    parameters: Sequence[tuple[str, str]],
    conjunction: Conjunction,
    known: Columns,
    domain: Domain,
    fluents: frozenset[str],
    given: Sequence[str] = (),
) -> Join | None:
    """Return the join of a conjunction, or None where its variables stand for nothing."""
    variables = (*parameters, *conjunction.variables)
    kinds = variable_types(variables, conjunction.literals, known, domain.subtypes.get)
    if not all(kinds.values()):
        return None
    if any(kinds[name] != {kind} for name, kind in parameters):
        raise CannotCompile("An action has a parameter that stands for objects of subtypes of its type.")
    anything = frozenset(domain.subtypes)
    free = variable_types(variables, conjunction.literals, known, lambda _: anything)
    bound = {
        name
        for literal in conjunction.literals
        if literal.positive and literal.predicate != "="
        for name in literal.variables
    }
    typed = [
        Literal(f"{TYPE}{kind}", (name,))
        for name, kind in variables
        if name not in given and not (name in bound and free[name] <= domain.subtypes[kind])
    ]
    return plan_join([*conjunction.literals, *typed], given, fluents)


def _with_a_change(name: str, literals: tuple[Literal, ...], changes: Sequence[Effect]) -> list[tuple[Literal, ...]]:
    """Return the literals so that the action changes something.

    The official translator drops an action whose effects are all among its preconditions, as going to where one is.
    """
    added = [effect.literal for effect in changes if effect.literal.positive and effect.when is None]
    removed = [effect.literal for effect in changes if not effect.literal.positive and effect.when is None]
    pairs: set[tuple[str, str]] = set()
    for literal in added:
        alike = [other for other in literals if other.positive and other.predicate == literal.predicate]
        if not alike:
            return [literals]
        pairs |= {pair for other in alike for pair in zip(literal.arguments, other.arguments, strict=True)}
        if len(alike) > 1:
            raise CannotCompile(f"It isn't clear when the action {name} changes anything.")
    for literal in removed:
        alike = [other for other in added if other.predicate == literal.predicate]
        is_needed = Literal(literal.predicate, literal.arguments) in literals
        if is_needed and not alike:
            return [literals]
        pairs |= {pair for other in alike for pair in zip(literal.arguments, other.arguments, strict=True)}
        if len(alike) != 1 or not is_needed:
            raise CannotCompile(f"It isn't clear when the action {name} changes anything.")
    if any(effect.when is not None for effect in changes):
        raise CannotCompile(f"It isn't clear when the action {name} changes anything.")
    return [(*literals, Literal("=", pair, False)) for pair in sorted(pairs) if pair[0] != pair[1]]


def _change(effect: Effect, schema: Schema, known: Columns, domain: Domain, fluents: frozenset[str]) -> Change:
    names = [name for name, _ in schema.parameters]
    slots = {name: slot for slot, name in enumerate(names)}
    when = None
    if effect.when is not None:
        joins = [_join((), one, known, domain, fluents, given=names) for one in effect.when]
        when = tuple(join for join in joins if join)
    literal = effect.literal
    return Change(literal.predicate, _facts(literal.arguments, slots), literal.positive, when)


def _facts(arguments: Sequence[str], slots: Mapping[str, int]) -> Callable[[Row], Fact]:
    places = tuple(slots[argument] for argument in arguments)
    if len(places) == 1:
        (only,) = places
        return lambda row: (row[only],)
    return picker(places)
