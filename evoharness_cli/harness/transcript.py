"""What the model is shown: an append-only conversation, so that nothing already evaluated is evaluated again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """One turn; `role` is `system`, `user` (the environment or the harness) or `assistant` (the model)."""

    role: str
    text: str


class Transcript:
    """System, task and first observation, then reply and observation in turn.

    Messages are only ever added, but for `leave_out`, after which everything later than the system prompt is new.
    """

    def __init__(self, system: str, opening: str) -> None:
        self._opening = opening
        self._messages = [Message("system", system), Message("user", opening)]
        self._left_out = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return tuple(self._messages)

    @property
    def replies(self) -> int:
        """How many replies were given, those that were left out since included."""
        return self._left_out + self.exchanges

    @property
    def exchanges(self) -> int:
        """How many replies, each with what came of it, are shown."""
        return (len(self._messages) - 2) // 2

    def with_panel(self, panel: str) -> Transcript:
        """Return a copy whose latest observation is followed by a panel; this transcript is not changed."""
        shown = Transcript("", self._opening)
        shown._messages = [*self._messages[:-1], Message("user", f"{self._messages[-1].text}\n\n{panel}")]
        shown._left_out = self._left_out
        return shown

    def leave_out(self, exchanges: int, summary: str) -> None:
        """Replace the oldest exchanges by a summary, which follows the first observation."""
        kept = self._messages[2 + 2 * exchanges :]
        self._messages = [self._messages[0], Message("user", f"{self._opening}\n\n{summary}"), *kept]
        self._left_out += exchanges

    def add(self, reply: str, observation: str) -> None:
        """Add a reply and what came of it."""
        self._messages += [Message("assistant", reply), Message("user", observation)]
