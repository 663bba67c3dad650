"""Tasks are played by a model on a server, within what they may cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import ORACLE, Command
from stand_in_server import Request, Response, StandIn, as_json, called, failed, said, serving

from evoharness_cli.models.openai.server import Patience

REPLIES = yaml.safe_load(ORACLE.read_text())["put-cd"]
PRICE = ("--price", "1000,10000,100")
"""A step of the oracle costs (60 * 1000 + 40 * 100 + 5 * 10000) / 1e6 USD."""
STEP = 0.114


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    with serving() as stand_in:
        stand_in.answers = [oracle]
        yield stand_in


def oracle(request: Request) -> Response:
    """Answer as the oracle does at this step, with 100 tokens of prompt, 40 of them cached, and 5 of reply."""
    number = sum(message["role"] == "assistant" for message in request.body["messages"])
    usage: dict[str, Any] = {"prompt_tokens": 100, "completion_tokens": 5}
    return said(REPLIES[number], {**usage, "prompt_tokens_details": {"cached_tokens": 40}})


def on(server: StandIn) -> tuple[object, ...]:
    return ("put-cd", "--model", "openai:some-model", "--base-url", server.url)


def spent(evoharness: Command) -> float:
    (episode,) = evoharness("inspect", "run", "--json").objects[0]["episodes"]
    cost: float = episode["cost"]
    return cost


def test_a_task_is_won_on_a_server_and_its_cost_shown(evoharness: Command, server: StandIn, db: Path) -> None:
    played = evoharness("run", *on(server), *PRICE)

    assert played.code == 0
    cost = f"{len(REPLIES) * STEP:.4f} USD"
    assert f"run 1: 1 of 1 won, {cost}. See it with" in played.out
    assert cost in evoharness("inspect", "run").out
    assert spent(evoharness) == pytest.approx(len(REPLIES) * STEP)
    assert b"sk-secret" not in db.read_bytes()
    assert "sk-secret" not in played.out + played.err


def test_calls_of_tools_are_played_and_thoughts_shown(evoharness: Command, server: StandIn) -> None:
    server.answers = [
        called("track", '{"what": "cd"}', reasoning_content="where is it?"),
        called("go_to", '{"what": "desk 1"}'),
        said("look"),
    ]
    evoharness("run", "put-cd", "--model", "openai-tools:m", "--base-url", server.url, "--max-steps", 3)

    (episode,) = evoharness("inspect", "run", "--json").objects[0]["episodes"]
    steps = [(step["kind"], step["action"], step["thought"]) for step in episode["steps"]]
    assert steps == [
        ("track", "track [cd]", "where is it?"),
        ("environment", "go to desk 1", ""),
        ("environment", "look", ""),
    ]
    assert "where is it?" in evoharness("inspect", "run").out


def test_a_run_ends_when_its_limit_is_spent_and_goes_on_with_more(evoharness: Command, server: StandIn) -> None:
    ended = evoharness("run", *on(server), *PRICE, "--max-cost", 2.5 * STEP)

    assert ended.code == 3
    assert len(server.requests) == 3
    assert ended.err == (
        f"error: Run 1 ended: {3 * STEP:.4f} USD were spent, and the limit is {2.5 * STEP:g} USD. "
        "Go on with more: evoharness run --resume 1 --max-cost USD\n"
    )
    again = evoharness("run", "--resume", 1)
    assert (again.code, len(server.requests)) == (3, 3)

    more = evoharness("run", "--resume", 1, "--max-cost", 4 * STEP)
    assert (more.code, len(server.requests)) == (3, 4)
    assert spent(evoharness) == pytest.approx(4 * STEP)

    assert evoharness("run", "--resume", 1, "--max-cost", 100).code == 0
    assert len(server.requests) == len(REPLIES)
    assert spent(evoharness) == pytest.approx(len(REPLIES) * STEP)


def test_the_limit_ends_the_whole_run_before_the_next_task(evoharness: Command, server: StandIn) -> None:
    ended = evoharness("run", "alfworld", *on(server)[1:], *PRICE, "--max-cost", STEP, "--json")
    assert (ended.code, ended.out, len(server.requests)) == (3, "", 1)


def test_tokens_of_a_reply_that_never_came_are_on_record_and_count(
    evoharness: Command, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Patience, "pause", lambda *_: 0.0)
    in_vain = as_json({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 1}})
    server.answers = [oracle, oracle, in_vain]
    failing = evoharness("run", *on(server), *PRICE, "--max-cost", 100, "--json")
    assert failing.code == 3
    assert "asked 8 times, answered with no choices" in failing.objects[0]["fault"]
    lost = 8 * (50 * 1000 + 1 * 10000) / 1e6
    assert failing.objects[0]["cost"] == spent(evoharness) == pytest.approx(2 * STEP + lost)
    assert failing.objects[0]["steps"] == 2

    server.answers = [oracle]
    limited = evoharness("run", "--resume", 1, "--max-cost", 2 * STEP + lost + STEP / 2)
    assert "Run 1 ended" in limited.err
    assert spent(evoharness) == pytest.approx(3 * STEP + lost)
    assert evoharness("run", "--resume", 1, "--max-cost", 100, "--json").objects[0]["outcome"] == "won"
    assert spent(evoharness) == pytest.approx(len(REPLIES) * STEP + lost)


def test_a_server_that_ails_leaves_a_run_that_can_be_resumed(evoharness: Command, server: StandIn) -> None:
    server.answers = [oracle, failed(401, "the key sk-secret-0123456789 has expired")]
    failing = evoharness("run", *on(server), "--json")
    assert failing.code == 3
    assert failing.objects[0]["fault"] == (
        f"The server at {server.url} refuses the key (401: the key [key] has expired): "
        "set OPENAI_API_KEY to one that it takes."
    )
    server.answers = [oracle]
    assert evoharness("run", "--resume", 1, "--json").objects[0]["outcome"] == "won"


def test_a_model_that_counts_nothing_cannot_be_limited(evoharness: Command, server: StandIn) -> None:
    server.answers = [said("look", {})]
    ended = evoharness("run", *on(server), *PRICE, "--max-cost", 1, "--json")
    assert ended.code == 3
    assert "states no tokens, so that --max-cost can't be kept" in ended.objects[0]["fault"]


def test_a_run_goes_on_on_the_server_where_it_began(
    evoharness: Command, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    server.answers = [oracle, failed(404, "gone")]
    assert evoharness("run", "put-cd", "--model", "openai:some-model", "--json").code == 3
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    refused = evoharness("run", "--resume", 1)
    assert refused.code == 2
    assert f"expected server {server.url}; found server http://127.0.0.1:1/v1" in refused.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--max-cost", 1), "Expected --price besides --max-cost"),
        (("--price", "cheap"), "Expected the price of a million tokens as IN,OUT"),
        (("--price", "1"), "Expected the price of a million tokens as IN,OUT"),
        (("--price", "1,2,3,4"), "Expected the price of a million tokens as IN,OUT"),
        (("--price", "1,-2"), "Expected a price that is no less than 0"),
        (("--price", "1,nan"), "Expected a price that is no less than 0"),
    ],
)
def test_a_price_that_cannot_be_read_is_wrong_usage(
    evoharness: Command, server: StandIn, options: tuple[object, ...], sentence: str
) -> None:
    ended = evoharness("run", *on(server), *options)
    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err
    assert evoharness("eval", "put-cd", "--model", "openai:m", *options).code == 2


def test_a_method_with_a_model_of_its_own_is_on_no_server_and_costs_nothing(
    evoharness: Command, server: StandIn, tmp_path: Path
) -> None:
    out = tmp_path / "compared.db"
    own = f"react,model=scripted:{ORACLE}"
    ended = evoharness("eval", *on(server), "--method", "bpe", "--method", own, *PRICE, "--out", out, "--json")

    assert (ended.code, len(server.requests)) == (0, len(REPLIES))
    costs = [evoharness("inspect", "run", run, "--db", out, "--json").objects[0]["episodes"][0] for run in (1, 2)]
    assert [episode["cost"] for episode in costs] == [pytest.approx(len(REPLIES) * STEP), None]
    refused = evoharness("eval", "put-cd", "--method", own, "--base-url", server.url, "--out", tmp_path / "other.db")
    assert (refused.code, "none of the methods is on a server" in refused.err) == (2, True)


def test_an_evaluation_plays_several_at_once_within_one_limit(
    evoharness: Command, server: StandIn, tmp_path: Path
) -> None:
    out = tmp_path / "compared.db"
    methods = ("--method", "react", "--method", "bpe")
    server.answers = [said("look", {"prompt_tokens": 100, "completion_tokens": 5})]
    play = ("alfworld", "--limit", 4, "--parallel", 4, "--max-steps", 3, *methods, *on(server)[1:], "--out", out)
    ended = evoharness("eval", *play, "--price", "1000,1000", "--max-cost", 1.0, "--json")

    assert ended.code == 3
    # The tenth reply reaches the limit, and up to three more were under way.
    assert 10 <= len(server.requests) <= 13
    assert f"Go on with more: evoharness eval --resume --out {out} --max-cost USD" in ended.err

    finished = evoharness("eval", "--resume", "--out", out, "--max-cost", 100, "--json")
    assert finished.code == 0
    episodes = [
        episode
        for run in (1, 2)
        for episode in evoharness("inspect", "run", run, "--db", out, "--json").objects[0]["episodes"]
    ]
    assert len(episodes) == 8
    assert sum(episode["cost"] for episode in episodes) == pytest.approx(0.105 * len(server.requests))
    assert json.dumps(episodes).count("sk-secret") == 0
