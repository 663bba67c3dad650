"""A server for the tests, `python ledger.py FILE`: it keeps entries in a file, so that calls can be counted."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations


@dataclass(frozen=True)
class Served:
    """Where a ledger is served, and the file of its entries."""

    url: str
    entries: Path


def ledger(file: Path) -> MCPServer:
    """Return a server that keeps its entries in a file."""
    server = MCPServer("ledger", instructions="Amounts are in cents.")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def entries() -> str:
        """List all entries."""
        return file.read_text() if file.exists() else "no entries"

    @server.tool()
    def add(text: str, kind: Literal["credit", "debit"], amount: int = 0) -> str:
        """Add an entry."""
        with file.open("a") as out:
            out.write(f"{kind} {amount}: {text}\n")
        return f"entry {len(file.read_text().splitlines())}"

    @server.tool()
    def note(text: str) -> str:
        """Write something down."""
        return f"noted {text}"

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def account(name: str) -> str:
        """Show an account."""
        raise ToolError(f"no such account: {name}")

    return server


@contextmanager
def serving(file: Path) -> Iterator[Served]:
    """Serve a ledger over HTTP in this process while the block lasts."""
    config = uvicorn.Config(ledger(file).streamable_http_app(), log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    # What connects before the server runs waits in the socket's queue.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield Served(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", file)
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    ledger(Path(sys.argv[1])).run()
