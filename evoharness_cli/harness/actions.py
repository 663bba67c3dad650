"""The reply grammar: one action a reply, either for the environment or one of the four meta-actions."""

from __future__ import annotations

import re
from dataclasses import dataclass

VERBS = ("track", "commit", "recall", "note")
NEEDS_ARGUMENT = ("commit", "note")

_THINK = re.compile(r"<think>(.*?)</think>", re.DOTALL)
_ACTION = re.compile(r"<action>(.*?)</action>", re.DOTALL)
_TAG = re.compile(r"</?(?:think|action)>")
_META = re.compile(rf"({'|'.join(VERBS)})(?:\s*\[(.*)\])?", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class EnvironmentAction:
    """An action for the environment, as the model worded it."""

    text: str


@dataclass(frozen=True)
class MetaAction:
    """A call of the harness: one of `VERBS` with the text between its brackets."""

    verb: str
    argument: str

    @property
    def text(self) -> str:
        """The call as it is written."""
        return f"{self.verb} [{self.argument}]"


@dataclass(frozen=True)
class FormatError:
    """A reply that holds no readable action; `expected` tells the model what would have been one."""

    expected: str
    text: str = ""


Action = EnvironmentAction | MetaAction | FormatError


@dataclass(frozen=True)
class ParsedReply:
    """A reply taken apart: what was thought and what is to be done."""

    thought: str
    action: Action


def parse_reply(text: str) -> ParsedReply:
    """Read `<think>...</think><action>...</action>` or a bare action line; anything else is a FormatError.

    A wrapped action may have several lines, as one that carries a text: what it means is the environment's to say.
    """
    thought = ""
    rest = text.strip()
    if match := _THINK.match(rest):
        thought, rest = match[1].strip(), rest[match.end() :].strip()
    elif rest.startswith("<think>"):
        return ParsedReply(rest.removeprefix("<think>").strip(), _error("the thought was not closed by </think>"))
    wrapped = _ACTION.fullmatch(rest)
    if wrapped:
        rest = wrapped[1].strip()
    if _TAG.search(rest):
        return ParsedReply(thought, _error("the reply holds stray <think> or <action> tags", rest))
    if not rest:
        return ParsedReply(thought, _error("the reply holds no action"))
    if not wrapped and len(rest.splitlines()) > 1:
        return ParsedReply(thought, _error("the reply has more than one line", rest))
    return ParsedReply(thought, read_action(rest))


def read_action(text: str) -> Action:
    """Read an action as a meta-action where it starts with one of the four verbs, else as the environment's."""
    verb = text.split("[")[0].split(maxsplit=1)
    name = verb[0].lower() if verb else ""
    if name not in VERBS:
        return EnvironmentAction(text)
    match = _META.fullmatch(text)
    if match is None:
        return FormatError(f"expected {name} [...], with its argument in brackets", text)
    argument = " ".join((match[2] or "").split())
    if name in NEEDS_ARGUMENT and not argument:
        return FormatError(f"expected {name} [...], with something between the brackets", text)
    return MetaAction(name, argument)


def _error(found: str, text: str = "") -> FormatError:
    return FormatError(f"{found}; expected one action on one line", text)
