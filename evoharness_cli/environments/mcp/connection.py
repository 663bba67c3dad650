"""A server that is connected to: the official client, whose event loop runs in a thread, behind synchronous calls."""

from __future__ import annotations

import json
import logging
import math
import os
import shlex
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from string import Template
from typing import Any, TypeVar

import anyio
import httpx2
from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client import Transport
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError

from ...harness import OutsideFault
from .needs import Server

GRACE = 5.0
"""Seconds that the client has for what the server's own time limit doesn't cover."""
_PAGES = 50
_NO_ANSWER = (types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT, types.PARSE_ERROR, types.INVALID_REQUEST)
"""Errors that aren't about what was asked: the connection is gone or out of order."""
_SHOWN = 200
_T = TypeVar("_T")

# A server that breaks the protocol is an error of ours; what the client logs about it is for programmers.
logging.getLogger("mcp").addHandler(logging.NullHandler())
logging.getLogger("client").addHandler(logging.NullHandler())


class McpFault(OutsideFault):
    """A server that can't be connected to, ends, is too slow, or breaks the protocol."""


@dataclass(frozen=True)
class Result:
    """What a tool returned, as text, and whether it says that it failed."""

    text: str
    failed: bool = False


class Connection:
    """A connected server; `name` is its command or address, as messages call it."""

    def __init__(self, server: Server, command: Sequence[str], folder: str) -> None:
        """Connect, with the server's own command where it has one already filled in, and list the tools.

        Raises McpFault.
        """
        self.name = shlex.join(command) if command else str(server.url)
        self._timeout = server.timeout
        self._open = ExitStack()
        said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._said = self._open.enter_context(said)
        try:
            transport = self._transport(server, command, folder)
            self._portal = self._open.enter_context(start_blocking_portal())
            self._client = self._open.enter_context(self._portal.wrap_async_context_manager(self._connected(transport)))
            self.tools = self._wait(self._listed)
        except Exception as error:
            fault = self._fault("can't be used", error)
            self.close()
            raise fault from error
        except BaseException:
            self.close()
            raise
        self.instructions = self._client.instructions or ""

    def call(self, tool: str, arguments: dict[str, Any]) -> Result:
        """Return what a tool returns; an error that the server answers with is a result that failed.

        Raises McpFault where there is no answer, or none that the protocol knows.
        """
        try:
            return _result(self._wait(lambda: self._client.call_tool(tool, arguments, self._timeout)))
        except MCPError as error:
            if error.code in _NO_ANSWER:
                raise self._fault(f"failed in {tool}", error) from error
            return Result(error.message, failed=True)
        except Exception as error:
            raise self._fault(f"failed in {tool}", error) from error

    def close(self) -> None:
        """Leave the server, and end it where it was started here; may be repeated."""
        # Whatever goes wrong while leaving, nothing more is wanted of the server.
        with suppress(Exception):
            self._open.close()

    def _transport(self, server: Server, command: Sequence[str], folder: str) -> AbstractAsyncContextManager[Any]:
        if not command:
            headers = {key: Template(value).substitute(os.environ) for key, value in server.headers.items()}
            return _http(str(server.url), headers, server.timeout)
        variables = {name: os.environ[name] for name in server.env if name in os.environ}
        parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=variables, cwd=folder)
        return stdio_client(parameters, errlog=self._said)

    @asynccontextmanager
    async def _connected(self, transport: Transport) -> AsyncIterator[Client]:
        with anyio.fail_after(self._timeout) as waiting:
            async with Client(transport, read_timeout_seconds=self._timeout) as client:
                waiting.deadline = math.inf
                try:
                    yield client
                finally:
                    waiting.deadline = anyio.current_time() + GRACE

    async def _listed(self) -> list[types.Tool]:
        tools: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return tools
        raise ValueError(f"its list of tools goes on after {_PAGES} pages")

    def _wait(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        asked = self._portal.start_task_soon(ask)
        try:
            return asked.result(self._timeout + GRACE)
        except BaseException:
            asked.cancel()
            raise

    def _fault(self, what: str, error: BaseException) -> McpFault:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        return McpFault(f"The MCP server `{self.name}` {what}: {self._why(error)}.{self._last_words()}")

    def _why(self, error: BaseException) -> str:
        if isinstance(error, TimeoutError) or _code(error) == types.REQUEST_TIMEOUT:
            return f"it didn't answer in {self._timeout:g} seconds"
        if _code(error) == types.CONNECTION_CLOSED:
            return "it ended the connection"
        if isinstance(error, ValidationError):
            return "its answer is none that the protocol knows"
        if isinstance(error, KeyError):
            return f"the environment variable {error.args[0]} isn't set"
        if isinstance(error, OSError) and error.strerror:
            return f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
        first = str(error).strip().partition("\n")[0].rstrip(" .:")[:_SHOWN]
        return first or f"it ended in {type(error).__name__}"

    def _last_words(self) -> str:
        """Return the last line that its command wrote on standard error as a sentence, with a space before it."""
        with suppress(ValueError):
            self._said.seek(0)
            if lines := self._said.read().strip().splitlines():
                return f" It last said: {lines[-1][:_SHOWN]}"
        return ""


@asynccontextmanager
async def _http(url: str, headers: dict[str, str], timeout: float) -> AsyncIterator[Any]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


def _code(error: BaseException) -> int | None:
    return error.code if isinstance(error, MCPError) else None


def _result(result: types.CallToolResult) -> Result:
    parts = [_text(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = "\n".join(parts).strip()
    return Result(text or "(nothing)", result.is_error)


def _text(block: types.ContentBlock) -> str:
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.EmbeddedResource):
        resource = block.resource
        return resource.text if isinstance(resource, types.TextResourceContents) else f"[data: {resource.uri}]"
    if isinstance(block, types.ResourceLink):
        return f"[resource: {block.uri}]"
    return f"[{block.type}: {block.mime_type}]"
