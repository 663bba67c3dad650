"""What the model is shown: an append-only conversation, so that nothing already evaluated is evaluated again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """One turn; `role` is `system`, `user` (the environment or the harness) or `assistant` (the model)."""

    role: str
    text: str


class Transcript:
    """System, task and first observation, then reply and observation in turn. Messages are only ever added."""

    def __init__(self, system: str, opening: str) -> None:
        self._messages = [Message("system", system), Message("user", opening)]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return tuple(self._messages)

    @property
    def replies(self) -> int:
        """How many replies were given."""
        return (len(self._messages) - 2) // 2

    def add(self, reply: str, observation: str) -> None:
        """Add a reply and what came of it."""
        self._messages += [Message("assistant", reply), Message("user", observation)]
