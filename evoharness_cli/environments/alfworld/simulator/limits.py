"""Finds what a game could show of the official engine's inner order, which the simulator doesn't know."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from .conditions import Conjunction, Effect, Literal
from .errors import CannotCompile
from .pddl import Schema
from .symbols import Evaluate, ForEach, Literally, Symbol
from .texts import Placeholder


def check_commands(templates: Mapping[str, Sequence[Symbol]], scopes: Mapping[str, Iterable[Placeholder]]) -> None:
    """Different actions must have different commands, as the official engine takes whichever it finds first.

    Raises:
        CannotCompile: two actions have the same words around things of the same types.
    """
    known: dict[tuple[str, ...], list[list[str]]] = {}
    for action, template in templates.items():
        kinds = dict(scopes[action])
        words = tuple(symbol.text if isinstance(symbol, Literally) else "" for symbol in template)
        shown = [kinds.get(_variable(symbol), "") for symbol in template if not isinstance(symbol, Literally)]
        alike = known.setdefault(words, [])
        # What isn't a plain variable may show anything.
        if any(all(a == b or not a or not b for a, b in zip(shown, other, strict=True)) for other in alike):
            raise CannotCompile(f"The grammar has commands that could mean {action} or another action.")
        alike.append(shown)


def check_shown(
    read: Iterable[tuple[Schema, Sequence[Conjunction], Iterable[Effect]]],
    remembered: Collection[str],
    shown: Collection[str],
) -> None:
    """What is shown must follow from what holds.

    The official engine shows a conditional effect even where its condition fails. It shows that a fact no longer holds
    after an action that removes it, though it never held, unless it never could.

    Raises:
        CannotCompile: something is shown that an action may change in such a way.
    """
    for schema, found, changes in read:
        for effect in changes:
            literal = effect.literal
            if effect.when is not None and literal.predicate in shown:
                raise CannotCompile(f"The grammar asks for {literal.predicate}, which {schema.name} may change.")
            is_remembered = not literal.positive and literal.predicate in remembered
            held = Literal(literal.predicate, literal.arguments)
            if is_remembered and not all(held in one.literals for one in found):
                raise CannotCompile(
                    f"The grammar asks where {literal.predicate} holds no longer, and {schema.name} may remove what "
                    "never held."
                )


def _variable(symbol: Symbol) -> str:
    if isinstance(symbol, ForEach) and symbol.query is None and isinstance(symbol.text, Evaluate):
        return symbol.text.expression
    return ""
