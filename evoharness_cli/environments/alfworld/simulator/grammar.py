"""Reads the grammar of a game: the templates of its actions, and the rules that its texts are derived by."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .errors import CannotCompile
from .symbols import Symbol, symbols

TASK = "\ue000"
"""Stands for the task sentence in a grammar that the games of a kind share."""

_SENTENCE = re.compile(r"(Your task is to:\s*)((?:[^\"\\]|\\.)+)")
_PLAIN = re.compile(r"[\w .,!?'()/:-]*")
_SKIPPED = re.compile(r"(?:\s+|#[^\n]*)*")
_PART = re.compile(r'action(?![\w/-])|grammar\s*::\s*"""((?:.|\n)*?)"""\s*;')
_NAME = re.compile(r"\s*([\w/-]+)\s*\{")
_FIELD = re.compile(r'(template|feedback)\s*::\s*"([^"]*)"\s*;|(pddl|grammar)\s*::\s*"""((?:.|\n)*?)"""\s*;|\}')


@dataclass(frozen=True)
class Alternative:
    """A text that a rule may have, and the query that must have an answer for it."""

    condition: str
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, eq=False)
class Grammar:
    """What a game shows: for each action how its command and its feedback read, and the rules behind them."""

    templates: Mapping[str, tuple[Symbol, ...]]
    feedback: Mapping[str, tuple[Symbol, ...]]
    rules: Mapping[str, tuple[Alternative, ...]]


def split_task(text: str) -> tuple[str, str]:
    """Return a grammar with `TASK` for its task sentence, and the sentence; the grammar itself where it isn't plain."""
    found = _SENTENCE.findall(text)
    if len(found) != 1 or not _PLAIN.fullmatch(found[0][1]) or TASK in text:
        return text, TASK
    return _SENTENCE.sub(rf"\g<1>{TASK}", text), found[0][1]


@lru_cache(maxsize=16)
def read_grammar(text: str) -> Grammar:
    """Read a grammar. Raises CannotCompile where the official parser would, or might, refuse it."""
    templates: dict[str, tuple[Symbol, ...]] = {}
    feedback: dict[str, tuple[Symbol, ...]] = {}
    rules: dict[str, Any] = {}
    at = _skip(text, 0)
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            raise CannotCompile(f"The grammar should be actions and grammars; found {text[at : at + 40]!r}.")
        if part[1] is not None:
            rules.update(_json(part[1]))
            at = _skip(text, part.end())
            continue
        name = _NAME.match(text, part.end())
        if name is None:
            raise CannotCompile("The grammar has an action without a name.")
        fields, at = _fields(text, name.end(), name[1])
        templates[name[1].lower()] = symbols(fields["template"])
        feedback[name[1].lower()] = symbols(fields["feedback"])
        lines = fields.get("grammar", "{}").split("\n")
        rules.update(_json("\n".join(line for line in lines if not line.lstrip().startswith("#"))))
        at = _skip(text, at)
    return Grammar(templates, feedback, {name: _alternatives(name, found) for name, found in rules.items()})


def _skip(text: str, at: int) -> int:
    found = _SKIPPED.match(text, at)
    assert found
    return found.end()


def _fields(text: str, at: int, action: str) -> tuple[dict[str, str], int]:
    fields: dict[str, str] = {}
    while True:
        field = _FIELD.match(text, _skip(text, at))
        if field is None:
            raise CannotCompile(f"The grammar's action {action} has a part that the simulator doesn't know.")
        at = field.end()
        if field[0] == "}":
            break
        kind = field[1] or field[3]
        if kind in fields:
            raise CannotCompile(f"The grammar's action {action} has two parts {kind}.")
        fields[kind] = field[2] if field[1] else field[4]
    if not {"template", "feedback"} <= fields.keys():
        raise CannotCompile(f"The grammar's action {action} should have a template and a feedback.")
    return fields, at


def _json(text: str) -> Mapping[str, Any]:
    try:
        rules = json.loads(text)
    except json.JSONDecodeError as error:
        raise CannotCompile(f"The grammar has rules that aren't JSON: {error.msg}.") from None
    if not isinstance(rules, dict):
        raise CannotCompile("The grammar should have its rules under their names, but doesn't.")
    return rules


def _alternatives(name: str, rules: Sequence[Any]) -> tuple[Alternative, ...]:
    try:
        return tuple(Alternative(rule.get("condition", ""), symbols(rule["rhs"])) for rule in rules)
    except (AttributeError, KeyError, TypeError):
        raise CannotCompile(f"The grammar's rule {name} should be a list of objects with 'rhs', but isn't.") from None
