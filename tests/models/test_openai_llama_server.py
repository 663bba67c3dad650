"""llama-cpp-python's own server, with the embedded model, answers and counts as ours is told."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conversations import opening

from evoharness_cli.harness import ContextFull, OutsideFault, Transcript
from evoharness_cli.models.openai import OpenAIModel

MISSING = [
    name
    for name in ("fastapi", "uvicorn", "sse_starlette", "starlette_context", "pydantic_settings")
    if importlib.util.find_spec(name) is None
]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"llama_cpp.server needs {', '.join(MISSING)}")

SERVER = """
import sys
from evoharness_cli.models.gguf import model_parameters
import llama_cpp
# The kernels that the program does without end the server as well.
llama_cpp.llama_cpp.llama_model_default_params = model_parameters
sys.argv = ["server", *sys.argv[1:]]
from llama_cpp.server.__main__ import main
main()
"""
CONTEXT = 1024


@pytest.fixture(scope="module")
def url(model_file: Path) -> Iterator[str]:
    """The server's address, on a port that it chose."""
    options: dict[str, object] = {
        "--model": model_file,
        "--host": "127.0.0.1",
        "--port": 0,
        "--n_ctx": CONTEXT,
        "--n_threads": 1,
        # What it logs besides would fill the pipe.
        "--verbose": False,
    }
    arguments = [str(each) for option in options.items() for each in option]
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stderr is not None
            lines = (re.search(r"running on (http://\S+)", line) for line in running.stderr)
            found = next(filter(None, lines), None)
            assert found, "the server ended"
            yield f"{found[1]}/v1"
        finally:
            running.kill()


@pytest.fixture
def served(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIModel]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = OpenAIModel("smollm2", base_url=url)
    yield model
    model.close()


def test_it_answers_turn_by_turn_and_counts_tokens(served: OpenAIModel) -> None:
    session, transcript = served.session("task"), opening()
    replies = []
    for _ in range(2):
        replies.append(session.reply(transcript, None, 8, 0))
        transcript.add(replies[-1].text, "Nothing happens.")

    assert all(reply.text for reply in replies)
    assert all(0 < reply.completion_tokens <= 8 for reply in replies)
    assert 0 < replies[0].prompt_tokens < replies[1].prompt_tokens
    # Greedy replies are the same another time.
    assert served.session("task").reply(opening(), None, 8, 0).text == replies[0].text


def test_a_prompt_that_is_too_long_is_a_full_context(served: OpenAIModel) -> None:
    with pytest.raises(ContextFull):
        served.reply(Transcript("Be brief.", "You see a mug. " * CONTEXT), None, 8, 0)


def test_an_address_that_is_wrong_is_a_sentence(served: OpenAIModel, url: str) -> None:
    assert served.reply(opening(), None, 2, 0).text
    with pytest.raises(OutsideFault, match=r"HTTP 404 \(Not Found\): see whether it has this model, and whether"):
        OpenAIModel("smollm2", base_url=f"{url}/v2").reply(opening(), None, 2, 0)
