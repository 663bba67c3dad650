"""When a subgoal of a household task is done, as a condition over belief's facts."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...harness import Belief, Condition
from ...harness.belief import AT, HAND, SEARCHED, YOU, kind_of
from .facts import ON, OPEN, SLICED
from .goal import Goal, state_of

_THING = (
    r"(?:(?:some|an?|the|my) )?(?P<which>second |another |other |two |both )?"
    r"(?P<state>clean |hot |cool |cold )?(?P<thing>\w+(?: \d+)?)"
)
_PLACE = r"(?:the |an? )?(?P<place>\w+(?: \d+)?)"


def evidence(subgoal: str, goal: Goal | None) -> Condition | None:
    """Return the condition of a subgoal such as `find mug`, `clean mug` or `put mug in shelf`.

    Things and places are types (`mug`) or instances (`mug 1`). A subgoal about the task's own thing also asks for the
    state that the task wants, and `second` for one more than is there already. None where the wording isn't known.
    """
    text = " ".join(subgoal.lower().split()).rstrip(".")
    for pattern, condition in _WORDINGS:
        if match := pattern.fullmatch(text):
            return condition(match, goal)
    return None


def _seen(match: re.Match[str], _: Goal | None) -> Condition:
    thing, count, state = match["thing"], _count(match), _state(match)

    def missing(belief: Belief) -> str | None:
        seen = _in(belief, _named(belief.subjects(AT), thing), state)
        if len(seen) >= count or (count == 1 and _named(belief.subjects(SEARCHED), thing)):
            return None
        return f"{'no' if not seen else 'only one'} {state}{' ' if state else ''}{thing} was seen"

    return missing


def _held(match: re.Match[str], goal: Goal | None) -> Condition:
    thing, second, state = match["thing"], _count(match) == 2, _state(match)

    def missing(belief: Belief) -> str | None:
        held = belief.subjects(AT, HAND)
        if (
            goal
            and goal.place
            and len(_in(belief, _delivered(belief, thing, goal.place), state)) >= (2 if second else 1)
        ):
            return None
        if _named(held, thing) and not _in(belief, held, state):
            return f"you hold {held[0]}, but it is not {state}"
        if not _named(held, thing):
            return f"you hold {', '.join(held) or 'nothing'}{f', not {thing}' if held else ''}"
        if second and goal and goal.place and not _placed(belief, thing, goal.place):
            return f"the first {thing} is not at {goal.place}"
        return None

    return missing


def _in_state(state: str) -> Callable[[re.Match[str], Goal | None], Condition]:
    def condition(match: re.Match[str], _: Goal | None) -> Condition:
        thing, wanted = match["thing"], 2 if _count(match) == 2 else 1

        def missing(belief: Belief) -> str | None:
            ready = [name for name in _named(belief.subjects(state), thing) if belief.holds(name, state)]
            return None if len(ready) >= wanted else f"{'only one' if ready else 'no'} {thing} is {state}"

        return missing

    return condition


def _stored(match: re.Match[str], goal: Goal | None) -> Condition:
    thing, place, count = match["thing"], match["place"], _count(match)
    state = _state(match)
    if goal and goal.thing == kind_of(thing) and goal.place == kind_of(place):
        state = state or goal.state

    def missing(belief: Belief) -> str | None:
        there = _placed(belief, thing, place)
        if not there:
            held = belief.subjects(AT, HAND)
            return f"no {thing} is at {place}{f', you still hold {held[0]}' if held else ''}"
        ready = _placed(belief, thing, place, state)
        if not ready:
            return f"{there[0]} is at {place} but not {state}"
        if len(ready) < count:
            return f"only {ready[0]} is at {belief.value(ready[0], AT)}; both have to be at the same place"
        return None

    return missing


def _lit(match: re.Match[str], goal: Goal | None) -> Condition:
    lamp = match["thing"]

    def missing(belief: Belief) -> str | None:
        if not [name for name in _named(belief.subjects(ON), lamp) if belief.holds(name, ON)]:
            return f"no {lamp} is on"
        if goal and goal.lamp and not _named(belief.subjects(AT, HAND), goal.thing):
            return f"the {lamp} is on but you don't hold {goal.thing}"
        return None

    return missing


def _looked(match: re.Match[str], goal: Goal | None) -> Condition:
    held, lit = _held(match, None), _lit(_LIT.fullmatch(f"use {match['place']}") or match, goal)
    return lambda belief: held(belief) or lit(belief)


def _opened(match: re.Match[str], _: Goal | None) -> Condition:
    place = match["place"]

    def missing(belief: Belief) -> str | None:
        is_open = [name for name in _named(belief.subjects(OPEN), place) if belief.holds(name, OPEN)]
        return None if is_open else f"no {place} is open"

    return missing


def _reached(match: re.Match[str], _: Goal | None) -> Condition:
    place = match["place"]

    def missing(belief: Belief) -> str | None:
        at = belief.value(YOU, AT)
        return None if at and _named([at], place) else f"you are at {at or 'no place yet'}"

    return missing


_LIT = re.compile(rf"(?:use|turn on|switch on|toggle|light) {_THING}")
_WORDINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Goal | None], Condition]], ...] = (
    (re.compile(rf"(?:find|locate|look for|search for) {_THING}"), _seen),
    (re.compile(rf"(?:take|get|pick up|grab|hold|fetch) {_THING}(?: from .*)?"), _held),
    (re.compile(rf"(?:clean|wash|rinse) {_THING}(?: (?:with|in|at|using) .*)?"), _in_state("clean")),
    (re.compile(rf"(?:heat|warm|cook|microwave) {_THING}(?: (?:with|in|at|using) .*)?"), _in_state("hot")),
    (re.compile(rf"(?:cool|chill) {_THING}(?: (?:with|in|at|using) .*)?"), _in_state("cool")),
    (re.compile(rf"slice {_THING}(?: (?:with|using) .*)?"), _in_state(SLICED)),
    (re.compile(rf"(?:put|place|move|store|bring) {_THING} (?:in/on|in|on|to|into|onto) {_PLACE}"), _stored),
    (re.compile(rf"(?:look at|examine) {_THING} (?:under|with|using) {_PLACE}"), _looked),
    (_LIT, _lit),
    (re.compile(rf"open {_PLACE}"), _opened),
    (re.compile(rf"(?:go to|reach) {_PLACE}"), _reached),
)


def _count(match: re.Match[str]) -> int:
    return 2 if (match["which"] or "").strip() in ("second", "another", "other", "two", "both") else 1


def _state(match: re.Match[str]) -> str:
    return state_of((match["state"] or "").strip())


def _in(belief: Belief, names: list[str], state: str) -> list[str]:
    """Return those of the names that are in a state; all of them where none is asked."""
    return [name for name in names if not state or belief.holds(name, state)]


def _named(names: list[str], wanted: str) -> list[str]:
    """Return the names that are the wanted instance, or of the wanted type, also in the plural."""
    return [name for name in names if wanted in (name, kind_of(name), f"{kind_of(name)}s")]


def _delivered(belief: Belief, thing: str, place: str) -> list[str]:
    """Return the things that were held and now lie at one place of the wanted type."""
    held = {known.fact.subject for known in belief.history if (known.fact.relation, known.fact.object) == (AT, HAND)}
    return [name for name in _placed(belief, thing, place) if name in held]


def _placed(belief: Belief, thing: str, place: str, state: str = "") -> list[str]:
    """Return the things, in one state if given, at one place of the wanted name or type: at the one where most are."""
    by_place: dict[str, list[str]] = {}
    for name in _in(belief, _named(belief.subjects(AT), thing), state):
        at = belief.value(name, AT) or ""
        if wanted := _named([at], place):
            by_place.setdefault(wanted[0], []).append(name)
    return max(by_place.values(), key=len, default=[])
