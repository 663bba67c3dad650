"""The keys of the configuration, which commands take them, and who may set them. Imports nothing that takes time."""

from __future__ import annotations

from dataclasses import dataclass

from ..experience.policies import DEFAULT as DEFAULT_MEMORY

PLAYING = ("run", "eval")
"""The commands that play tasks with a model."""
KEEPING = ("run", "note", "mcp")
"""The commands that add to experience in a scope."""
EVERY = ("*",)
"""Every command that has the option."""


@dataclass(frozen=True)
class Key:
    """One key. Its option is `--` and its name with hyphens, its variable `EVOHARNESS_` and its name in capitals."""

    name: str
    says: str
    default: str
    """What holds where nobody sets it, as `config show` says it."""
    commands: tuple[str, ...]
    """The commands whose option of this name it is the default of."""
    in_project: bool = True
    """Whether a project's file may set it."""

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"EVOHARNESS_{self.name.upper()}"


KEYS = (
    Key("profile", "the profile to use", "none", PLAYING),
    Key(
        "model",
        "a model's name, a GGUF file, scripted:FILE or openai:NAME",
        "the task's, else smollm2-135m",
        PLAYING,
    ),
    Key("adapter", "a LoRA adapter as a GGUF file, or none", "the task's, else none", PLAYING),
    Key("base_url", "the server of openai: models", "OpenAI's own", PLAYING, in_project=False),
    Key(
        "key_variable",
        "the environment variable that holds the server's key",
        "OPENAI_API_KEY",
        PLAYING,
        in_project=False,
    ),
    Key(
        "price",
        "what a million tokens cost in USD: prompt, reply and cached prompt, as in 2.5,10,1.25",
        "none",
        PLAYING,
        in_project=False,
    ),
    Key("decode", "how replies are decoded: free, grammar or admissible", "the task's, else grammar", PLAYING),
    Key("temperature", "how replies are sampled; 0 takes the likeliest token", "0", PLAYING),
    Key("context", "tokens that a prompt and its reply may have", "8192", PLAYING),
    Key("experience", "the memory policy", DEFAULT_MEMORY, PLAYING),
    Key("scope", "where in experience to recall and note", "the task's; everywhere for note and mcp", KEEPING),
    Key("db", "the store of runs and experience", "experience.db in the user's data folder", EVERY),
)
OF_A_SERVER = ("base_url", "key_variable", "price")
"""What belongs to the server that answers for a model."""
UPKEEP = "upkeep"
PROFILES = "profiles"
SECTIONS = (UPKEEP, PROFILES)
"""Keys that hold keys of their own; a project's file has neither."""
OF_UPKEEP = {
    "every": "closed episodes between consolidations of a store that is made from now on",
    "capacity": "active entries that it keeps",
    "keep_steps": "newest closed episodes of which it keeps every step",
    "keep_worlds": "worlds of which it keeps where each thing was",
}
"""The keys of `upkeep` and what they say."""
BY_NAME = {key.name: key for key in KEYS}
