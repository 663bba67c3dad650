"""Renders a transcript with a model's chat template, append-only: later turns never change earlier ones.

A template is not applied to whole conversations. It is probed once with marks in place of contents, which
yields the fixed texts around the system message, the opening, a reply and an observation; a conversation is
these and the contents, one after the other. So templates that rewrite earlier turns (by cutting thoughts out
of old replies) leave what was already evaluated alone, and a content is always known from the template around
it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from ..harness import Message, OutsideFault

CHATML = (
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""The template of models that bring none."""

_SYSTEM, _USER, _ASSISTANT = "system", "user", "assistant"
# Private-use characters, which no template contains; the em spaces show whether the template trims contents.
_BLANK = "\u2003"
_MARK = re.compile(f"({_BLANK}?)\ue000(system|user|assistant)\ue001({_BLANK}?)")
_OPENED_THOUGHT = re.compile(r"<think>\s*\Z")
# A template that asks for today's date gets this one, so that a prompt is the same on every day.
_DATE = datetime(2025, 1, 1)


class ChatTemplateFault(OutsideFault):
    """A chat template that can't be applied to a conversation of an environment and a model."""


class _Refused(Exception):
    """The template called `raise_exception`."""


@dataclass(frozen=True)
class Piece:
    """A stretch of the prompt. `role` is whose content it is, empty for what the template wrote around it.

    Only the template's own text may be read as special tokens: a content that spells one is plain text.
    """

    text: str
    role: str = ""


@dataclass(frozen=True)
class _Slot:
    """Where a content stands, and on which sides the template trims it."""

    role: str
    trims_start: bool
    trims_end: bool

    def fill(self, text: str) -> Piece:
        text = text.lstrip() if self.trims_start else text
        return Piece(text.rstrip() if self.trims_end else text, self.role)


class ChatTemplate:
    """A chat template, taken apart. `special` holds the texts of the tokens it may name, such as `bos_token`.

    Raises ChatTemplateFault when the template can't be read or applied.
    """

    def __init__(self, source: str | None, special: Mapping[str, str] | None = None) -> None:
        self._render = _Render(source or CHATML, special or {})
        self._opening = self._probe_opening()
        self._turn = self._probe_turn()

    def pieces(self, messages: Sequence[Message]) -> list[Piece]:
        """Return the whole prompt, ready for a reply: system, user, then assistant and user in turn.

        The pieces of the first messages are the beginning of the pieces of more messages.
        """
        contents = {_SYSTEM: messages[0].text, _USER: messages[1].text}
        pieces = _filled(self._opening, contents)
        for reply, observation in zip(messages[2::2], messages[3::2], strict=True):
            pieces.append(Piece(reply.text, _ASSISTANT))
            pieces += _filled(self._turn, {_USER: observation.text})
        return [piece for piece in pieces if piece.text]

    @property
    def after_reply(self) -> str:
        """What is written right after a reply, before what is said next."""
        written = itertools.takewhile(lambda part: isinstance(part, Piece), self._turn)
        return "".join(part.text for part in written if isinstance(part, Piece))

    def _probe_opening(self) -> list[Piece | _Slot]:
        user = {"role": _USER, "content": _mark(_USER)}
        try:
            parts = _split(self._render([{"role": _SYSTEM, "content": _mark(_SYSTEM)}, user]))
        except _Refused:
            parts = []
        if _roles(parts) != [_SYSTEM, _USER]:
            # No system role: what it would say comes first in the user's message.
            merged = {"role": _USER, "content": f"{_mark(_SYSTEM)}\n\n{_mark(_USER)}"}
            parts = _split(self._rendered([merged]))
        if sorted(_roles(parts)) != [_SYSTEM, _USER]:
            raise ChatTemplateFault(
                "Expected the model's chat template to show the first user message once,"
                f" found the messages {_roles(parts)} in what it wrote."
            )
        return parts

    def _probe_turn(self) -> list[Piece | _Slot]:
        conversation = [{"role": role, "content": _mark(role)} for role in (_USER, _ASSISTANT, _USER)]
        parts = _split(self._rendered(conversation))
        if _roles(parts)[-2:] != [_ASSISTANT, _USER]:
            raise ChatTemplateFault(
                "Expected the model's chat template to show a reply and what the user says next,"
                f" found the messages {_roles(parts)} in what it wrote."
            )
        replied = max(index for index, part in enumerate(parts) if part.role == _ASSISTANT)
        return parts[replied + 1 :]

    def _rendered(self, messages: list[dict[str, str]]) -> str:
        try:
            return self._render(messages)
        except _Refused as refusal:
            raise ChatTemplateFault(f"The model's chat template refuses the conversation: {refusal}.") from refusal


class _Render:
    """Applies a template to messages. Raises _Refused where the template refuses, else ChatTemplateFault."""

    def __init__(self, source: str, special: Mapping[str, str]) -> None:
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols"],
        )
        environment.globals.update(raise_exception=_refuse, strftime_now=_DATE.strftime, **special)
        self._errors = (TemplateError, TypeError, ValueError, LookupError, ArithmeticError)
        try:
            self._template = environment.from_string(source)
        except self._errors as error:
            raise ChatTemplateFault(f"The model's chat template can't be read: {error}.") from error

    def __call__(self, messages: list[dict[str, str]]) -> str:
        try:
            text = self._template.render(messages=messages, add_generation_prompt=True)
        except self._errors as error:
            raise ChatTemplateFault(f"The model's chat template fails: {error}.") from error
        # A thought that the template opens is left to the model: a reply holds all of its thought or none.
        return _OPENED_THOUGHT.sub("", text)


def _refuse(reason: object) -> NoReturn:
    raise _Refused(str(reason).rstrip("."))


def _mark(role: str) -> str:
    return f"{_BLANK}\ue000{role}\ue001{_BLANK}"


def _split(text: str) -> list[Piece | _Slot]:
    parts: list[Piece | _Slot] = []
    at = 0
    for found in _MARK.finditer(text):
        parts += [Piece(text[at : found.start()]), _Slot(found[2], not found[1], not found[3])]
        at = found.end()
    return [*parts, Piece(text[at:])]


def _roles(parts: Sequence[Piece | _Slot]) -> list[str]:
    return [part.role for part in parts if isinstance(part, _Slot)]


def _filled(parts: Sequence[Piece | _Slot], contents: Mapping[str, str]) -> list[Piece]:
    return [part.fill(contents[part.role]) if isinstance(part, _Slot) else part for part in parts]
