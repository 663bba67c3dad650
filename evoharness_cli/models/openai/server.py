"""A model on a server: it is asked again while that may help, and what ends the asking is said in a sentence."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai

from ...harness import ContextFull
from ..unanswered import Unanswered
from .answer import Answer, Unreadable, Usage, read_answer, said_in
from .setbacks import Setback, context_is_full, refused_parameter, setback_of

_LARGEST = 16 * 2**20
"""Bytes of an answer that are read at most."""
_NEW_NAME = {"max_tokens": "max_completion_tokens"}
"""What a parameter is called by servers that refuse its older name."""


Names = Mapping[str, str | None]
"""What parameters are called that a server refused as they were; None is left out."""


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for. Times are in seconds."""

    answer: float = 600.0
    """Until an answer is there, all of it."""
    attempts: int = 8
    """How often it is asked for the same reply, at most."""
    whole: float = 900.0
    """After which it is not asked again."""
    first_pause: float = 1.0
    """Before it is asked again; doubled each time, up to `longest_pause`, and a quarter of it left to chance."""
    longest_pause: float = 30.0
    longest_wish: float = 120.0
    """How long a pause the server itself may ask for."""

    def pause(self, attempt: int) -> float:
        """Return the pause after an attempt, counted from 1."""
        pause: float = min(self.first_pause * 2 ** (attempt - 1), self.longest_pause)
        return pause * (1 - random.random() / 4)


@dataclass(frozen=True)
class Key:
    """A key and the environment variable that holds it; None where there is none."""

    variable: str
    value: str | None = field(repr=False)


class Server:
    """Asks one model on one server; any number of threads may ask at once."""

    def __init__(
        self,
        client: openai.OpenAI,
        model: str,
        key: Key,
        patience: Patience,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`client` must not ask again by itself."""
        self.client = client
        self.url = str(client.base_url).rstrip("/")
        self._model, self._key = model, key
        self._patience, self._clock, self._sleep = patience, clock, sleep
        self._names: Names = {}
        self._adapting = threading.Lock()
        self._answered = False

    def ask(self, request: dict[str, Any]) -> tuple[Answer, Usage]:
        """Return the answer to a request for a chat completion, and the tokens of all attempts together.

        Raises ContextFull where the server says that the prompt is too long for its model, and Unanswered.
        """
        begun, attempt, spent = self._clock(), 0, Usage()
        while True:
            attempt += 1
            try:
                answer = self._attempt(request)
            except Setback as setback:
                spent += setback.usage
                pause = self._pause(setback, attempt, self._clock() - begun)
                if pause is None:
                    raise Unanswered(self._said(setback, attempt), spent.reply()) from setback.__cause__
                self._sleep(pause)
            else:
                self._answered = True
                return answer, spent + answer.usage

    def close(self) -> None:
        """End the connections."""
        self.client.close()

    def _attempt(self, request: dict[str, Any]) -> Answer:
        while True:
            names = self._names
            try:
                return read_answer(self._send(request, names))
            except Unreadable as found:
                raise Setback(f"answered with {found}", passes=True, usage=found.usage) from found
            except openai.APIStatusError as error:
                if context_is_full(error):
                    raise ContextFull(f"The server at {self.url} says that the prompt is too long.") from error
                if not self._adapted(error, request, names):
                    raise setback_of(error, self._key.variable) from error
            except (openai.APIError, httpx2.TransportError, httpx2.DecodingError) as error:
                raise setback_of(error, self._key.variable) from error

    def _send(self, request: dict[str, Any], names: Names) -> bytes:
        """Return the body of an answer, read piece by piece: one that never ends doesn't hold up the run."""
        until = self._clock() + self._patience.answer
        body = bytearray()
        wanted = {names.get(key, key): value for key, value in request.items()}
        named: dict[str, Any] = {key: value for key, value in wanted.items() if key is not None}
        completions = self.client.chat.completions.with_streaming_response
        with completions.create(model=self._model, **named) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > _LARGEST:
                    raise Setback(f"sent more than {_LARGEST / 2**20:.0f} MiB", passes=False)
                if self._clock() > until:
                    raise Setback(f"was not done after {self._patience.answer:.0f} seconds", passes=True)
        return bytes(body)

    def _adapted(self, error: openai.APIStatusError, request: dict[str, Any], names: Names) -> bool:
        """Rename or leave out from now on what of a request the server doesn't know.

        Tells whether the request, which was sent with these names, is another one now.
        """
        parameter = refused_parameter(error, request)
        with self._adapting:
            if self._names is not names:
                # Another thread had the same answer and was first.
                return True
            if parameter is None or parameter in names:
                return False
            new = _NEW_NAME.get(parameter)
            if new is not None and new not in said_in(error.body):
                return False
            self._names = {**names, parameter: new}
            return True

    def _pause(self, setback: Setback, attempt: int, so_far: float) -> float | None:
        """Return the seconds after which it is worth to ask again, None where it isn't."""
        patience = self._patience
        if not setback.passes or attempt >= patience.attempts:
            return None
        if setback.unreachable and not self._answered:
            # Nothing listens there: that is a wrong address far more often than a server that comes back.
            return None
        pause = patience.pause(attempt) if setback.retry_after is None else setback.retry_after
        return pause if pause <= patience.longest_wish and so_far + pause <= patience.whole else None

    def _said(self, setback: Setback, attempt: int) -> str:
        times = f", asked {attempt} times," if attempt > 1 else ""
        wish = f"; it asks to wait {setback.retry_after:,.0f} seconds" if setback.retry_after is not None else ""
        remedy = f": {setback.remedy}" if setback.remedy else ""
        said = f"The server at {self.url}{times} {setback}{wish}{remedy}."
        return said.replace(self._key.value, "[key]") if self._key.value else said
