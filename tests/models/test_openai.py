"""A model on a server: what is sent, what is read, and what each fault of a server comes to."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from conversations import NAMES, at_once, opening
from stand_in_server import Request, Response, StandIn, as_json, called, failed, said, serving

from evoharness_cli.harness import (
    Constraint,
    ContextFull,
    Decode,
    EnvironmentAction,
    FormatError,
    OutsideFault,
    Transcript,
    WrongUsage,
    parse_reply,
)
from evoharness_cli.harness.constraint import constrain
from evoharness_cli.models import UnusableOption, load_model
from evoharness_cli.models.openai import OpenAIModel, Patience
from evoharness_cli.models.unanswered import Unanswered

KEY = "sk-test-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A server that no proxy stands before."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving() as stand_in:
        yield stand_in


class Time:
    """A clock that only pauses move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def model(server: StandIn, time: Time) -> Iterator[OpenAIModel]:
    with_clock = OpenAIModel("some-model", base_url=server.url, clock=time, sleep=time.sleep)
    yield with_clock
    with_clock.close()


def reply(model: OpenAIModel, transcript: Transcript | None = None, constraint: Constraint | None = None) -> Any:
    return model.session("task").reply(transcript or opening(), constraint, 64, 7)


def test_what_is_sent_and_what_comes_back(server: StandIn, model: OpenAIModel) -> None:
    server.answers = [
        said(
            "go to desk 1",
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}},
        )
    ]

    answered = reply(model, Transcript("Be brief.", "You see a mug."))

    counted = (answered.prompt_tokens, answered.completion_tokens, answered.evaluated_tokens)
    assert (answered.text, counted) == ("go to desk 1", (100, 5, 40))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "You see a mug."}],
        "max_tokens": 64,
        "seed": 7,
        "temperature": 0.0,
    }


def test_each_request_begins_with_the_one_before_so_that_the_server_finds_it_cached(
    server: StandIn, model: OpenAIModel
) -> None:
    server.answers = [
        said("look", reasoning_content="where am I?"),
        said("<think>hm</think>\n<action>go to desk 1</action>"),
        said("<think>I must not say"),
        said("take mug 1 from desk 1"),
    ]
    transcript = opening()
    session = model.session("task")

    for _ in server.answers:
        transcript.add(session.reply(transcript, None, 64, 0).text, "Nothing happens.")

    sent = [request.body["messages"] for request in server.requests]
    for earlier, later in itertools.pairwise(sent):
        assert later[: len(earlier)] == earlier
    replies = [message["content"] for message in sent[-1] if message["role"] == "assistant"]
    assert replies == ["look", "<action>go to desk 1</action>", "(no action)"]


@pytest.mark.parametrize(
    ("message", "thought", "action"),
    [
        ({"content": "look"}, "", "look"),
        ({"content": "look", "reasoning_content": "to see"}, "to see", "look"),
        ({"content": "look", "reasoning": "to see"}, "to see", "look"),
        ({"content": "<think>to\nsee</think>\n\nlook\n"}, "to\nsee", "look"),
        ({"content": "to see</think>look"}, "to see", "look"),
        ({"content": "<think>a</think><action>look</action>", "reasoning": "</think> b"}, "b\na", "look"),
        ({"content": [{"type": "text", "text": "lo"}, {"type": "text", "text": "ok"}]}, "", "look"),
    ],
)
def test_what_was_thought_is_kept_out_of_the_action(
    server: StandIn, model: OpenAIModel, message: dict[str, Any], thought: str, action: str
) -> None:
    server.answers = [said(**message)]

    parsed = parse_reply(reply(model).text)

    assert parsed.thought == thought
    assert parsed.action == EnvironmentAction(action)


@pytest.mark.parametrize(
    "message", [{"content": None}, {"content": "", "reasoning_content": "so long"}, {"content": "<think>so long"}]
)
def test_a_reply_that_ends_before_its_action_is_a_format_error_that_costs_its_tokens(
    server: StandIn, model: OpenAIModel, message: dict[str, Any]
) -> None:
    server.answers = [said(finish="length", **message)]

    answered = reply(model)

    assert isinstance(parse_reply(answered.text).action, FormatError)
    assert (answered.prompt_tokens, answered.completion_tokens) == (100, 5)


