"""Whether a file is a whole GGUF model, so that any other is a sentence. What is in it is left to llama.cpp to read.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

from ..harness import OutsideFault
from .native import first_error, forget_errors, library

_MAGIC = b"GGUF"
_START = 65_536
"""Bytes at the start of a file in which an adapter says that it is one."""
_ADAPTER = b"general.type" + struct.pack("<IQ", 8, len(b"adapter")) + b"adapter"
"""The metadata entry of an adapter: a key, the number of the type of texts, a length and a text."""
_AMX = b"AMX_INT8 = 1"
"""What llama.cpp says of itself where it was built with its kernels for AMX."""


class ModelFileError(OutsideFault):
    """A model file is missing, isn't one, or is damaged."""


def load_gguf(path: Path, gpu_layers: int = 0, *, vocab_only: bool = False) -> Any:
    """Return llama.cpp's model of a file, or its vocabulary alone; who calls frees it.

    Raises ModelFileError for what is no whole model.
    """
    start = check_start(path)
    if _ADAPTER in start:
        raise ModelFileError(f"Expected a model in {path}, found an adapter: give it as the adapter of its base model.")
    parameters = model_parameters()
    parameters.n_gpu_layers = gpu_layers
    parameters.vocab_only = vocab_only
    forget_errors()
    model = library().llama_model_load_from_file(os.fsencode(path), parameters)
    if not model:
        raise ModelFileError(f"llama.cpp could not load the model {path}{first_error()}.")
    return model


def model_parameters() -> Any:
    """Return llama.cpp's `llama_model_params`, its own but for the kernels for AMX.

    Where it was built with these by GCC before 13 they end the process: that compiler drops stores that only
    `ldtilecfg` reads.
    """
    llama = library()
    parameters = llama.llama_model_default_params()
    if _AMX in llama.llama_print_system_info():
        parameters.use_extra_bufts = False
    return parameters


def check_whole(path: Path) -> None:
    """Raise ModelFileError unless a file holds all of a model; of its weights only the places are looked at."""
    library().llama_model_free(load_gguf(path, vocab_only=True))


def check_start(path: Path) -> bytes:
    """Return the first bytes of a GGUF file; raises ModelFileError for any other."""
    if path.is_dir():
        raise ModelFileError(f"Expected a GGUF file at {path}, found a folder: name the file in it.")
    try:
        with path.open("rb") as file:
            start = file.read(_START)
    except FileNotFoundError:
        raise ModelFileError(f"Expected a GGUF file at {path}, found nothing there.") from None
    except OSError as error:
        raise ModelFileError(f"The model file {path} can't be read: {error.strerror}.") from error
    if not start.startswith(_MAGIC):
        found = "a file that starts differently" if start else "an empty file"
        raise ModelFileError(f"Expected a GGUF file at {path}, found {found}: is it the right one?")
    return start
