"""Models behind a server that speaks OpenAI's chat completions, whoever's it is.

What is said to it and read from it is here; the connection is that of the official client.
"""

from .model import KEY_VARIABLE, OpenAIModel
from .server import Patience

__all__ = ["KEY_VARIABLE", "OpenAIModel", "Patience"]
