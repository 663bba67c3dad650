"""The server of the Model Context Protocol, driven by the official client over standard input and output and HTTP."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import entries
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.store import Store
from evoharness_cli.integration import open_tasks
from evoharness_cli.integration.mcp_server import make_server
from evoharness_cli.integration.open_tasks import OpenTasks

NAMES = ["begin_task", "track", "commit", "recall", "note", "observe", "finish_task"]
SHELF = [
    {"subject": "cup 1", "relation": "at", "object": "shelf 1"},
    {"subject": "shelf 1", "relation": "searched", "object": "yes"},
]
ENVIRONMENT = {**os.environ, "EVOHARNESS_CONFIG": os.devnull}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "experience.db"


def command(db: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "evoharness_cli", "mcp", "--db", str(db), "--scope", "household", *options]


def stdio(db: Path) -> StdioServerParameters:
    first, *rest = command(db)
    return StdioServerParameters(command=first, args=rest, env=ENVIRONMENT)


@contextmanager
def http(db: Path) -> Iterator[str]:
    """Serve over HTTP while the block lasts; yield the address."""
    with subprocess.Popen(command(db, "--http", "127.0.0.1:0"), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            yield server.stdout.readline().removeprefix("serving at ").strip()
        finally:
            server.send_signal(signal.SIGTERM)


def in_process(db: Path, shared: bool = False) -> Any:
    return make_server(OpenTasks(db, "household", shared))


async def ask(client: Client, tool: str, **arguments: object) -> str:
    """Call a tool and return its text, which has to be no error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return said(result)


