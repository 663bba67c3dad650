"""A model in memory, and as many conversations on it at once as there are threads that ask."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from .automaton import Grammar
from .gguf import ModelFileError, check_start, load_gguf
from .lanes import Lanes, Shape
from .native import first_error, forget_errors, library
from .placing import CachedSequence
from .scheduler import Job, ModelClosed
from .tuning import tuned
from .vocabulary import Vocabulary
from .writing import Writer

GpuLayers = int | Literal["auto"]

_ALL_LAYERS = -1
SAVED_BYTES = 4 * 2**30
"""Memory for sequences that gave up their slots."""


class Engine:
    """A model with its adapter, and contexts of together at least `slots` slots, each for `context` tokens.

    Any number of threads may write replies, one at a time a sequence: what waits is evaluated together. A reply depends
    on its prompt and its writer only, not on other sequences, nor on slots that were given up and restored. (Kernels of
    GPUs differ by the size of a batch; there it holds but for tokens that are about equally likely.)
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
    ) -> None:
        """Load the model as `LlamaModel` documents it. Raises ModelFileError, EvaluationFault."""
        if adapter is not None:
            check_start(adapter)
        llama = library()
        self._freed: list[Callable[[], None]] = []
        self._state = threading.Condition()
        self._users = 0
        self._closed = False
        self._path = path
        self._adapter: Any = None
        try:
            if gpu_layers == "auto":
                gpu_layers = _ALL_LAYERS if llama.llama_supports_gpu_offload() else 0
            model = self._model = self._load(path, gpu_layers)
            self.context: int = min(context, llama.llama_model_n_ctx_train(model))
            """Tokens that a sequence may have."""
            self.vocabulary = Vocabulary(model)
            self.grammar = Grammar(self.vocabulary)
            template = llama.llama_model_chat_template(model, None)
            self.template: str | None = template.decode() if template else None
            """The chat template that the file brings."""
            offloaded = gpu_layers != 0
            shape = shape or tuned(model, path, slots, offloaded=offloaded)
            self._lanes = Lanes(model, slots, self.context, shape, offloaded=offloaded, room=SAVED_BYTES)
            self._freed.append(self._lanes.close)
            if adapter is not None:
                self._attach(adapter)
        except BaseException:
            self._free()
            raise
        # The interpreter must not end while its thread is in llama.cpp.
        atexit.register(self.close)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the model in memory for a while, as the vocabulary needs it. Raises ModelClosed."""
        with self._state:
            if self._closed:
                raise ModelClosed("The model was closed and can't reply.")
            self._users += 1
        try:
            yield
        finally:
            with self._state:
                self._users -= 1
                self._state.notify_all()

    def write(self, sequence: CachedSequence, prompt: list[int], writer: Writer) -> int:
        """Write the reply to a prompt; return how many tokens of the prompt were evaluated for it.

        Prompt and reply have to fit the context. Raises EvaluationFault, after which the sequence is empty, DeadEnd,
        and ModelClosed when the engine was closed.
        """
        target = prompt + writer.force()
        if writer.over:
            return 0
        job = Job(sequence, target, writer)
        self._lanes.run(job)
        return max(0, len(prompt) - job.kept)

    def fork(self, sequence: CachedSequence) -> CachedSequence:
        """Return a copy of a sequence that goes on separately. Raises EvaluationFault, ModelClosed."""
        return self._lanes.copy(sequence)

    def attach(self, adapter: Path) -> None:
        """Put an adapter in the place of the one so far, and forget what was evaluated, while nobody waits for a reply.

        Raises ModelFileError where it doesn't fit, and then the old one stays; ModelClosed.
        """
        check_start(adapter)
        with self.in_use():
            self._attach(adapter)

    def close(self) -> None:
        """End what is being written with ModelClosed, and free the model; closing twice does nothing more."""
        atexit.unregister(self.close)
        with self._state:
            self._closed = True
        self._lanes.end()
        with self._state:
            self._state.wait_for(lambda: not self._users)
        self._free()

    def _free(self) -> None:
        while self._freed:
            self._freed.pop()()

    def _load(self, path: Path, gpu_layers: int) -> Any:
        llama = library()
        model = load_gguf(path, gpu_layers)
        self._freed.append(lambda: llama.llama_model_free(model))
        return model

    def _attach(self, path: Path) -> None:
        llama = library()
        forget_errors()
        adapter = llama.llama_adapter_lora_init(self._model, os.fsencode(path))
        if not adapter:
            raise ModelFileError(f"The adapter {path} doesn't fit the model {self._path.stem}{first_error()}.")
        adapters = (llama.llama_adapter_lora_p_ctypes * 1)(adapter)

        def attach(context: Any) -> None:
            if llama.llama_set_adapters_lora(context, adapters, 1, (ctypes.c_float * 1)(1.0)) != 0:
                raise ModelFileError(f"The adapter {path} could not be attached{first_error()}.")

        self._lanes.change(attach)
        if self._adapter:
            llama.llama_adapter_lora_free(self._adapter)
        # The model frees the one that is left.
        self._adapter = adapter
