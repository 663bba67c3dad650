"""The harness inside other programs: as a class to call, and as a server of the Model Context Protocol.

`Harness` is one task that another program's agent does. `mcp_server` serves it to any client; importing this loads
neither that nor its package.
"""

from .harness import Facts, Harness, TaskOver, UnknownOutcome, UnknownVerb
from .tools import TOOLS, Tool

__all__ = ["TOOLS", "Facts", "Harness", "TaskOver", "Tool", "UnknownOutcome", "UnknownVerb"]
