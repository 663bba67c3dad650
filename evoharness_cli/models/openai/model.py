"""A model on a server, as the harness asks it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openai

from ...harness import Constraint, ContextFull, Reply, Transcript, WrongUsage
from ..llama import UnusableOption
from .conversation import messages_of, reply_text
from .server import Key, Patience, Server
from .tools import action_of, tools_of

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds the key, unless another one is named."""
_NO_KEY = "none"
"""What is sent as the key where there is none; the client insists on one."""
_CONNECT = 10.0
"""Seconds until a connection has to be there."""
_CHARACTERS_PER_TOKEN = 4.0
"""Until the server says how many tokens a prompt had."""


class WrongServer(WrongUsage):
    """What was said of the server can't be so."""


class OpenAIModel:
    """Answers by asking a server. Any number of sessions may answer at once, each in a thread of its own.

    A reply is read as text, or with `tools` as the call of a tool where the model makes one. Nothing holds a text to
    the constraint: a server has no decoder for it.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        key_variable: str = KEY_VARIABLE,
        tools: bool = False,
        adapter: Path | None = None,
        context: int | None = None,
        slots: int = 1,
        temperature: float = 0.0,
        top_p: float | None = None,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Nothing is asked of the server yet.

        `base_url` is its address up to `/v1`: that of OPENAI_BASE_URL, or OpenAI's own, unless given. `key_variable` is
        the environment variable that holds the key; a server that wants none needs none. `context` is how many tokens
        a prompt and its reply may have, as far as that can be told from outside: the server's limit unless given.
        `patience`, `clock` and `sleep` say how long it is waited for. Raises WrongServer,
        UnusableOption.
        """
        del slots  # A server sees to it itself.
        if not name:
            raise WrongServer("Expected the name of a model after openai:, found nothing: as in openai:gpt-4.1-mini.")
        if adapter is not None:
            raise UnusableOption("A server's model takes no adapter: leave the adapter out or name a model file.")
        base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        if base_url is not None:
            _check_address(base_url)
        self.name = name
        self._tools, self._context = tools, context
        self._sampling = {"temperature": temperature, **({} if top_p is None else {"top_p": top_p})}
        patience = patience or Patience()
        key = _key_in(key_variable)
        client = openai.OpenAI(
            api_key=key.value or _NO_KEY,
            base_url=base_url,
            max_retries=0,
            timeout=openai.Timeout(patience.answer, connect=min(patience.answer, _CONNECT)),
        )
        self._server = Server(client, name, key, patience, clock, sleep)
        self._own = Session(self)

    @property
    def fingerprint(self) -> dict[str, object]:
        """What a reply depends on besides transcript and seed, as far as it is known from outside."""
        return {
            "model": self.name,
            "server": self._server.url,
            "tools": self._tools,
            "context": self._context,
            **self._sampling,
        }

    def session(self, task: str) -> Session:
        """Return what answers in one episode, beside others."""
        del task
        return Session(self)

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer as a session does, in one that belongs to the model."""
        return self._own.reply(transcript, constraint, max_tokens, seed)

    def answer(
        self, session: Session, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int
    ) -> Reply:
        """Answer in a session, as `Session.reply` documents it."""
        messages = messages_of(transcript)
        characters = sum(len(message["content"]) for message in messages)
        expected = characters / session.characters_per_token + max_tokens
        if self._context is not None and expected > self._context:
            raise ContextFull(f"Expected at most {self._context} tokens, found about {expected:.0f}.")
        tools = tools_of(constraint) if self._tools and constraint else []
        request: dict[str, Any] = {"messages": messages, "max_tokens": max_tokens, "seed": seed, **self._sampling}
        if tools:
            definitions = [tool.definition for tool in tools]
            request |= {"tools": definitions, "tool_choice": "required", "parallel_tool_calls": False}
        answer, spent = self._server.ask(request)
        if answer.usage.prompt:
            session.characters_per_token = characters / answer.usage.prompt
        if answer.call is None:
            return spent.reply(reply_text(answer.content, answer.reasoning))
        # What is said beside a call is no action.
        thought = f"{answer.reasoning}\n{answer.content}"
        return spent.reply(reply_text(action_of(answer.call, tools), thought))

    def close(self) -> None:
        """End the connections."""
        self._server.close()


class Session:
    """One conversation with a server's model; to be used by one thread at a time."""

    def __init__(self, model: OpenAIModel) -> None:
        self.name = model.name
        self._model = model
        self.characters_per_token = _CHARACTERS_PER_TOKEN
        """In the latest prompt."""

    @property
    def fingerprint(self) -> dict[str, object]:
        """What a reply depends on besides transcript and seed, as far as it is known from outside."""
        return self._model.fingerprint

    def session(self, task: str) -> Session:
        """Return another session of the model."""
        return self._model.session(task)

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer the transcript, whose last message is the environment's.

        The tokens are those that the server counts, of attempts in vain too; none where it counts none. Raises
        ContextFull where the prompt is too long, and Unanswered.
        """
        return self._model.answer(self, transcript, constraint, max_tokens, seed)

    def close(self) -> None:
        """Do nothing: a session holds nothing."""


def _key_in(variable: str) -> Key:
    """Return the key that an environment variable holds. Raises WrongServer for what can't be one."""
    value = os.environ.get(variable, "").strip()
    if not (value.isascii() and value.isprintable()):
        raise WrongServer(f"Expected the key in {variable} to be of letters, digits and signs: set it anew.")
    return Key(variable, value or None)


def _check_address(url: str) -> None:
    """Raise WrongServer unless it is an address that may be written down: one without secrets."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WrongServer(f"Expected the address of a server, as in http://127.0.0.1:8080/v1, found {url!r}.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise WrongServer(
            f"Expected the address of {parts.hostname} without user, password or query, which would be recorded:"
            " put the key into an environment variable."
        )
