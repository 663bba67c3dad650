"""llama-cpp-python's own chat completion, set up as well as its users could, on turns that were recorded elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from evoharness_cli.harness import Constraint, FreeText
from evoharness_cli.harness.constraint import PatternPart
from evoharness_cli.harness.transcript import Message
from evoharness_cli.models.gguf import model_parameters


@dataclass(frozen=True)
class Turn:
    """A prompt, what its reply had to be, and the reply."""

    messages: tuple[Message, ...]
    constraint: Constraint | None
    max_tokens: int
    reply: str


@dataclass(frozen=True)
class Setup:
    """What a user of llama-cpp-python would try: threads for a token and for a prompt, and flash attention."""

    threads: int
    batch_threads: int
    flash: bool


class ChatLoop:
    """The same model file, one conversation after another."""

    def __init__(self, path: Path, context: int, setup: Setup) -> None:
        from llama_cpp import Llama, llama_cpp

        # As this project loads it; the class has no option for that.
        with patch.object(llama_cpp, "llama_model_default_params", model_parameters):
            self._llama: Any = Llama(
                str(path),
                n_ctx=context,
                n_threads=setup.threads,
                n_threads_batch=setup.batch_threads,
                flash_attn=setup.flash,
                verbose=False,
            )

    def answer(self, turn: Turn) -> tuple[float, str]:
        """Return the seconds that a reply takes, and the reply. What is evaluated already is used again."""
        return self._ask([{"role": message.role, "content": message.text} for message in turn.messages], turn)

    def answer_rendered_anew(self, turn: Turn, number: int) -> tuple[float, str]:
        """The same with the conversation as one text below a state that changes at every step."""
        system, *rest = turn.messages
        history = "\n".join(f"{message.role}: {message.text}" for message in rest)
        state = f"Step {number}. Last observation: {rest[-1].text}"
        roles = (("system", f"{state}\n\n{system.text}"), ("user", history))
        return self._ask([{"role": role, "content": text} for role, text in roles], turn)

    def close(self) -> None:
        """Free the model."""
        self._llama.close()

    def _ask(self, messages: Sequence[dict[str, str]], turn: Turn) -> tuple[float, str]:
        from llama_cpp import LlamaGrammar

        started = time.perf_counter()
        grammar = LlamaGrammar.from_string(gbnf(turn.constraint), verbose=False) if turn.constraint else None
        answer = self._llama.create_chat_completion(
            messages=messages, grammar=grammar, max_tokens=turn.max_tokens, temperature=0.0
        )
        return time.perf_counter() - started, answer["choices"][0]["message"]["content"]


def fastest(path: Path, context: int, cores: int, turns: Sequence[Turn]) -> Setup:
    """Return the setup that answers some turns in the least time."""
    seconds = {}
    for threads, batch_threads in dict.fromkeys([(1, 1), (1, cores), (cores, cores)]):
        for flash in (False, True):
            setup = Setup(threads, batch_threads, flash)
            loop = ChatLoop(path, context, setup)
            seconds[setup] = sum(loop.answer(turn)[0] for turn in turns)
            loop.close()
    return min(seconds, key=lambda setup: seconds[setup])


def gbnf(constraint: Constraint) -> str:
    """Return a constraint in llama.cpp's notation of grammars."""
    patterns = dict.fromkeys(" ".join(map(_part, pattern)) for pattern in constraint.patterns)
    return f"root ::= {' | '.join(patterns)}\n"


def _part(part: PatternPart) -> str:
    if isinstance(part, str):
        return _literal(part)
    if isinstance(part, FreeText):
        first = "[A-Za-z0-9] " if part.shortest else ""
        return f"{first}[^\\[\\]\\n\\r]{{0,{part.longest - bool(first)}}}"
    return f"({' | '.join(map(_literal, part.names))})"


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
