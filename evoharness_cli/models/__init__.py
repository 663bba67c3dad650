"""What answers: language models in this process on llama.cpp, and scripted ones.

`load_model` turns what a user names into a model; importing this loads no engine.
"""

from __future__ import annotations

from .catalogue import CATALOGUE, CatalogueEntry, UnknownModel, resolve
from .gguf import GgufHeader, ModelFileError, check_adapter, check_gguf
from .llama import LlamaModel
from .load import load_model
from .report import LlamaReport, llama_report
from .scripted import ScriptedModel, ScriptError, ScriptExhausted

__all__ = [
    "CATALOGUE",
    "CatalogueEntry",
    "GgufHeader",
    "LlamaModel",
    "LlamaReport",
    "ModelFileError",
    "ScriptError",
    "ScriptExhausted",
    "ScriptedModel",
    "UnknownModel",
    "check_adapter",
    "check_gguf",
    "llama_report",
    "load_model",
    "resolve",
]
