"""A server that answers, and misbehaves, as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Response:
    """What is sent: a code, headers, and a body, of which only the first `cut` bytes are sent where that is set."""

    code: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


@dataclass
class Request:
    """What was asked, with headers by their names in small letters."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Answering = Callable[[Request], Response]


@dataclass
class StandIn:
    """The server: it answers the n-th request with the n-th of `answers`, and all later ones with the last."""

    url: str
    answers: list[Response | Answering] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def answer(self, request: Request) -> Response:
        """Note a request and return what to send."""
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        return answer if isinstance(answer, Response) else answer(request)


def said(
    content: str | None = "look", usage: dict[str, Any] | None = None, finish: str = "stop", **message: Any
) -> Response:
    """Return a completion that says something; usage is 100 tokens of prompt and 5 of reply unless given."""
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105} if usage is None else usage
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": content, **message},
    }
    return as_json({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage})


def called(tool: str, arguments: str, **message: Any) -> Response:
    """Return a completion that calls a tool."""
    call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": arguments}}
    return said(message.pop("content", None), finish="tool_calls", tool_calls=[call], **message)


def failed(status: int, message: str, headers: dict[str, str] | None = None, **error: Any) -> Response:
    """Return an error as servers word it."""
    return as_json({"error": {"message": message, **error}}, status, headers)


def as_json(content: object, code: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a response whose body is JSON."""
    return Response(code, json.dumps(content).encode(), {"Content-Type": "application/json", **(headers or {})})


@contextmanager
def serving() -> Iterator[StandIn]:
    """Run a server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            response = stand_in.answer(Request(self.path, headers, body))
            self.send_response(response.code)
            for name, value in {"Content-Length": str(len(response.body)), **response.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body[: response.cut])
            self.close_connection = response.cut is not None

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Say nothing of who gave up."""

    server = Server(("127.0.0.1", 0), Handler)
    stand_in = StandIn(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
