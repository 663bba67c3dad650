"""Asks whoever sits at the terminal: whether a call may be made, and whether a request was fulfilled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from .needs import Approve
from .offers import Offer

NOT_CALLED = "not called: "
"""What the agent is told of a call that wasn't made begins so."""

undisturbed: Callable[[], AbstractContextManager[object]] = nullcontext
"""Held while a person is asked. Who redraws the terminal meanwhile puts here what keeps it still."""


def has_person() -> bool:
    """Tell whether there is a terminal to ask at."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str, answers: str) -> str:
    """Return the first letter of a person's answer, one of `answers`; `n` where the terminal's input has ended.

    `question` is one line of text that a terminal can be shown.
    """
    with undisturbed():
        while True:
            print(question, end=" ", file=sys.stderr, flush=True)
            answer = sys.stdin.readline()
            if not answer:
                return "n"
            if answer.strip().lower()[:1] in tuple(answers):
                return answer.strip().lower()[:1]


class Approval:
    """Which calls of a task may be made. What a person allows always is asked once."""

    def __init__(self, approve: Approve) -> None:
        self._approve = approve
        self._always: set[str] = set()

    def refusal(self, offer: Offer, call: str) -> str | None:
        """Return why a call isn't made, None where it may be; `call` is the call on one line of ASCII."""
        if self._approve is Approve.NONE or (self._approve is Approve.WRITING and not offer.writes):
            return None
        if offer.name in self._always:
            return None
        if not has_person():
            return (
                f"{NOT_CALLED}{offer.name} has to be allowed by a person, and there is no terminal to ask one at; "
                "a task allows it by `approve: none`"
            )
        answer = ask(f"The agent wants to call {call}. Allow it? [y]es, [n]o, [a]lways:", "yna")
        if answer == "a":
            self._always.add(offer.name)
        return f"{NOT_CALLED}a person refused {offer.name}" if answer == "n" else None
