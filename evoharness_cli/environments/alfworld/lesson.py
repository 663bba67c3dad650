"""One episode as the teacher plays it: a generator of replies, which is sent what each is answered with."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ...harness import Fact
from ...harness.actions import EnvironmentAction, MetaAction, parse_reply
from ...harness.belief import AT, kind_of
from ...harness.progress import Progress, Status
from .evidence import evidence
from .facts import CLEAN, COOL, HOT
from .goal import Goal, read_goal
from .hints import Hints, in_order, read_hints
from .mistakes import Mistake, Mistakes
from .seen import Seen
from .wrong_replies import ROUND, WRONG, WrongReplies

NOTHING = "Nothing happens."
_REFUSED = (NOTHING, "not yet")
"""How an answer begins after which nothing has changed."""
_TREATMENTS = {CLEAN: ("clean", "sinkbasin"), HOT: ("heat", "microwave"), COOL: ("cool", "fridge")}
_TRACK = "track []"
_DONE = "commit [done]"
_LONG = 8
"""Places searched in vain before a thing is found, from which on where it was is worth a note."""
_VAIN = 10
"""Places searched in vain after which it is worth a step to ask which are left."""
_USEFUL, _OPTIONAL = 0.9, 0.25
"""How often a call is made that mostly saves steps or mistakes, and one that an agent can do without.

