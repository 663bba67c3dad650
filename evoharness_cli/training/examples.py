"""Demonstrations as tokens: the ids that the engine would evaluate, and which of them the agent has to say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..harness import Message, WrongUsage
from ..models.chat import ChatTemplate
from ..models.gguf import load_gguf
from ..models.native import library
from ..models.vocabulary import Vocabulary


class BadDemonstrations(WrongUsage):
    """A file that doesn't hold demonstrations."""


@dataclass(frozen=True)
class Example:
    """A conversation to learn from, up to its last target. `ids[positions[i]]` is followed by `labels[i]`."""

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Reply:
    """A demonstrated turn: a message, and whether it is to be learnt, which is told of the assistant's only."""

    message: Message
    learnt: bool = False


class Tokeniser:
    """The vocabulary and the chat template of a model file, without its weights. Raises ModelFileError."""

    def __init__(self, path: Path) -> None:
        llama = library()
        self._model = load_gguf(path, vocab_only=True)
        self._vocabulary = Vocabulary(self._model)
        source = llama.llama_model_chat_template(self._model, None)
        self._template = ChatTemplate(source.decode() if source else None, self._vocabulary.special_texts())
        self._vocabulary.close_replies_with(self._template.after_reply)

    def example(self, turns: Sequence[Reply]) -> Example | None:
        """Return a conversation as an example, None where nothing in it is to be learnt.

        Targets are the tokens of each reply to be learnt, and the one that ends it.
        """
        messages = [turn.message for turn in turns]
        if messages[-1].role == "assistant":
            # A template renders replies together with what follows them.
            messages.append(Message("user", ""))
        pieces = self._template.pieces(messages)
        learnt = iter([turn.learnt for turn in turns if turn.message.role == "assistant" and turn.message.text])
        ids = self._vocabulary.encode(pieces)
        positions: list[int] = []
        labels: list[int] = []
        for index, piece in enumerate(pieces):
            if piece.role != "assistant" or not next(learnt):
                continue
            start, end = (len(self._vocabulary.encode(pieces[:count])) for count in (index, index + 1))
            positions += range(start - 1, end)
            labels += ids[start:end]
            # As the engine ends a reply, whatever the template writes after it.
            labels.append(self._vocabulary.end)
        if not positions:
            return None
        return Example(tuple(ids[: positions[-1] + 1]), tuple(positions), tuple(labels))

    def close(self) -> None:
        """Free the vocabulary."""
        library().llama_model_free(self._model)


def read_examples(path: Path, tokeniser: Tokeniser) -> list[Example]:
    """Return what a file of demonstrations teaches, one JSON object a line.

    Raises BadDemonstrations with the line that isn't one.
    """
    examples = []
    for number, demonstration in _demonstrations(path):
        try:
            turns = _turns(demonstration)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _unreadable(path, number, error) from error
        if example := tokeniser.example(turns):
            examples.append(example)
    if not examples:
        raise BadDemonstrations(f"Expected demonstrations in {path}, found none with a reply to learn.")
    return examples


def format_of(paths: Iterable[Path]) -> str:
    """Return the hash of the transcript's format that files of demonstrations state; empty where they state none.

    Raises BadDemonstrations where their demonstrations state more than one.
    """
    paths = list(paths)
    found = {str(each.get("format", "")) for path in paths for _, each in _demonstrations(path)}
    if len(found) > 1:
        named = ", ".join(map(str, paths))
        raise BadDemonstrations(f"Expected demonstrations of one transcript format in {named}, found {sorted(found)}.")
    return found.pop() if found else ""


def _demonstrations(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each object of a file with the number of its line. Raises BadDemonstrations."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if not text.strip():
                    continue
                try:
                    demonstration = json.loads(text)
                except ValueError as error:
                    raise _unreadable(path, number, error) from error
                if not isinstance(demonstration, dict):
                    raise _unreadable(path, number, "it is no JSON object")
                yield number, demonstration
    except (OSError, UnicodeDecodeError) as error:
        raise BadDemonstrations(f"Expected demonstrations in {path}, found: {error}.") from error


def _unreadable(path: Path, number: int, reason: object) -> BadDemonstrations:
    return BadDemonstrations(
        f"Expected a demonstration in line {number} of {path}, found one that can't be read: {reason}."
    )


def _turns(demonstration: Mapping[str, Any]) -> list[Reply]:
    turns = [
        Reply(Message(each["role"], str(each["text"])), each["role"] == "assistant" and bool(each.get("loss", False)))
        for each in demonstration["messages"]
    ]
    roles = [turn.message.role for turn in turns]
    expected = ["system", *("user" if index % 2 == 0 else "assistant" for index in range(len(roles) - 1))]
    if len(roles) < 3 or roles != expected:
        raise ValueError(f"the roles are {', '.join(roles) or 'none'}, not system, then user and assistant in turn")
    return turns
