"""Servers of the Model Context Protocol as an environment of evoharness."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ...harness import OutsideFault, WrongUsage
from .. import Finding
from .approval import has_person
from .needs import McpNeeds

if TYPE_CHECKING:
    from .environment import McpEnvironment


class NobodyToAsk(OutsideFault):
    """A task whose success a person judges, where there is none."""


class McpAdapter:
    """Opens tasks at servers, each with a connection of its own."""

    needs = McpNeeds

    def locate(self, place: str) -> list[tuple[str, dict[str, Any]]]:
        """Refuse any place: what to do at a server is said by a file."""
        raise WrongUsage(f"Expected a task file that names an MCP server; there is no place mcp:{place}.")

    def recognise(self, path: Path) -> list[tuple[str, dict[str, Any]]]:
        """Return nothing: a server has no files of its own."""
        del path
        return []

    def open(self, needs: BaseModel, goal: str | None) -> McpEnvironment:
        """Return one task. Raises NobodyToAsk, and FilesFault where its files can't be copied."""
        # The client takes a second to import, which listing tasks shouldn't.
        from .environment import McpEnvironment

        assert isinstance(needs, McpNeeds)
        if needs.success.person and not has_person():
            raise NobodyToAsk(
                "The task asks a person whether it was fulfilled, and there is no terminal to ask one at."
            )
        return McpEnvironment(needs, goal)

    def examine(self) -> Iterator[Finding]:
        """Tell the client's version."""
        yield Finding("MCP client", version("mcp"))

    def close(self) -> None:
        """Do nothing: each environment leaves its own server."""
