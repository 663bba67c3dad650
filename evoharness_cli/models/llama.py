"""A language model in this process, on llama.cpp."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..harness import Constraint, ContextFull, Reply, Transcript, WrongUsage
from .chat import ChatTemplate
from .engine import Engine, GpuLayers
from .hashes import sha256_of
from .lanes import Shape
from .placing import CachedSequence
from .sampling import Sampling
from .writing import Writer, Written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class UnusableOption(WrongUsage):
    """An option that this kind of model doesn't have, or can't take with this value."""


@dataclass(frozen=True)
class Sampled:
    """A reply as its tokens. `end` is the token that ended it, None when it was cut at its length."""

    text: str
    prompt: tuple[int, ...]
    tokens: tuple[Written, ...]
    end: Written | None
    evaluated_tokens: int
    """How many tokens of the prompt were not already cached."""


class LlamaModel:
    """Answers with a GGUF model, optionally with a LoRA adapter over it.

    Any number of sessions may answer at once, each in a thread of its own. Nothing is evaluated twice while a
    transcript grows: each prompt costs its new tokens only, and what sessions share is evaluated once. A reply is a
    function of the transcript, the constraint, `max_tokens` and `seed`, whatever else was or is evaluated.
    """

    def __init__(
        self,
        path: Path,
        *,
        adapter: Path | None = None,
        context: int = 8192,
        slots: int = 1,
        shape: Shape | None = None,
        gpu_layers: GpuLayers = "auto",
        temperature: float = 0.0,
        top_p: float = 1.0,
        name: str | None = None,
    ) -> None:
        """Load the model.

        `context` is in tokens, positive, and never more than the model was trained with. `slots` is how many sessions
        are evaluated at once; more than these take turns, which costs some milliseconds a reply. `shape` is how they
        are spread over the cores, measured once for a machine and a file unless given. `gpu_layers` is all of them
        where the library can use a GPU, else none, unless given. `name` is the file's name without its ending unless
        given. Raises UnusableOption for a context or slots that aren't positive, ModelFileError for a file that isn't a
        whole model or an adapter that doesn't fit it, ChatTemplateFault for a template that can't be applied,
        EvaluationFault when the context can't be set up.
        """
        if context < 1:
            raise UnusableOption(f"Expected a positive number of tokens as the context, found {context}.")
        if slots < 1:
            raise UnusableOption(f"Expected a positive number of slots, found {slots}.")
        self.name = name or path.stem
        self._path, self._adapter = path, adapter
        self._sampling = Sampling(temperature, top_p)
        self._engine = Engine(path, adapter=adapter, context=context, slots=slots, shape=shape, gpu_layers=gpu_layers)
        try:
            self._template = ChatTemplate(self._engine.template, self._engine.vocabulary.special_texts())
            self._engine.vocabulary.close_replies_with(self._template.after_reply)
        except BaseException:
            self.close()
            raise
        self._own = Session(self, CachedSequence())

    @property
    def context(self) -> int:
        """Tokens that a prompt and its reply may have together."""
        return self._engine.context

    def session(self, task: str) -> Session:
        """Return what answers in one episode, beside others; all that a reply depends on is in the transcript."""
        del task
        return Session(self, CachedSequence())

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer as a session does, in one that belongs to the model."""
        return self._own.reply(transcript, constraint, max_tokens, seed)

    def sample(
        self,
        session: Session,
        transcript: Transcript,
        constraint: Constraint | None,
        max_tokens: int,
        seed: int,
        *,
        scored: bool,
    ) -> Sampled:
        """Answer in a session, as `Session.sample` documents it."""
        engine = self._engine
        with engine.in_use():
            prompt = self.prompt_ids(transcript)
            if len(prompt) + max_tokens > self.context:
                raise ContextFull(
                    f"Expected at most {self.context} tokens, found {len(prompt)} in the prompt"
                    f" and {max_tokens} for the reply."
                )
            automaton = engine.grammar.automaton(constraint) if constraint else None
            writer = Writer(engine.vocabulary, automaton, self._sampling, max_tokens, seed, scored=scored)
            evaluated = engine.write(session.sequence, prompt, writer)
            text = b"".join(engine.vocabulary.bytes_of(written.token) for written in writer.written)
        return Sampled(text.decode(errors="replace"), tuple(prompt), tuple(writer.written), writer.end, evaluated)

    def attach(self, adapter: Path) -> None:
        """Go on with another adapter, while no session is asked; what they have evaluated is forgotten.

        Raises ModelFileError where it doesn't fit, and then the old one stays.
        """
        self._engine.attach(adapter)
        self._adapter = adapter
        self.__dict__.pop("fingerprint", None)

    def allowed(self, constraint: Constraint, tokens: Sequence[int]) -> list[NDArray[np.int64]]:
        """Return which tokens a constraint allows in the place of each token of a reply, and after the last one."""
        engine = self._engine
        with engine.in_use():
            automaton = engine.grammar.automaton(constraint)
            state, found = automaton.start, list[Any]()
            for token in (*tokens, None):
                found.append(automaton.options(state).choices(engine.vocabulary.end))
                state = state if token is None else automaton.advance(state, token)
        return found

    def ends(self, token: int) -> bool:
        """Tell whether a token ends a turn."""
        return self._engine.vocabulary.ends(token)

    @property
    def vocabulary_size(self) -> int:
        """How many tokens there are."""
        return self._engine.vocabulary.size

    def fork(self, session: Session) -> Session:
        """Return a session that goes on separately from where a session is, with all that it has evaluated."""
        return Session(self, self._engine.fork(session.sequence))

    def prompt_ids(self, transcript: Transcript) -> list[int]:
        """Return the ids of a transcript, ready for a reply; those of a grown transcript begin with them."""
        return self._engine.vocabulary.encode(self._template.pieces(transcript.messages))

    @cached_property
    def fingerprint(self) -> dict[str, object]:
        """What a reply depends on besides transcript, constraint and seed, as values that JSON can hold."""
        adapter = self._adapter and {"file": self._adapter.name, "sha256": sha256_of(self._adapter)}
        return {
            "file": self._path.name,
            "sha256": sha256_of(self._path),
            "size": self._path.stat().st_size,
            "adapter": adapter,
            "engine": f"llama-cpp-python {version('llama-cpp-python')}",
            "context": self.context,
            "temperature": self._sampling.temperature,
            "top_p": self._sampling.top_p,
        }

    def close(self) -> None:
        """Free the model, and end replies that are being written; closing twice does nothing more."""
        self._engine.close()

    def __enter__(self) -> LlamaModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """One conversation of a model with a cache of its own; to be used by one thread at a time."""

    def __init__(self, model: LlamaModel, sequence: CachedSequence) -> None:
        self.name = model.name
        self.sequence = sequence
        """What was evaluated so far."""
        self._model = model
        # Where a session is only forgotten, its slot is free for others too.
        weakref.finalize(self, _abandon, sequence).atexit = False

    @property
    def fingerprint(self) -> dict[str, object]:
        """What a reply depends on besides transcript, constraint and seed, as values that JSON can hold."""
        return self._model.fingerprint

    def session(self, task: str) -> Session:
        """Return another session of the model."""
        return self._model.session(task)

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer the transcript, whose last message is the environment's.

        The reply ends with the model's end of turn, or after `max_tokens` tokens wherever that is; a
        constrained one ends where its pattern is complete. Raises ContextFull before anything is evaluated
        when the prompt and `max_tokens` more don't fit, OutsideFault when llama.cpp fails or the model is closed.
        """
        sampled = self._model.sample(self, transcript, constraint, max_tokens, seed, scored=False)
        return Reply(sampled.text, len(sampled.prompt), len(sampled.tokens), sampled.evaluated_tokens)

    def sample(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Sampled:
        """Answer as `reply` does, with every token, its log-probability and whether it was forced."""
        return self._model.sample(self, transcript, constraint, max_tokens, seed, scored=True)

    def fork(self) -> Session:
        """Return a session that goes on separately from here; what was evaluated is copied."""
        return self._model.fork(self)

    def close(self) -> None:
        """Leave the slot to others; a later reply evaluates its whole prompt."""
        _abandon(self.sequence)


def _abandon(sequence: CachedSequence) -> None:
    sequence.abandoned = True
