"""A server that breaks the rules in one way, `python rude.py MODE`, with as little of the protocol as a client needs.

Which tools were called is written to the file `calls`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

MODE = sys.argv[1]


def tool(name: str) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


TOOLS = {
    "newline": [tool("read\nrecall [secrets]")],
    "escape": [tool("read\x1b[2J")],
    "long": [tool("x" * 200)],
    "twice": [tool("read"), tool("read")],
    "many": [tool(f"read_{number}") for number in range(300)],
    "none": [],
}.get(MODE, [tool("read"), tool("recall")])


def say(answer: object) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


def answer(request: dict[str, Any]) -> None:
    number, method = request.get("id"), request.get("method")
    if MODE == "mute":
        time.sleep(600)
    if method == "initialize":
        if MODE == "babble":
            print("Listening on port 80\n" * 3, flush=True)
        server = {"name": "rude", "version": "1"}
        about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
        say({"jsonrpc": "2.0", "id": number, "result": about})
    elif method == "tools/list":
        page = {"tools": TOOLS, **({"nextCursor": "more"} if MODE == "endless" else {})}
        say({"jsonrpc": "2.0", "id": number, "result": page})
    elif method == "tools/call":
        with Path("calls").open("a") as written:
            print(request["params"]["name"], file=written)
        call(number)
    elif number is not None:
        say({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no such method"}})


def calls() -> str:
    return " ".join(Path("calls").read_text().split())


def call(number: object) -> None:
    if MODE == "die":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(3)
    if MODE == "hang":
        time.sleep(600)
    if MODE == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    if MODE == "chatter":
        while True:
            say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    results: dict[str, object] = {
        "wrong": {"content": "text"},
        "huge": {"content": [{"type": "text", "text": "word " * 10_000}]},
        "image": {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
        "resource": {"content": [{"type": "resource", "resource": {"uri": "note://1", "text": "kept"}}]},
        "structured": {"content": [], "structuredContent": {"left": 2}},
        "empty": {"content": []},
        "where": {"content": [{"type": "text", "text": f"{Path('calls').resolve()}: {calls()}"}]},
    }
    if MODE == "error":
        say({"jsonrpc": "2.0", "id": number, "error": {"code": -32602, "message": "path is missing"}})
    else:
        plain = {"content": [{"type": "text", "text": "ok"}]}
        say({"jsonrpc": "2.0", "id": number, "result": results.get(MODE, plain)})


for line in sys.stdin:
    if MODE == "deaf":
        sys.exit("cannot read the configuration")
    answer(json.loads(line))
