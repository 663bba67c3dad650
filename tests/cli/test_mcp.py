"""`evoharness mcp` as a command; what it serves is tested in tests/integration."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from commands import Command

from evoharness_cli import Harness


@pytest.mark.parametrize("place", ["8000", "0.0.0.0:8000", "example.org:80", "127.0.0.1:", "127.0.0.1:70000", ""])
def test_it_serves_this_machine_only(evoharness: Command, db: Path, place: str) -> None:
    ended = evoharness("mcp", "--http", place)

    assert ended.code == 2
    assert f"found {place!r}" in ended.err
    assert not db.exists()


def test_a_port_that_is_taken_is_a_sentence(evoharness: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = evoharness("mcp", "--http", f"127.0.0.1:{port}")

    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith(f"error: Port {port} of 127.0.0.1 can't be served: Address already in use. Name")


def test_a_file_that_is_no_store_is_refused(evoharness: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no store at all" * 100)
    ended = evoharness("mcp", "--db", tmp_path / "notes.txt")

    assert (ended.code, ended.out) == (3, "")
    assert "is not an SQLite database" in ended.err


def test_what_another_agent_did_is_inspected_like_a_run_and_not_resumed(evoharness: Command, db: Path) -> None:
    with Harness(db, "fetch a cup", "household", agent="tester") as harness:
        harness.observe("You see a cup.", [("cup 1", "at", "shelf 1")], action="look")
        harness.call("note", "cups break easily")
        harness.finish("won")

    (listed,) = evoharness("inspect", "runs", "--json").objects
    assert (listed["status"], listed["won"], listed["settings"]["model"]) == ("finished", 1, "tester")
    shown = evoharness("inspect", "run").out
    assert "goal fetch a cup" in shown
    assert "note [cups break easily]" in shown
    resumed = evoharness("run", "--resume", 1)
    assert resumed.code == 2
    assert "Run 1 was played by another program's agent (tester)" in resumed.err
