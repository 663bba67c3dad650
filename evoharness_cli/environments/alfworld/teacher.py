"""A teacher for ALFWorld: shows how household tasks are done with the harness, from what an agent can read.

It searches without knowing where things are, in the order that its recall suggests, keeps a plan that it closes
subgoal by subgoal, and recovers from mistakes, some of which it makes on purpose (`mistakes`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from ...harness import Constraint, OutsideFault, Reply, Transcript
from .lesson import Lesson, Said, Turns
from .mistakes import Mistakes

NAME = "alfworld-teacher"


class LeftTranscript(OutsideFault):
    """The teacher can't go on from a transcript that isn't its own, or isn't whole."""


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
        """Answer the transcript. Raises LeftTranscript where something was left out of it, or replied by another."""
        del constraint, max_tokens, seed
        messages = transcript.messages
        if transcript.replies != transcript.exchanges:
            raise LeftTranscript("Expected the teacher to be shown a whole transcript, found one that was summed up.")
        while len(self._given) <= transcript.replies:
            shown = messages[1 + 2 * len(self._given)].text
            if self._turns is None:
                mistakes = Mistakes(random.Random(f"{self._seed} {self._task}"), self._chance)
                self._turns = Lesson(mistakes).begin(messages[0].text, shown)
                said = next(self._turns)
            else:
                said = self._turns.send(shown)
            self._given.append(said)
            if said.slip:
                self._slips[len(self._given)] = said.slip
        for number, said in enumerate(self._given[: transcript.replies]):
            if messages[2 + 2 * number].text != said.text:
                raise LeftTranscript(
                    f"Expected the teacher's own reply {said.text!r}, found {messages[2 + 2 * number].text!r}."
                )
        return Reply(self._given[transcript.replies].text)

    def close(self) -> None:
        """Do nothing: a teacher holds nothing."""