Both kinds are made at random, so that what learns from it can find out which of them are worth their step.
"""
_GOAL = "\n\nYour task is to: "


@dataclass(frozen=True)
class Said:
    """A reply, and what kind of mistake it is where it is one on purpose."""

    text: str
    slip: str = ""


Result = TypeVar("Result")
Turns = Generator[Said, str, Result]
"""Replies go out, what they are answered with comes in."""


class Lesson:
    """Plays one episode. What it knows it has read in the transcript."""

    def __init__(self, mistakes: Mistakes) -> None:
        self._mistakes = mistakes
        self._seen = Seen()
        self._wrong = WrongReplies(self._seen, mistakes)
        self._put = "move {} to {}"
        self._hints: dict[str, Hints] = {}
        self._beside: dict[str, str] = {}
        """Places that are within reach from another one, where going to them does nothing."""
        self._useless: set[str] = set()
        """Things that can't be taken, and places that can't be reached."""
        self._goal: Goal | None = None
        """What is to be done next, once it is known and until it is begun."""
        self._progress = Progress("", lambda _: None)
        self._told: list[str] = []
        """Where things are, as the latest `commit` said, until something is done."""
        self._knows_nothing = False
        """Whether a recall was answered with nothing, after which asking again isn't worth a step."""

    def begin(self, system: str, opening: str, played: Sequence[tuple[str, str]] = ()) -> Turns[None]:
        """Yield the replies of the episode, from what another played of it on; it never ends by itself.

        `played` are its replies and what each was answered with.
        """
        if "move {object}" not in system:
            self._put = "put {} in/on {}"
        self._absorb(opening)
        for reply, answer in played:
            self._read(reply, answer)
        if _is_lost(played):
            yield from self._say(_TRACK)
        while True:
            goal, self._goal = self._goal, None
            if goal is not None:
                yield from self._reach_goal(goal)
            else:
                yield from self._act("look")

    def _reach_goal(self, goal: Goal) -> Turns[None]:
        yield from self._put_away(besides=goal.thing)
        if goal.thing not in self._hints and not self._seen.any(goal.thing) and self._mistakes.happens(_USEFUL):
            yield from self._recall(goal.thing)
        self._wrong.lamp = goal.lamp
        if goal.lamp:
            yield from self._look_under_lamp(goal)
        elif goal.count == 2:
            yield from self._put_two(goal)
        else:
            yield from self._put_one(goal)

    # The tasks, from whatever is done of them on.

    def _put_one(self, goal: Goal) -> Turns[None]:
        verb, appliance = _TREATMENTS.get(goal.state, ("", ""))
        plan = [f"take {goal.thing}", *([f"{verb} {goal.thing}"] if verb else []), f"put {goal.thing} in {goal.place}"]
        held = self._seen.holding(goal.thing)
        ready = bool(held) and (not verb or self._seen.is_so(held, goal.state))
        yield from self._plan(plan[-1:] if ready else plan[1:] if held else plan, _USEFUL)
        thing = yield from self._take_one(goal.thing)
        if not thing:
            return
        if not held:
            yield from self._done(_USEFUL if verb else _OPTIONAL)
        if verb and not ready:
            yield from self._treat(verb, thing, self._seen.places(appliance)[:1])
            yield from self._done(_OPTIONAL)
        yield from self._store(thing, self._seen.places(goal.place))

    def _put_two(self, goal: Goal) -> Turns[None]:
        thing, place = goal.thing, goal.place
        rest = [f"take second {thing}", f"put two {thing} in {place}"]
        plan = [f"take {thing}", f"put {thing} in {place}", *rest]
        placed, held = self._seen.placed(thing, place), self._seen.holding(thing)
        yield from self._plan(plan[2 * bool(placed) + bool(held) :])
        if not placed:
            first = held or (yield from self._find(thing, ()))
            if first is None:
                return
            if not held and kind_of(self._seen.place_of(first)) == place:
                # It lies where it is to be: the other one comes to it.
                yield from self._plan(rest)
            else:
                if not held:
                    if not (yield from self._take(first)):
                        return
                    yield from self._done(_OPTIONAL)
                yield from self._store(first, self._seen.places(place))
                yield from self._done()
            placed, held = [first], ""
        there = self._seen.place_of(placed[0])
        second = held or (yield from self._take_one(thing, placed))
        if second:
            if not held:
                yield from self._done(_OPTIONAL)
            yield from self._store(second, [there])

    def _look_under_lamp(self, goal: Goal) -> Turns[None]:
        plan = [f"take {goal.thing}", f"use {goal.lamp}"]
        held = self._seen.holding(goal.thing)
        yield from self._plan(plan[1:] if held else plan)
        thing = yield from self._take_one(goal.thing)
        if thing is None:
            return
        if not held:
            yield from self._done()
        if goal.lamp not in self._hints and not self._known(goal.lamp) and not self._knows_nothing:
            yield from self._recall(goal.lamp)
        lamp = yield from self._find(goal.lamp, ())
        if lamp:
            yield from self._reach(self._seen.place_of(lamp))
            yield from self._act(f"use {lamp}", thing)

    # What tasks are made of.

    def _take_one(self, thing: str, besides: Sequence[str] = ()) -> Turns[str | None]:
        """Find and take one of a type, unless it is in the hand; None when there is none to be had."""
        if held := self._seen.holding(thing):
            return held
        while True:
            found = yield from self._find(thing, besides)
            if found is None or (yield from self._take(found)):
                return found

    def _find(self, thing: str, besides: Sequence[str]) -> Turns[str | None]:
        """Go on until one is known; where it was seen before, ask where."""
        if known := self._known(thing, besides):
            place = self._seen.place_of(known[0])
            if place != self._seen.at() and str(Fact(known[0], AT, place)) not in self._told:
                yield from self._say(f"track [{thing}]")
            return known[0]
        in_vain = 0
        for place in in_order(thing, self._seen.places(), self._hints.get(thing, Hints())):
            if self._seen.is_searched(place) or place in self._useless:
                continue
            yield from self._look_into(place, thing)
            if known := self._known(thing, besides):
                yield from self._learn(thing, known[0], in_vain)
                return known[0]
            in_vain += 1
            if in_vain % _VAIN == 0:
                yield from self._say(_TRACK)
        return None

    def _learn(self, thing: str, found: str, in_vain: int) -> Turns[None]:
        """Note where a thing was, if what was recalled of it was wrong, or it took long to find."""
        place = self._seen.place_of(found)
        claimed = [each for each in self._hints.get(thing, Hints()).here if self._seen.is_searched(each)]
        if place not in claimed and (claimed or in_vain >= _LONG):
            where = "in" if self._seen.can_close(place) else "on"
            yield from self._say(f"note [in this house the {thing} is {where} {place}]")

    def _take(self, name: str) -> Turns[bool]:
        place = self._seen.place_of(name)
        yield from self._reach(place)
        yield from self._open(place)
        yield from self._act(f"take {name} from {place}", mistakes=self._wrong.takes(name, place))
        if name not in self._seen.held():
            self._useless.add(name)
        return name in self._seen.held()

    def _treat(self, verb: str, thing: str, appliances: Sequence[str]) -> Turns[None]:
        for appliance in appliances:
            others = [each for _, each in _TREATMENTS.values() if each != kind_of(appliance)]
            wrong = [Mistake("wrong appliance", f"{verb} {thing} with {each} 1") for each in others]
            if self._seen.at() != appliance:
                wrong.append(Mistake("from afar", f"{verb} {thing} with {appliance}"))
                wrong += self._wrong.put_downs(self._put.format(thing, "{}"))
            yield from self._reach(appliance, thing, wrong)
            yield from self._act(f"{verb} {thing} with {appliance}", thing, wrong[:2])

    def _store(self, thing: str, places: Sequence[str]) -> Turns[str | None]:
        """Put a thing to the first of the places that takes it, and return that."""
        for place in places:
            action = self._put.format(thing, place)
            wrong = [Mistake("from afar", action)] if self._seen.at() != place else []
            yield from self._reach(place, thing, [*wrong, *self._wrong.put_downs(self._put.format(thing, "{}"))])
            if self._seen.is_closed(place):
                yield from self._open(place, [Mistake("still closed", action)])
            yield from self._act(action, thing)
            if self._seen.place_of(thing) == place:
                return place
        return None

    def _look_into(self, place: str, thing: str) -> Turns[None]:
        yield from self._reach(place, self._seen.holding(), self._wrong.searches(place, thing))
        yield from self._open(place)
        if not self._seen.is_searched(place):
            self._useless.add(place)

    # Steps.

    def _reach(self, place: str, held: str = "", mistakes: Sequence[Mistake] = ()) -> Turns[None]:
        here = self._seen.at()
        if here == place or self._beside.get(place) == here:
            return
        said = yield from self._act(f"go to {place}", held, mistakes)
        if said == NOTHING:
            # Some places are reached from one spot: what is beside the one at hand needs no going, and shows no more.
            self._beside[place] = self._seen.at()
            yield from self._act(f"examine {place}", held)

    def _open(self, place: str, mistakes: Sequence[Mistake] = ()) -> Turns[None]:
        if self._seen.is_closed(place):
            yield from self._act(f"open {place}", self._seen.holding(), mistakes)

    def _put_away(self, besides: str) -> Turns[None]:
        """Free the hand of what is of another type: it can lie where it was, if not here."""
        for name in [each for each in self._seen.held() if kind_of(each) != besides]:
            for place in (self._seen.at(), self._seen.taken_from(name)):
                if name in self._seen.held():
                    yield from self._reach(place)
                    yield from self._open(place)
                    yield from self._say(self._put.format(name, place))

    def _plan(self, subgoals: Sequence[str], chance: float = 1.0) -> Turns[None]:
        """Have these subgoals open, in this order; where no plan is open, with a chance."""
        left = self._open_subgoals()
        before = left[: max(0, len(left) - len(subgoals))]
        current = self._progress.current
        is_first = current is not None and current.name == left[0]
        if [*before, *subgoals] != left or not is_first or any(self._missing(each) for each in before):
            if left or self._mistakes.happens(chance):
                yield from self._say(f"commit [{' | '.join(subgoals)}]")
            return
        for _ in before:
            if len(self._open_subgoals()) > len(subgoals):
                yield from self._done()

    def _open_subgoals(self) -> list[str]:
        return [each.name for each in self._progress.plan if each.status is Status.OPEN]

    def _missing(self, subgoal: str) -> str | None:
        condition = self._progress.evidence(subgoal)
        return condition(self._seen.belief) if condition else None

    def _done(self, chance: float = 1.0) -> Turns[None]:
        """Close what is done, with a chance; what is known of the next subgoal comes with the answer."""
        if self._open_subgoals() and self._mistakes.happens(chance):
            yield from self._say(_DONE)

    def _recall(self, thing: str) -> Turns[None]:
        yield from self._say(f"recall [{thing}]")

    def _act(self, text: str, held: str = "", mistakes: Sequence[Mistake] = ()) -> Turns[str]:
        """Act on the environment; before that a mistake may be made, after which `held` is in the hand again."""
        current = self._progress.current
        is_early = bool(mistakes and current and self._missing(current.name))
        early = [Mistake("done too early", _DONE, 0.7)] if is_early else []
        if slip := self._mistakes.choose([*mistakes, *early]):
            yield from self._slip(slip)
            yield from self._recover(held)
            if text.startswith("go to ") and self._seen.at() == text.removeprefix("go to "):
                return ""
        return (yield from self._say(text))

    def _slip(self, slip: Mistake) -> Turns[None]:
        times = self._mistakes.times()
        if slip.kind == ROUND:
            yield from self._go_round(slip, times)
            return
        for _ in range(times):
            said = yield from self._say(slip.text, slip.kind)
            if not said.startswith(_REFUSED):
                if slip.kind == WRONG and times > 1 and self._open_subgoals():
                    yield from self._say(_DONE, slip.kind)
                return
        if times > 1:
            yield from self._say(_TRACK)

    def _go_round(self, slip: Mistake, times: int) -> Turns[None]:
        """Look again where was looked before, some places in a row, and then ask where things stand."""
        yield from self._say(slip.text, slip.kind)
        for _ in range(times):
            others = [each for each in self._seen.places() if self._seen.is_searched(each) and each != self._seen.at()]
            yield from self._say(f"go to {self._mistakes.pick(others)}", slip.kind)
        yield from self._say(_TRACK)

    def _recover(self, held: str) -> Turns[None]:
        """Undo what a mistake did to the hand."""
        for name in self._seen.held():
            if name != held:
                yield from self._say(self._put.format(name, self._seen.at()))
        if held and held not in self._seen.held():
            place = self._seen.place_of(held)
            yield from self._say(f"take {held} from {place}")

    def _say(self, text: str, slip: str = "") -> Turns[str]:
        said = yield Said(text, slip)
        self._read(text, said)
        return said

    def _absorb(self, observation: str) -> None:
        """Take in what the environment showed, and the task that it gave with it."""
        shown, gives, sentence = observation.partition(_GOAL)
        self._seen.absorb(shown)
        if gives:
            self._goal = read_goal(sentence)
            self._progress.evidence = partial(evidence, goal=self._goal)

    def _read(self, reply: str, answer: str) -> None:
        """Take in what was said, by the teacher or another, and what came of it."""
        action = parse_reply(reply).action
        if isinstance(action, EnvironmentAction):
            self._absorb(answer)
            self._told = []
        elif isinstance(action, MetaAction) and action.verb == "recall":
            self._hints[action.argument] = read_hints(answer, action.argument)
            self._knows_nothing = "\n" not in answer and answer.startswith("nothing")
        elif isinstance(action, MetaAction) and action.verb == "commit":
            self._progress.commit(action.argument, self._seen.belief)
            self._told = answer.partition("seen: ")[2].partition(". ")[0].rstrip(".").split(", ")

    def _known(self, kind: str, besides: Sequence[str] = ()) -> list[str]:
        """Return what of a type can be had."""
        return self._seen.known(kind, {*besides, *self._useless})


def _is_lost(played: Sequence[tuple[str, str]]) -> bool:
    """Tell whether the last two replies came to nothing, or were said before, and nobody looked where things stand."""
    last, before = played[-2:], [reply for reply, _ in played[:-2]]
    return (
        len(last) == 2
        and last[1][0] != _TRACK
        and all(answer.startswith(_REFUSED) or reply in before for reply, answer in last)
    )
