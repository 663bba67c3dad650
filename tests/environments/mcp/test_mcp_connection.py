"""Servers are connected to over standard input and output and over HTTP; what breaks the rules is one sentence."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from ledger import Served, serving

from evoharness_cli.environments.mcp.connection import Connection, McpFault, Result
from evoharness_cli.environments.mcp.needs import Server

HERE = Path(__file__).parent
Connect = Callable[..., Connection]


@pytest.fixture
def rude(tmp_path: Path) -> Iterator[Connect]:
    """Connects to a server that breaks the rules in one way."""
    opened: list[Connection] = []

    def connect(mode: str, timeout: float = 20.0) -> Connection:
        command = [sys.executable, str(HERE / "rude.py"), mode]
        opened.append(Connection(Server(command=command, timeout=timeout), command, str(tmp_path)))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


def test_tools_are_called_over_standard_input_and_output(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "ledger.py"), str(tmp_path / "entries")]
    with closing(Connection(Server(command=command), command, str(tmp_path))) as connection:
        assert [tool.name for tool in connection.tools] == ["entries", "add", "note", "account"]
        assert connection.instructions == "Amounts are in cents."
        assert connection.call("add", {"text": "stamps", "kind": "debit"}) == Result("entry 1")
        assert connection.call("entries", {}) == Result("debit 0: stamps")
        missing = connection.call("account", {"name": "x"})
        assert missing.failed
        assert "no such account: x" in missing.text


def test_tools_are_called_over_http_with_headers(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEDGER_TOKEN", "secret")
    server = Server(url=served.url, headers={"Authorization": "Bearer $LEDGER_TOKEN"})
    with closing(Connection(server, [], str(tmp_path))) as connection:
        assert connection.call("add", {"text": "ink", "kind": "credit", "amount": 3}) == Result("entry 1")
        assert connection.call("entries", {}) == Result("credit 3: ink")


def test_a_server_that_goes_away_is_one_sentence(tmp_path: Path) -> None:
    with serving(tmp_path / "entries") as served:
        connection = Connection(Server(url=served.url, timeout=20), [], str(tmp_path))
    with closing(connection), pytest.raises(McpFault) as caught:
        connection.call("entries", {})
    assert str(caught.value).startswith(f"The MCP server `{served.url}` failed in entries: ")
    assert "\n" not in str(caught.value)


def test_a_header_without_its_variable_is_one_sentence(tmp_path: Path) -> None:
    server = Server(url="http://127.0.0.1:9/mcp", headers={"Authorization": "Bearer $NO_SUCH_TOKEN"})
    with pytest.raises(McpFault, match="can't be used: the environment variable NO_SUCH_TOKEN isn't set"):
        Connection(server, [], str(tmp_path))


def test_an_address_where_nobody_is_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with pytest.raises(McpFault) as caught:
        Connection(Server(url=url), [], str(tmp_path))
    assert str(caught.value).startswith(f"The MCP server `{url}` can't be used: ")
    assert "\n" not in str(caught.value)


def test_a_command_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(McpFault, match="`no-such-server --now` can't be used: No such file or directory: no-such"):
        Connection(Server(command=["no-such-server"]), ["no-such-server", "--now"], str(tmp_path))


@pytest.mark.parametrize(
    ("mode", "timeout", "said"),
    [
        ("mute", 0.5, r"it didn't answer in 0\.5 seconds"),
        ("deaf", 20, r"it ended the connection\. It last said: cannot read the configuration"),
        ("endless", 20, "its list of tools goes on after 50 pages"),
    ],
)
def test_a_server_that_cannot_be_used_is_one_sentence(rude: Connect, mode: str, timeout: float, said: str) -> None:
    with pytest.raises(McpFault, match=f"rude.py {mode}` can't be used: {said}") as caught:
        rude(mode, timeout)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "timeout", "said"),
    [
        ("die", 20, r"it ended the connection\. It last said: out of memory"),
        ("hang", 0.5, r"it didn't answer in 0\.5 seconds"),
        ("flood", 0.5, r"it didn't answer in 0\.5 seconds"),
        ("chatter", 0.5, r"it didn't answer in 0\.5 seconds"),
        ("wrong", 20, "its answer is none that the protocol knows"),
    ],
)
def test_a_call_that_has_no_answer_is_one_sentence(rude: Connect, mode: str, timeout: float, said: str) -> None:
    connection = rude(mode)
    connection._timeout = timeout
    with pytest.raises(McpFault, match=f"rude.py {mode}` failed in read: {said}") as caught:
        connection.call("read", {})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "result"),
    [
        ("error", Result("path is missing", failed=True)),
        ("image", Result("[image: image/png]")),
        ("resource", Result("kept")),
        ("structured", Result('{"left": 2}')),
        ("empty", Result("(nothing)")),
        ("babble", Result("ok")),
    ],
)
def test_what_a_tool_returns_is_text(rude: Connect, mode: str, result: Result) -> None:
    assert rude(mode).call("read", {}) == result


def test_a_server_is_ended_and_sees_no_more_of_the_environment_than_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("LEDGER_REGION", "north")
    script = f'env >env; echo $$ >pid; exec "{sys.executable}" "{HERE / "rude.py"}" plain'
    command = ["sh", "-c", script]
    server = Server(command=command, env=["LEDGER_REGION", "LEDGER_UNSET"])

    with closing(Connection(server, command, str(tmp_path))) as connection:
        pid = int((tmp_path / "pid").read_text())
        os.kill(pid, 0)
    connection.close()

    seen = (tmp_path / "env").read_text()
    assert "LEDGER_REGION=north" in seen
    assert "secret" not in seen
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
