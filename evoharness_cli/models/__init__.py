"""What answers: language models in this process on llama.cpp, and scripted ones.

`load_model` turns what a user names into a model; importing this loads no engine.
"""

from __future__ import annotations

from .catalogue import CATALOGUE, UnknownModel, resolve
from .gguf import ModelFileError
from .llama import LlamaModel, UnusableOption
from .load import anchored, is_served, load_model
from .report import LlamaReport, llama_report
from .scripted import ScriptedModel, ScriptError, ScriptExhausted

__all__ = [
    "CATALOGUE",
    "LlamaModel",
    "LlamaReport",
    "ModelFileError",
    "ScriptError",
    "ScriptExhausted",
    "ScriptedModel",
    "UnknownModel",
    "UnusableOption",
    "anchored",
    "is_served",
    "llama_report",
    "load_model",
    "resolve",
]
