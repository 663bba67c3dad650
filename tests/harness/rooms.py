"""Two rooms with a mug to bring from one to the other, and a model that says what it was given to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evoharness_cli.harness import (
    Answer,
    Belief,
    Brief,
    Condition,
    Constraint,
    ContextFull,
    Fact,
    Model,
    Observation,
    Reply,
    Transcript,
)
from evoharness_cli.harness.belief import AT, HAND, NO, SEARCHED, YES, YOU

FORMS = ("go to {room}", "take {object}", "drop {object}", "smash {object}", "look")
WINNING = ("go to kitchen 1", "take mug 1", "go to hall 1", "drop mug 1")


class TwoRooms:
    """The mug is in the kitchen and is wanted in the hall; a smashed mug loses the task."""

    instructions = "You are in a house of two rooms."
    example = "go to hall 1"
    forms: tuple[str, ...] = FORMS

    def __init__(self, mug_in: str = "kitchen 1") -> None:
        self.brief = Brief("bring the mug to the hall", "bring", "two-rooms")
        self.resets = 0
        self._mug_in = mug_in
        self._room = "hall 1"
        self._facts: list[Fact] = []
        self._seen: dict[str, None] = {}

    def reset(self) -> Observation:
        self.resets += 1
        self._facts = [Fact(room, SEARCHED, NO) for room in ("kitchen 1", "hall 1")]
        return Observation("There is a kitchen 1 and a hall 1.")

    def read(self, action: str) -> str | None:
        words = action.lower().split()
        known = [form.split("{", maxsplit=1)[0].split() for form in self.forms]
        return " ".join(words) if any(words[: len(verb)] == verb for verb in known) else None

    def step(self, action: str) -> Observation:
        self._facts = []
        if action.startswith("go to "):
            return self._go(action.removeprefix("go to "))
        verb, _, thing = action.partition(" ")
        if verb == "take" and thing == "mug 1" and self._mug_in == self._room:
            self._mug_in = HAND
            self._facts = [Fact("mug 1", AT, HAND)]
            return Observation("You take the mug 1.")
        if verb == "drop" and self._mug_in == HAND:
            self._mug_in = self._room
            self._facts = [Fact("mug 1", AT, self._room)]
            won = self._room == "hall 1"
            return Observation("You drop the mug 1.", done=won, success=won)
        if verb == "smash" and self._mug_in == HAND:
            return Observation("The mug 1 is no more.", done=True)
        return Observation("Nothing happens.")

    def admissible(self) -> Sequence[str]:
        here = ["take mug 1"] if self._mug_in == self._room else ["drop mug 1"] if self._mug_in == HAND else []
        return ["go to kitchen 1" if self._room == "hall 1" else "go to hall 1", *here]

    def facts(self) -> Sequence[Fact]:
        return self._facts

    def names(self) -> Mapping[str, Sequence[str]]:
        return {"room": ["kitchen 1", "hall 1"], "object": list(self._seen)}

    def evidence(self, subgoal: str) -> Condition | None:
        if subgoal != "take mug":
            return None
        return lambda belief: None if belief.value("mug 1", AT) == HAND else "you hold nothing"

    def close(self) -> None:
        pass

    def _go(self, room: str) -> Observation:
        self._room = room
        self._facts = [Fact(YOU, AT, room), Fact(room, SEARCHED, YES)]
        if self._mug_in != room:
            return Observation(f"You are in the {room}. You see nothing.")
        self._seen["mug 1"] = None
        self._facts.append(Fact("mug 1", AT, room))
        return Observation(f"You are in the {room}. You see a mug 1.")


class Replies:
    """Says each of its replies in turn, each of so many tokens; the context is full when they are used up.

    It is full as well while more than `room` exchanges are shown.
    """

    name = "replies"

    def __init__(self, replies: Iterable[str], tokens: int = 5, room: int = 99) -> None:
        self._room = room
        self._replies = list(replies)
        self._tokens = tokens
        self.constraints: list[Constraint | None] = []
        self.seeds: list[int] = []
        self.lengths: list[int] = []

    @property
    def fingerprint(self) -> Mapping[str, object]:
        return {"replies": self._replies}

    def session(self, task: str) -> Model:
        del task
        return self

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        if transcript.replies >= len(self._replies) or transcript.exchanges > self._room:
            raise ContextFull
        self.constraints.append(constraint)
        self.seeds.append(seed)
        self.lengths.append(max_tokens)
        return Reply(self._replies[transcript.replies], completion_tokens=self._tokens)

    def close(self) -> None:
        pass


class Memory:
    """Knows one thing, and keeps what it is told."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.kept: list[tuple[str, int, str]] = []

    def recall(self, query: str, step: int) -> Answer:
        self.asked.append((query, step))
        return Answer("mugs are in kitchens", (7,))

    def note(self, insight: str, step: int, because: str) -> str:
        self.kept.append((insight, step, because))
        return "noted"


def believing(*facts: tuple[str, str, str]) -> Belief:
    """Return a belief that took in one fact a step, from step 1."""
    belief = Belief()
    for step, fact in enumerate(facts, 1):
        belief.absorb([Fact(*fact)], step)
    return belief


class TwoGoals(TwoRooms):
    """When the mug is in the hall it is wanted in the kitchen again."""

    THEN = "bring the mug to the kitchen"

    def step(self, action: str) -> Observation:
        observation = super().step(action)
        if observation.success:
            return Observation(f"{observation.text} Now {self.THEN}.", goal=self.THEN)
        is_back = action.startswith("drop") and self._room == "kitchen 1"
        return Observation(observation.text, done=is_back, success=is_back)
