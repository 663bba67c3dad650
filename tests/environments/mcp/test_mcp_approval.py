"""A person at a terminal is asked which calls may be made, and whether a request was fulfilled."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evoharness_cli.environments.mcp import approval
from evoharness_cli.environments.mcp.adapter import McpAdapter
from evoharness_cli.environments.mcp.approval import Approval, ask
from evoharness_cli.environments.mcp.needs import Approve, McpNeeds
from evoharness_cli.environments.mcp.offers import Offer

READ = Offer("read", "read", "read {}", "", writes=False)
WRITE = Offer("write", "write", "write {}", "", writes=True)


@contextmanager
def person(types: str) -> Iterator[None]:
    """Make standard input and error a terminal, at which a person types."""
    keyboard, terminal = os.openpty()
    with (
        open(terminal, closefd=False) as stdin,
        open(terminal, "w", closefd=False) as stderr,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("sys.stdin", stdin)
        patch.setattr("sys.stderr", stderr)
        os.write(keyboard, types.encode())
        yield
    os.close(keyboard)
    os.close(terminal)


def test_calls_are_asked_about_as_the_task_says() -> None:
    assert Approval(Approve.NONE).refusal(WRITE, "write {}") is None
    assert Approval(Approve.WRITING).refusal(READ, "read {}") is None
    with person("y\nn\nyes\n"):
        assert Approval(Approve.WRITING).refusal(WRITE, "write {}") is None
        assert Approval(Approve.WRITING).refusal(WRITE, "write {}") == "not called: a person refused write"
        assert Approval(Approve.ALL).refusal(READ, "read {}") is None


def test_what_is_always_allowed_is_asked_about_once_in_a_task() -> None:
    approval = Approval(Approve.ALL)
    with person("a\nn\nn\n"):
        assert [approval.refusal(WRITE, "write {}") for _ in range(3)] == [None] * 3
        assert approval.refusal(READ, "read {}") == "not called: a person refused read"
        assert Approval(Approve.ALL).refusal(WRITE, "write {}") == "not called: a person refused write"


def test_an_answer_that_is_none_is_asked_for_again() -> None:
    with person("what?\n\nN\n"):
        assert ask("Is it? [y]es, [n]o:", "yn") == "n"


def test_an_input_that_ends_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert ask("Is it?", "yn") == "n"


def test_the_view_is_still_while_a_person_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    @contextmanager
    def still() -> Iterator[None]:
        seen.append("still")
        yield
        seen.append("on")

    monkeypatch.setattr(approval, "undisturbed", still)
    with person("y\n"):
        assert (ask("Is it?", "yn"), seen) == ("y", ["still", "on"])


def test_a_person_judges() -> None:
    needs = McpNeeds.model_validate(
        {"server": {"command": ["x"]}, "request": "Do it.", "success": "person", "folder": "/"}
    )
    with person("y\nn\n"):
        environment = McpAdapter().open(needs, None)
        assert environment.step("submit all done").success
        assert not environment.step("submit all done").success
    environment.close()