def test_an_answer_without_usage_is_taken_and_counts_nothing(server: StandIn, model: OpenAIModel) -> None:
    for usage in ({}, {"prompt_tokens": "many"}, {"prompt_tokens": -3}):
        server.answers = [said("look", usage)]
        answered = reply(model)
        assert (answered.text, answered.prompt_tokens, answered.completion_tokens) == ("look", 0, 0)


PASSING = [
    failed(429, "slow down", {"Retry-After": "3"}),
    failed(500, "oh no"),
    failed(503, "busy"),
    Response(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"}),
    Response(200, b'{"choices": [{"message": {"content": "lo', {"Content-Type": "application/json"}),
    Response(200, said().body, {"Content-Type": "application/json"}, cut=20),
    Response(200, b"", {"Content-Type": "application/json"}),
    Response(200, b"It works!", {"Content-Type": "text/html"}),
    as_json(["look"]),
    as_json({"choices": [{"message": "look"}]}),
    as_json({"error": {"message": "upstream broke", "code": 502}}),
    as_json({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 0}}),
    as_json({"choices": None}),
]


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: f"{fault.code} {fault.body[:40]!r}")
def test_a_fault_that_passes_is_followed_by_another_attempt(
    server: StandIn, model: OpenAIModel, time: Time, fault: Response
) -> None:
    server.answers = [fault, fault, said("look")]

    assert reply(model).text == "look"

    assert len(server.requests) == 3
    assert len(time.pauses) == 2
    if "Retry-After" in fault.headers:
        assert time.pauses == [3, 3]
    else:
        assert 0.75 <= time.pauses[0] <= 1 < 1.5 <= time.pauses[1] <= 2


ENDING = [
    (failed(429, "slow down"), 8, "asked 8 times, has had too many requests (429: slow down): go on later."),
    (failed(429, "slow down", {"Retry-After": "3600"}), 1, "it asks to wait 3,600 seconds"),
    (failed(429, "no credit", code="insufficient_quota"), 1, "wants to be paid (429: no credit)"),
    (failed(500, "oh no"), 8, "answered with HTTP 500 (oh no)"),
    (failed(401, "bad key"), 1, "refuses the key (401: bad key): set OPENAI_API_KEY to one that it takes."),
    (failed(404, "no such model"), 1, "HTTP 404 (no such model): see whether it has this model"),
    (failed(400, "no system messages"), 1, "HTTP 400 (no system messages): see what its model takes."),
    (as_json({"detail": [{"loc": ["body"], "msg": "odd"}]}, 422), 1, "HTTP 422 (odd)"),
    (Response(200, said().body, {"Content-Type": "application/json"}, cut=20), 8, "broke off"),
    (Response(200, b"It works!", {"Content-Type": "text/html"}), 8, "answered with no JSON: It works!"),
    (as_json({"choices": []}), 8, "answered with no choices"),
    (as_json({"choices": [{"message": "look"}]}), 8, "JSON of another form: at choices.0.message"),
    (as_json({"error": {"message": "upstream broke"}}), 8, "answered with an error: upstream broke"),
]


@pytest.mark.parametrize(("fault", "attempts", "sentence"), ENDING, ids=lambda each: str(each)[:40])
def test_a_fault_that_stays_ends_in_one_sentence(
    server: StandIn, model: OpenAIModel, fault: Response, attempts: int, sentence: str
) -> None:
    server.answers = [fault]

    with pytest.raises(OutsideFault) as caught:
        reply(model)

    assert len(server.requests) == attempts
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"The server at {server.url}{', asked' if attempts > 1 else ' '}")
    assert "\n" not in str(caught.value)


def test_a_pause_may_be_asked_for_as_a_date(server: StandIn, model: OpenAIModel, time: Time) -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    server.answers = [failed(503, "later", {"Retry-After": at}), said()]

    reply(model)

    assert 90 < time.pauses[0] <= 100


