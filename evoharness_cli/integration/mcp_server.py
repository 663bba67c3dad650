"""The harness as a server of the Model Context Protocol, on standard input and output or over HTTP."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import Annotated, Literal, ParamSpec

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from .. import __version__
from ..harness import Fact, OutsideFault, WrongUsage
from .open_tasks import OpenTasks
from .tools import TOOLS

PATH = "/mcp"
"""Where the server is found over HTTP."""
INSTRUCTIONS = (
    "Keeps what an agent believes, plans and learns. Begin each task with begin_task. Before you act, `recall` what "
    "past tasks taught; after each action, `observe` what it showed; `note` what future tasks should know. End with "
    "finish_task: only then does what you noted count, and what you recalled is judged by the outcome."
)
_ENDING_SECONDS = 2
_logger = logging.getLogger(__name__)
_Parameters = ParamSpec("_Parameters")


class ShownFact(BaseModel):
    """One thing that an observation showed, such as {"subject": "egg 1", "relation": "at", "object": "fridge 1"}."""

    subject: str
    relation: str = Field(description="`at` a place, `searched` (yes or no) of a place, or a word of your own.")
    object: str = Field(description="`yes` or `no` where the relation is a property.")


Task = Annotated[
    int | None, Field(description="The number that begin_task gave; needed where several tasks are open at once.")
]
Shown = Annotated[tuple[ShownFact, ...], Field(description="What the observation showed, fact by fact.")]
Argument = Annotated[str, Field(description="What stands between the brackets.")]


def make_server(tasks: OpenTasks) -> MCPServer[None]:
    """Return a server of the four verbs, `observe`, and the beginning and end of tasks."""

    @asynccontextmanager
    async def serving(_: MCPServer[None]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            tasks.abandon("the server ended", _report)

    server = MCPServer[None](
        "evoharness", version=__version__, instructions=INSTRUCTIONS, lifespan=serving, log_level="WARNING"
    )

    def add(name: str, does: str, answer: Callable[_Parameters, str]) -> None:
        here = ToolAnnotations(destructive_hint=False, open_world_hint=False)
        server.add_tool(_in_sentences(answer), name, description=does, annotations=here, structured_output=False)

    def begin_task(
        goal: Annotated[str, Field(min_length=1, description="What is to be done, in one sentence.")],
        context: Context,
        kind: Annotated[str, Field(description="The kind of task; success rates compare within it.")] = "",
        world: Annotated[
            str, Field(description="The state it begins in, such as a house or a repository that has a name.")
        ] = "",
        observation: Annotated[str, Field(description="What is seen at first.")] = "",
        facts: Shown = (),
    ) -> str:
        client = context.request_context.session.client_params
        agent = client.client_info.name if client else "an MCP client"
        task = tasks.begin(goal, kind, world, observation, _facts(facts), agent)
        return f"task {task.episode} begun: {goal}"

    def observe(
        observation: Annotated[str, Field(description="What was seen.")],
        action: Annotated[str, Field(description="The action that it answers, where there was one.")] = "",
        facts: Shown = (),
        task: Task = None,
    ) -> str:
        tasks.use(task).observe(observation, _facts(facts), action=action)
        return "observed"

    def finish_task(outcome: Literal["won", "lost"], task: Task = None) -> str:
        return f"task {tasks.finish(task, outcome).episode} ended: {outcome}"

    add("begin_task", "Begins a task and says its number.", begin_task)
    for tool in TOOLS:
        add(tool.name, tool.description, _verb(tasks, tool.name, bool(tool.parameters["required"])))
    add("observe", "Takes in what was seen, and the facts that it showed, of which belief consists.", observe)
    add("finish_task", "Ends a task: what was noted counts from now on, what was recalled is voted on.", finish_task)
    return server


def serve_stdio(tasks: OpenTasks) -> None:
    """Serve one client on standard input and output until it closes them, or until SIGINT or SIGTERM."""
    server = make_server(tasks)

    async def serve() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_end_on_signal, tasks)
            await server.run_stdio_async()
            group.cancel_scope.cancel()

    anyio.run(serve)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port, any free one for 0. Raises OutsideFault where it can't be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise OutsideFault(
            f"Port {port} of {host} can't be served: {why}. Name another, or 0 for any free one."
        ) from error


def serve_http(tasks: OpenTasks, listening: socket.socket) -> None:
    """Serve many clients on a socket that listens, until SIGINT or SIGTERM."""
    import uvicorn

    host = str(listening.getsockname()[0])
    config = uvicorn.Config(
        make_server(tasks).streamable_http_app(streamable_http_path=PATH, host=host),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_ENDING_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _verb(tasks: OpenTasks, name: str, needs_argument: bool) -> Callable[..., str]:
    def call(argument: Argument, task: Task = None) -> str:
        return tasks.use(task).call(name, argument)

    def call_alone(argument: Argument = "", task: Task = None) -> str:
        return tasks.use(task).call(name, argument)

    return call if needs_argument else call_alone


def _in_sentences(answer: Callable[_Parameters, str]) -> Callable[_Parameters, str]:
    """Return a tool that fails with the sentence of what went wrong, for the agent to read."""

    @wraps(answer)
    def tool(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> str:
        try:
            return answer(*arguments, **named)
        except (WrongUsage, OutsideFault) as error:
            raise ToolError(str(error)) from error

    return tool


def _facts(shown: tuple[ShownFact, ...]) -> list[Fact]:
    return [Fact(each.subject, each.relation, each.object) for each in shown]


async def _end_on_signal(tasks: OpenTasks) -> None:
    """End the process when it is told to: what reads standard input can't be interrupted otherwise."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
        async for number in received:
            tasks.abandon("the server was ended", _report)
            os._exit(128 + number)


def _report(error: Exception) -> None:
    _logger.error("A task couldn't be abandoned: %s", error)
