"""A language model in this process, on llama.cpp."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from ..harness import Constraint, ContextFull, OutsideFault, Reply, Transcript, WrongUsage
from .chat import ChatTemplate
from .gguf import ModelFileError, check_start, load_gguf
from .grammar import to_gbnf
from .hashes import sha256_of
from .native import first_error, forget_errors, library, physical_cores
from .sampling import Grammar, Sampling
from .sequence import CachedSequence
from .vocabulary import Vocabulary

GpuLayers = int | Literal["auto"]

_ALL_LAYERS = -1


class UnusableOption(WrongUsage):
    """An option that this kind of model doesn't have, or can't take with this value."""


class ModelClosed(OutsideFault):
    """A reply was asked of a model that was closed."""


class LlamaModel:
    """Answers with a GGUF model, optionally with a LoRA adapter over it.

    Nothing is evaluated twice while the transcript grows: each prompt costs its new tokens only. A reply is a
    function of the transcript, the constraint, `max_tokens` and `seed`, whatever was evaluated before.
    """

    def __init__(
        self,
        path: Path,
        *,
        adapter: Path | None = None,
        context: int = 8192,
        threads: int | None = None,
        gpu_layers: GpuLayers = "auto",
        temperature: float = 0.0,
        top_p: float = 1.0,
        name: str | None = None,
    ) -> None:
        """Load the model.

        `context` is in tokens, positive, and never more than the model was trained with. `threads` is every
        physical core the process may use unless given. `gpu_layers` is all of them where the library can use
        a GPU, else none, unless given. `name` is the file's name without its ending unless given. Raises
        UnusableOption for a context that isn't positive, ModelFileError for a file that isn't a whole model
        or an adapter that doesn't fit it, ChatTemplateFault for a template that can't be applied,
        EvaluationFault when the context can't be set up.
        """
        if context < 1:
            raise UnusableOption(f"Expected a positive number of tokens as the context, found {context}.")
        if adapter is not None:
            check_start(adapter)
        self.name = name or path.stem
        self._path, self._adapter = path, adapter
        self._sampling = Sampling(temperature, top_p)
        self._freed: list[Callable[[], None]] = []
        try:
            model = self._load(path, gpu_layers)
            llama = library()
            self.context = min(context, llama.llama_model_n_ctx_train(model))
            self._vocabulary = Vocabulary(model)
            template = llama.llama_model_chat_template(model, None)
            self._template = ChatTemplate(template and template.decode(), self._vocabulary.special_texts())
            self._sequence = CachedSequence(model, self.context, threads or physical_cores())
            self._freed.append(self._sequence.close)
            if adapter is not None:
                self._attach(model, adapter)
        except BaseException:
            self.close()
            raise

    def session(self, task: str) -> LlamaModel:
        """Return this model: all that a reply depends on is in the transcript."""
        del task
        return self

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer the transcript, whose last message is the environment's.

        The reply ends with the model's end of turn, or after `max_tokens` tokens wherever that is; a
        constrained one ends where its pattern is complete. Raises ContextFull before anything is evaluated
        when the prompt and `max_tokens` more don't fit, OutsideFault when llama.cpp fails.
        """
        if not self._freed:
            raise ModelClosed(f"The model {self.name} was closed and can't reply.")
        prompt = self.prompt_ids(transcript)
        if len(prompt) + max_tokens > self.context:
            raise ContextFull(
                f"Expected at most {self.context} tokens, found {len(prompt)} in the prompt"
                f" and {max_tokens} for the reply."
            )
        # A grammar that can't be read is found before anything is evaluated.
        grammar = Grammar(to_gbnf(constraint), self._vocabulary, self._sampling) if constraint else None
        try:
            evaluated = self._sequence.advance_to(prompt)
            written = self._write(grammar, max_tokens, seed)
        finally:
            if grammar:
                grammar.close()
        text = b"".join(map(self._vocabulary.bytes_of, written)).decode(errors="replace")
        return Reply(text, len(prompt), len(written), evaluated)

    def prompt_ids(self, transcript: Transcript) -> list[int]:
        """Return the ids of a transcript, ready for a reply; those of a grown transcript begin with them."""
        return self._vocabulary.encode(self._template.pieces(transcript.messages))

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
        """Free the model; closing twice does nothing more."""
        while self._freed:
            self._freed.pop()()

    def __enter__(self) -> LlamaModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load(self, path: Path, gpu_layers: GpuLayers) -> Any:
        llama = library()
        parameters = llama.llama_model_default_params()
        if gpu_layers == "auto":
            gpu_layers = _ALL_LAYERS if llama.llama_supports_gpu_offload() else 0
        parameters.n_gpu_layers = gpu_layers
        model = load_gguf(path, parameters)
        self._freed.append(lambda: llama.llama_model_free(model))
        return model

    def _attach(self, model: Any, path: Path) -> None:
        llama = library()
        forget_errors()
        # The model frees the adapters that were loaded for it.
        adapter = llama.llama_adapter_lora_init(model, os.fsencode(path))
        if not adapter:
            raise ModelFileError(f"The adapter {path} doesn't fit the model {self.name}{first_error()}.")
        adapters = (llama.llama_adapter_lora_p_ctypes * 1)(adapter)
        if llama.llama_set_adapters_lora(self._sequence.context, adapters, 1, (ctypes.c_float * 1)(1.0)) != 0:
            raise ModelFileError(f"The adapter {path} could not be attached{first_error()}.")

    def _write(self, grammar: Grammar | None, max_tokens: int, seed: int) -> list[int]:
        import numpy as np

        random = np.random.default_rng(seed)
        written: list[int] = []
        while len(written) < max_tokens:
            # The last token that fits is evaluated with the next prompt.
            self._sequence.append(written[-1:])
            logits = self._sequence.logits()
            chooser = grammar or self._sampling
            token = chooser.choose(logits, random)
            if self._vocabulary.ends(token):
                break
            if grammar:
                grammar.accept(token)
            written.append(token)
        return written