def test_tokens_of_attempts_in_vain_are_counted(server: StandIn, model: OpenAIModel) -> None:
    in_vain = as_json({"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 2}})
    server.answers = [in_vain, failed(500, "oh no"), in_vain, said("look")]
    answered = reply(model)
    assert (answered.prompt_tokens, answered.completion_tokens) == (90 + 90 + 100, 2 + 2 + 5)

    server.answers = [in_vain]
    with pytest.raises(Unanswered) as caught:
        reply(model)
    assert (caught.value.spent.prompt_tokens, caught.value.spent.completion_tokens) == (8 * 90, 8 * 2)


def test_nobody_is_asked_forever(server: StandIn, time: Time) -> None:
    patience = Patience(whole=10, first_pause=5)
    server.answers = [failed(500, "oh no")]
    model = OpenAIModel("m", base_url=server.url, patience=patience, clock=time, sleep=time.sleep)
    with pytest.raises(OutsideFault, match="asked 2 times"):
        reply(model)
    assert time.now <= 10


def test_a_slow_server_is_given_up(server: StandIn, time: Time) -> None:
    held = threading.Event()

    def hold(_: Request) -> Response:
        held.wait()
        return said()

    server.answers = [hold, said("look")]
    patient = Patience(answer=0.2)
    model = OpenAIModel("m", base_url=server.url, patience=patient, clock=time, sleep=time.sleep)
    assert reply(model).text == "look"

    server.answers = [hold]
    model = OpenAIModel("m", base_url=server.url, patience=Patience(answer=0.2, attempts=2), sleep=time.sleep)
    with pytest.raises(OutsideFault, match="asked 2 times, gave no answer in time"):
        reply(model)
    held.set()


def test_an_answer_that_trickles_in_is_given_up(server: StandIn) -> None:
    ticking = itertools.count(0, 700)
    server.answers = [said("look")]
    once = Patience(attempts=1)
    model = OpenAIModel("m", base_url=server.url, patience=once, clock=lambda: float(next(ticking)))
    with pytest.raises(OutsideFault, match="was not done after 600 seconds"):
        reply(model)


def test_an_endless_answer_is_not_read_to_its_end(server: StandIn, model: OpenAIModel) -> None:
    server.answers = [Response(200, b" " * (17 * 2**20), {"Content-Type": "application/json"})]
    with pytest.raises(OutsideFault, match="sent more than 16 MiB"):
        reply(model)


@pytest.mark.usefixtures("server")
def test_where_nothing_listens_nothing_is_waited_for(time: Time) -> None:
    with serving() as gone:
        pass
    model = OpenAIModel("m", base_url=gone.url, clock=time, sleep=time.sleep)
    with pytest.raises(OutsideFault, match=r"can't be reached \(.*refused.*\): see whether it runs there"):
        reply(model)
    assert time.pauses == []


@pytest.mark.parametrize(
    "fault",
    [
        failed(400, "too long", code="context_length_exceeded"),
        failed(400, "Requested tokens (900) exceed context window of 512"),
        failed(400, "This model's maximum context length is 8192 tokens, max_tokens is 64"),
        failed(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        Response(413, b"Request too large"),
    ],
    ids=lambda fault: fault.body[:60].decode(),
)
def test_a_prompt_that_is_too_long_for_the_server_is_a_full_context(
    server: StandIn, model: OpenAIModel, fault: Response
) -> None:
    server.answers = [fault]
    with pytest.raises(ContextFull):
        reply(model)


def test_a_context_that_is_asked_for_is_kept_by_what_the_server_counts(server: StandIn) -> None:
    model = OpenAIModel("m", base_url=server.url, context=400)
    transcript, session = opening(), model.session("task")
    characters = sum(len(message.text) for message in transcript.messages)
    server.answers = [said("look", {"prompt_tokens": characters, "completion_tokens": 1})]
    assert (characters + 200) / 4 + 64 < 400 < characters + 200

    session.reply(transcript, None, 64, 0)
    transcript.add("look", "x" * 200)
    with pytest.raises(ContextFull):
        session.reply(transcript, None, 64, 0)


def test_what_a_server_does_not_know_is_left_out_from_then_on(server: StandIn, model: OpenAIModel) -> None:
    server.answers = [
        failed(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens"),
        failed(400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature"),
        as_json({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs", "input": {"max_tokens": 64}}]}, 422),
        said("look"),
    ]

    assert reply(model).text == reply(model).text == "look"

    for request in server.requests[3:]:
        assert set(request.body) == {"model", "messages", "max_completion_tokens"}
    assert len(server.requests) == 5


def test_several_that_are_refused_at_once_all_go_on(server: StandIn, model: OpenAIModel) -> None:
    together = threading.Barrier(4)

    def strict(request: Request) -> Response:
        if "seed" not in request.body:
            return said("look")
        together.wait(timeout=60)
        return failed(400, "Unknown parameter: 'seed'.")

    server.answers = [strict]
    assert [each.text for each in at_once([lambda: reply(model)] * 4)] == ["look"] * 4


def test_a_server_that_wants_no_key_needs_none(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    server.answers = [said("look")]
    assert reply(OpenAIModel("m", base_url=server.url)).text == "look"
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_the_key_is_that_of_the_variable_named_and_nowhere_said(
    server: StandIn, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTHER_KEY", "other-key-987")
    server.answers = [failed(401, "Incorrect API key provided: other-key-987")]
    model = OpenAIModel("m", base_url=server.url, key_variable="OTHER_KEY")
    with caplog.at_level("DEBUG"), pytest.raises(OutsideFault) as caught:
        reply(model)
    assert server.requests[0].headers["authorization"] == "Bearer other-key-987"
    assert "provided: [key]): set OTHER_KEY" in str(caught.value)
    assert "other-key-987" not in f"{caplog.text}{json.dumps(model.fingerprint)}{model._server._key!r}"


def test_an_address_of_the_environment_holds_no_secret_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@127.0.0.1/v1")
    with pytest.raises(WrongUsage, match=r"address of 127\.0\.0\.1 without user") as caught:
        OpenAIModel("m")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://a/v1", "http://", "http://u:p@a/v1", "https://a/v1?key=1"])
def test_an_address_that_is_none_or_holds_a_secret_is_refused(url: str) -> None:
    with pytest.raises(WrongUsage, match="address of"):
        OpenAIModel("m", base_url=url)


@pytest.mark.parametrize("key", ["sk-\u201cquoted\u201d", "sk-1\nsk-2"])
def test_a_key_that_cannot_be_sent_is_refused_unsaid(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(WrongUsage, match="key in OPENAI_API_KEY to be of letters") as caught:
        OpenAIModel("m")
    assert "sk-" not in str(caught.value)


def test_halves_of_characters_are_not_sent(server: StandIn, model: OpenAIModel) -> None:
    server.answers = [as_json({"choices": [{"message": {"content": "say \ud800"}}]}), said("look")]
    transcript = Transcript("Be brief.", "You see \udcff.")
    session = model.session("task")
    transcript.add(session.reply(transcript, None, 8, 0).text, "Nothing happens.")
    assert session.reply(transcript, None, 8, 0).text == "look"
    sent = [message["content"] for message in server.requests[1].body["messages"]]
    assert sent == ["Be brief.", "You see ?.", "say ?", "Nothing happens."]


def test_it_is_loaded_by_its_scheme_and_other_models_take_no_server(server: StandIn, tmp_path: Path) -> None:
    server.answers = [said("look")]
    model = load_model("openai:org/some:model", base_url=server.url, temperature=0.5, slots=4, adapter=None)
    assert model.reply(opening(), None, 8, 0).text == "look"
    assert (server.requests[0].body["model"], server.requests[0].body["temperature"]) == ("org/some:model", 0.5)
    served = {"model": "org/some:model", "server": server.url}
    assert model.fingerprint == {**served, "tools": False, "context": None, "temperature": 0.5}
    with pytest.raises(WrongUsage, match="name of a model after openai:"):
        load_model("openai:")
    with pytest.raises(UnusableOption, match="no adapter"):
        load_model("openai:m", adapter=tmp_path / "a.gguf")
    with pytest.raises(UnusableOption, match="smollm2-135m is on no server: leave --base-url out"):
        load_model("smollm2-135m", base_url=server.url)


def test_many_sessions_ask_at_once(server: StandIn, model: OpenAIModel) -> None:
    def named(request: Request) -> Response:
        return said(request.body["messages"][1]["content"][:25])

    server.answers = [named]
    calls: list[Callable[[], Any]] = [lambda number=number: reply(model, opening(number)) for number in range(8)]
    answered = at_once(calls)
    assert [each.text for each in answered] == [opening(number).messages[1].text[:25].strip() for number in range(8)]


def house(decode: Decode = Decode.GRAMMAR) -> Constraint:
    forms = ["go to {r}", "take {o} from {r}", "look", "shout {words}"]
    constraint = constrain(decode, forms, NAMES, ["look", "go to desk 1"], ["track", "commit", "recall", "note"])
    assert constraint is not None
    return constraint


@pytest.fixture
def with_tools(server: StandIn) -> OpenAIModel:
    return OpenAIModel("m", base_url=server.url, tools=True)


def test_the_actions_and_the_verbs_are_tools_that_stay_the_same(server: StandIn, with_tools: OpenAIModel) -> None:
    server.answers = [called("take_from", '{"what": "mug 1", "from": "desk 1"}')]

    assert reply(with_tools, constraint=house()).text == "take mug 1 from desk 1"

    body = server.requests[0].body
    tools = {tool["function"]["name"]: tool["function"] for tool in body["tools"]}
    assert list(tools) == ["go_to", "take_from", "look", "shout", "track", "commit", "recall", "note"]
    assert tools["take_from"]["description"] == "take {what} from {from}"
    assert tools["take_from"]["parameters"] == {
        "type": "object",
        "properties": {"what": {"type": "string"}, "from": {"type": "string"}},
        "required": ["what", "from"],
    }
    assert (body["tool_choice"], body["parallel_tool_calls"]) == ("required", False)
    # Names come and go; what a server has cached begins with the tools.
    assert "mug 1" not in json.dumps(body["tools"])


@pytest.mark.parametrize(
    ("tool", "arguments", "action"),
    [
        ("go_to", '{"what": "desk\\n1"}', "go to desk 1"),
        ("look", "{}", "look"),
        ("look", "", "look"),
        ("note", '{"what": "the mug is clean"}', "note [the mug is clean]"),
        ("track", "{}", "track []"),
        ("go_to", '{"where": "desk 1"}', "go to"),
        ("go_to", '["desk 1"]', "go to"),
        ("fly_to", '{"what": "desk 1"}', 'fly_to {"what": "desk 1"}'),
    ],
)
def test_a_call_is_the_action_that_it_means(
    server: StandIn, with_tools: OpenAIModel, tool: str, arguments: str, action: str
) -> None:
    server.answers = [called(tool, arguments)]
    assert reply(with_tools, constraint=house()).text == action


def test_what_is_said_beside_a_call_is_a_thought(server: StandIn, with_tools: OpenAIModel) -> None:
    server.answers = [called("look", "{}", content="Let me see.", reasoning_content="where?")]
    parsed = parse_reply(reply(with_tools, constraint=house()).text)
    assert (parsed.thought, parsed.action) == ("where?\nLet me see.", EnvironmentAction("look"))


def test_admissible_actions_are_one_tool_with_a_choice(server: StandIn, with_tools: OpenAIModel) -> None:
    server.answers = [called("act", '{"what": "go to desk 1"}')]
    assert reply(with_tools, constraint=house(Decode.ADMISSIBLE)).text == "go to desk 1"
    act = server.requests[0].body["tools"][0]["function"]
    assert act["parameters"]["properties"]["what"]["enum"] == ["look", "go to desk 1"]


def test_a_server_without_tools_says_so_and_a_text_in_their_place_is_read(
    server: StandIn, with_tools: OpenAIModel
) -> None:
    server.answers = [said("look")]
    assert reply(with_tools, constraint=house()).text == "look"
    server.answers = [failed(400, "tools are not supported")]
    with pytest.raises(OutsideFault, match="openai:NAME does without tools"):
        reply(with_tools, constraint=house())


def test_free_text_needs_no_tools(server: StandIn, with_tools: OpenAIModel) -> None:
    server.answers = [said("look")]
    assert reply(with_tools).text == "look"
    assert "tools" not in server.requests[0].body