async def refused(client: Client, tool: str, **arguments: object) -> str:
    """Call a tool that has to fail and return what it says."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return said(result)


def said(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def number_of(answer: str) -> int:
    match = re.match(r"task (\d+) begun", answer)
    assert match, answer
    return int(match[1])


async def fetch_a_cup(client: Client, note: str = "") -> str:
    """Do a task from its beginning to its end; return what was recalled."""
    task = number_of(await ask(client, "begin_task", goal="fetch a cup", kind="fetch", world="flat 3"))
    recalled = await ask(client, "recall", argument="cup", task=task)
    await ask(client, "observe", observation="You see a cup.", action="look", facts=SHELF, task=task)
    if note:
        await ask(client, "note", argument=note, task=task)
    assert await ask(client, "finish_task", outcome="won", task=task) == f"task {task} ended: won"
    return recalled


def drive(server: Any, play: Callable[[Client], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Client(server) as client:
            await play(client)

    anyio.run(main)


def test_over_stdio_a_second_task_recalls_what_the_first_noted_and_votes(db: Path) -> None:
    async def play(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == NAMES
        assert all(tool.description and tool.annotations for tool in listed)
        assert await fetch_a_cup(client, "the cup is on shelf 1") == "nothing relevant in experience"
        assert '[1] note: "the cup is on shelf 1"' in await fetch_a_cup(client)

    drive(stdio(db), play)

    with Store.open(db) as store:
        note = entries(store, kind="note")[0]
        assert (note.scope, note.helped) == ("household", pytest.approx(1 - 2 / 3))
        assert [run.status for run in journal.runs(store)] == ["finished", "finished"]
        assert journal.runs(store)[0].settings["model"] == "mcp"


def test_over_http_several_clients_work_on_one_server(db: Path) -> None:
    async def main(address: str) -> None:
        async with Client(address) as one, Client(address, mode="legacy") as other:
            mine = number_of(await ask(one, "begin_task", goal="fetch a cup", world="flat 3"))
            theirs = number_of(await ask(other, "begin_task", goal="fetch a mug", world="flat 3"))
            await ask(one, "note", argument="cups break easily", task=mine)
            assert await ask(other, "recall", argument="cups", task=theirs) == "nothing relevant in experience"
            assert "Expected `task`, the number that begin_task gave" in await refused(one, "track")
            await ask(one, "finish_task", outcome="won", task=mine)
            assert "cups break easily" in await ask(other, "recall", argument="cups", task=theirs)
            assert "not open here" in await refused(other, "track", task=mine)

    with http(db) as address:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", address)
        anyio.run(main, address)

    with Store.open(db) as store:
        assert [run.status for run in journal.runs(store)] == ["interrupted", "finished"]
        (left,) = journal.episodes(store, journal.runs(store)[0].id)
        assert (left.goal, left.fault) == ("fetch a mug", "abandoned: the server ended")


def test_two_servers_work_on_one_store_at_once(db: Path) -> None:
    async def main() -> None:
        async with Client(stdio(db)) as one, Client(stdio(db)) as other:
            await fetch_a_cup(one, "the cup is on shelf 1")
            assert '"the cup is on shelf 1"' in await fetch_a_cup(other)

    anyio.run(main)


def test_only_the_protocol_is_on_standard_output_and_a_client_that_leaves_leaves_nothing_active(db: Path) -> None:
    with Lines(command(db)) as server:
        server.begin("fetch a cup")
        server.call("note", argument="cups break easily")
        server.process.stdin.close()
        assert server.process.stdout.read() == ""
        assert server.process.wait() == 0

    with Store.open(db) as store:
        assert [(each.text, each.status) for each in entries(store)] == [("cups break easily", "dropped")]
        assert journal.runs(store)[0].status == "interrupted"


def test_ctrl_c_ends_it_while_it_waits_and_open_tasks_are_abandoned(db: Path) -> None:
    with Lines(command(db)) as server:
        server.begin("fetch a cup")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait() == 130

    with Store.open(db) as store:
        (episode,) = journal.episodes(store, 1)
        assert episode.fault == "abandoned: the server was ended"


def test_a_server_that_is_killed_leaves_the_store_whole(db: Path) -> None:
    with Lines(command(db)) as server:
        server.begin("fetch a cup")
        server.call("note", argument="cups break easily")
        server.process.kill()

    with Store.open(db) as store:
        assert health(store).sound
        assert [(each.text, each.status) for each in entries(store)] == [("cups break easily", "pending")]
    drive(in_process(db), lambda client: _recalls_nothing(client))


async def _recalls_nothing(client: Client) -> None:
    assert await fetch_a_cup(client) == "nothing relevant in experience"


def test_one_client_names_a_task_only_where_several_are_open(db: Path) -> None:
    async def play(client: Client) -> None:
        assert await refused(client, "track") == (
            "Error executing tool track: No task is open; begin one with begin_task."
        )
        await ask(client, "begin_task", goal="fetch a cup", observation="A flat.", facts=SHELF[:1])
        assert await ask(client, "track", argument="cup") == "cup 1 at shelf 1 (step 0)"
        await ask(client, "begin_task", goal="fetch a mug")
        assert "Tasks 1, 2 are open; say which is meant by `task`" in await refused(client, "track")
        assert "no plan" in await ask(client, "track", task=2)
        await ask(client, "finish_task", outcome="lost", task=2)
        await ask(client, "finish_task", outcome="won")

    drive(in_process(db), play)


def test_what_a_client_gets_wrong_is_said_in_a_sentence(db: Path) -> None:
    async def play(client: Client) -> None:
        assert "goal" in await refused(client, "begin_task", goal="")
        await ask(client, "begin_task", goal="fetch a cup")
        assert "argument" in await refused(client, "note")
        assert "expected note [...]" in await ask(client, "note", argument=" ")
        assert "outcome" in await refused(client, "finish_task", outcome="great")
        assert "facts" in await refused(client, "observe", observation="x", facts=[{"subject": "cup"}])
        await ask(client, "finish_task", outcome="won", task=1)
        assert "Task 1 is not open here" in await refused(client, "note", argument="x", task=1)

    drive(in_process(db), play)


def test_the_task_that_nobody_used_for_longest_makes_room(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_tasks, "MOST", 2)

    async def play(client: Client) -> None:
        for goal in ("first", "second"):
            await ask(client, "begin_task", goal=goal)
        await ask(client, "track", task=1)
        await ask(client, "begin_task", goal="third")
        assert "Task 2 is not open here" in await refused(client, "track", task=2)
        await ask(client, "track", task=1)

    drive(in_process(db), play)

    with Store.open(db) as store:
        assert [run.status for run in journal.runs(store)] == ["interrupted"] * 3
        (crowded,) = journal.episodes(store, 2)
        assert crowded.fault == "abandoned: 2 newer tasks were open at once"


def inspect(db: Path, *options: str) -> Any:
    """Return what the inspector's command line prints; skip where it can't be had."""
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip("npx is not installed")
    line = [npx, "--yes", "@modelcontextprotocol/inspector", "--cli", *command(db), *options]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if "npm error" in done.stderr:
        pytest.skip(f"npm can't get the inspector: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls_the_tools(db: Path) -> None:
    listed = inspect(db, "--method", "tools/list")
    begun = inspect(db, "--method", "tools/call", "--tool-name", "begin_task", "--tool-arg", "goal=fetch a cup")

    assert [tool["name"] for tool in listed["tools"]] == NAMES
    assert begun["content"] == [{"type": "text", "text": "task 1 begun: fetch a cup"}]


class Lines:
    """A client that speaks the protocol's own lines, so that all of standard output is seen."""

    def __init__(self, command: list[str]) -> None:
        self.process: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._asked = 0

    def __enter__(self) -> Lines:
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "lines", "version": "1"}}
        assert self.ask("initialize", client)["serverInfo"]["name"] == "evoharness"
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def begin(self, goal: str) -> None:
        self.call("begin_task", goal=goal)

    def call(self, tool: str, **arguments: object) -> None:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer

    def ask(self, method: str, parameters: dict[str, object]) -> dict[str, Any]:
        self._asked += 1
        self.send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": parameters})
        answer = json.loads(self.process.stdout.readline())
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self._asked)
        return dict(answer["result"])

    def send(self, message: dict[str, object]) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
