"""Whether an environment keeps to the Protocol, so that a slip of its author is a sentence that names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .belief import Fact
from .protocols import Environment, Observation, OutsideFault


def checked_observation(environment: Environment, call: str, answer: object) -> Observation:
    """Return what `reset` or `step` answered. Raises OutsideFault where it is no Observation."""
    if isinstance(answer, Observation) and isinstance(answer.text, str):
        return answer
    raise OutsideFault(f"{_name(environment)}.{call} returned {_shown(answer)}; expected an Observation with a text.")


def checked_facts(environment: Environment) -> Sequence[Fact]:
    """Return what `facts` tells. Raises OutsideFault where that isn't a sequence of facts of three texts."""
    facts: object = environment.facts()
    if not isinstance(facts, Sequence):
        raise OutsideFault(f"{_name(environment)}.facts() returned {_shown(facts)}; expected a list of Facts.")
    for fact in facts:
        parts = (fact.subject, fact.relation, fact.object) if isinstance(fact, Fact) else (None,)
        if not all(isinstance(part, str) for part in parts):
            raise OutsideFault(f"{_name(environment)}.facts() holds {_shown(fact)}; expected a Fact of three texts.")
    return facts


def checked_names(environment: Environment) -> Mapping[str, Sequence[str]]:
    """Return what `names` tells. Raises OutsideFault where that isn't a mapping to lists, whose order counts."""
    names: object = environment.names()
    if not isinstance(names, Mapping):
        raise OutsideFault(f"{_name(environment)}.names() returned {_shown(names)}; expected a mapping to lists.")
    for placeholder, known in names.items():
        if isinstance(known, str) or not isinstance(known, Sequence):
            raise OutsideFault(
                f"{_name(environment)}.names() has {_shown(known)} for {placeholder!r}; expected a list of texts."
            )
        if not any(f"{{{placeholder}}}" in form for form in environment.forms):
            raise OutsideFault(
                f"{_name(environment)}.names() has the placeholder {placeholder!r}, which none of its forms has."
            )
    return names


def _name(environment: Environment) -> str:
    return type(environment).__name__


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
