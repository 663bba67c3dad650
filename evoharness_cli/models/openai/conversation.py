"""A transcript as a server is sent it, and an answer as the harness reads it.

What was thought is kept in the reply, where the record shows it, and never sent again. What is sent of a message
depends on that message alone, so that of a transcript that grows each request begins with the one before, and the
server finds it in its cache.
"""

from __future__ import annotations

import re

from ...harness import Message, Transcript

_OPEN, _CLOSE = "<think>", "</think>"
_TAGS = re.compile(rf"\s*(?:{_OPEN}|{_CLOSE})\s*")
_NOTHING = "(no action)"
"""Stands for a reply without an action: some servers refuse empty messages."""


def messages_of(transcript: Transcript) -> list[dict[str, str]]:
    """Return the messages of a request."""
    return [{"role": message.role, "content": _sent(message)} for message in transcript.messages]


def reply_text(content: str, reasoning: str) -> str:
    """Return a reply as the harness reads it: what was thought between tags, then the action.

    `content` may hold thoughts between tags as well; where a template opened the first of them, or the reply was cut
    while the model thought, one tag of the two is missing.
    """
    before, closed, action = content.rpartition(_CLOSE)
    if not closed and content.lstrip().startswith(_OPEN):
        return content.strip()
    thought = "\n".join(filter(None, (_untagged(reasoning), _untagged(before))))
    return f"{_OPEN}{thought}{_CLOSE}\n{action.strip()}" if thought else action.strip()


def _sent(message: Message) -> str:
    # Halves of characters, which files and programs may show, can't be sent.
    text = message.text.encode(errors="replace").decode()
    if message.role != "assistant":
        return text
    action = text.rpartition(_CLOSE)[2].strip()
    return _NOTHING if not action or action.startswith(_OPEN) else action


def _untagged(thought: str) -> str:
    return _TAGS.sub("\n", thought).strip()
