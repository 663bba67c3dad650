"""Where commands run: without a network, with nothing of the person's to read, and one folder to write.

`find_sandbox` says which of bubblewrap, namespaces and Landlock works here; `launcher` is what confines itself.
"""

from .kinds import Kind, Sandbox, works
from .limits import Limits
from .running import CannotConfine, Ended
from .search import NoSandbox, find_sandbox, no_sandbox_hint, sandboxes

__all__ = [
    "CannotConfine",
    "Ended",
    "Kind",
    "Limits",
    "NoSandbox",
    "Sandbox",
    "find_sandbox",
    "no_sandbox_hint",
    "sandboxes",
    "works",
]
