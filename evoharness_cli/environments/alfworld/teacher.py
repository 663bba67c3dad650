"""A teacher for ALFWorld: shows how household tasks are done with the harness, from what an agent can read.

It searches without knowing where things are, in the order that its recall suggests, keeps a plan that it closes
subgoal by subgoal, and recovers from mistakes, some of which it makes on purpose (`mistakes`). It goes on from what
another has played of an episode, too.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from ...harness import Constraint, OutsideFault, Reply, Transcript
from .lesson import Lesson, Said, Turns
from .mistakes import Mistakes

NAME = "alfworld-teacher"


class LeftTranscript(OutsideFault):
    """The teacher can't go on from a transcript that isn't whole."""


class AlfworldTeacher:
    """A model whose replies are this module's; a session is one episode.

    Before each action it makes a mistake with a chance of `slips`; task and seed decide which. Constraint, length and
    seed of a reply don't change it.
    """

    name = NAME

    def __init__(self, seed: int = 0, slips: float = 0.0, task: str = "") -> None:
        self._seed, self._chance, self._task = seed, slips, task
        self._slips: dict[int, str] = {}
        self._given: list[Said] = []
        self._turns: Turns[None] | None = None

    @property
    def slips(self) -> Mapping[int, str]:
        """Which replies of this session were wrong on purpose: the kind of mistake by step number, counted from 1."""
        return self._slips

    @property
    def fingerprint(self) -> dict[str, object]:
        """What its replies depend on."""
        return {"teacher": NAME, "seed": self._seed, "slips": self._chance}

    def session(self, task: str) -> AlfworldTeacher:
        """Return what shows one episode of the task."""
        return AlfworldTeacher(self._seed, self._chance, task)

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer the transcript. Raises LeftTranscript where something was left out of it."""
        del constraint, max_tokens, seed
        if transcript.replies != transcript.exchanges:
            raise LeftTranscript("Expected the teacher to be shown a whole transcript, found one that was summed up.")
        system, *shown = (message.text for message in transcript.messages)
        answers, replies = shown[::2], shown[1::2]
        while len(self._given) < len(answers) and self._agrees(replies):
            if self._turns is None:
                self._turns = self._lesson().begin(system, answers[0])
            self._add(self._turns.send(answers[len(self._given)]) if self._given else next(self._turns))
        if not self._agrees(replies):
            self._given, self._slips = [Said(reply) for reply in replies], {}
            self._turns = self._lesson().begin(system, answers[0], list(zip(replies, answers[1:], strict=True)))
            self._add(next(self._turns))
        return Reply(self._given[len(replies)].text)

    def _agrees(self, replies: Sequence[str]) -> bool:
        """Tell whether the replies are those that were given, as far as both go."""
        return all(said.text == reply for said, reply in zip(self._given, replies, strict=False))

    def _lesson(self) -> Lesson:
        return Lesson(Mistakes(random.Random(f"{self._seed} {self._task}"), self._chance))

    def _add(self, said: Said) -> None:
        self._given.append(said)
        if said.slip:
            self._slips[len(self._given)] = said.slip

    def close(self) -> None:
        """Do nothing: a teacher holds nothing."""
