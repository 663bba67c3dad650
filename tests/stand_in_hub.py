"""A stand-in of the hub: what the client asks for when it fetches a file, over HTTP on this machine."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_RANGE = re.compile(r"bytes=(\d+)-")


@dataclass
class Hub:
    """One file of one repository. `cuts` says after how many bytes each GET in turn breaks off; None is never."""

    url: str
    path: str
    content: bytes
    sha256: str
    """What it states of the content."""
    cuts: list[int | None] = field(default_factory=list)
    code: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    """Besides those of a file; with another code, these alone."""
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Each request's method, path and range."""

    @property
    def ranges(self) -> list[str | None]:
        """The range of each GET."""
        return [found for method, _, found in self.asked if method == "GET"]


@contextmanager
def hub_of(repository: str, name: str, content: bytes) -> Iterator[Hub]:
    """Run a hub on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(whole=False)

        def do_GET(self) -> None:
            self._answer(whole=True)

        def _answer(self, whole: bool) -> None:
            asked = self.headers.get("Range")
            hub.asked.append((self.command, self.path, asked))
            if hub.code != 200 or self.path not in (hub.path, hub.path.replace("/main/", f"/{COMMIT}/")):
                self._send(hub.code if hub.code != 200 else 404, hub.headers, b"")
                return
            begin = int(match[1]) if asked and (match := _RANGE.match(asked)) else 0
            headers = {
                "X-Repo-Commit": COMMIT,
                "ETag": '"of-the-pointer"',
                "X-Linked-ETag": f'"{hub.sha256}"',
                "X-Linked-Size": str(len(hub.content)),
                **hub.headers,
            }
            if begin:
                headers["Content-Range"] = f"bytes {begin}-{len(hub.content) - 1}/{len(hub.content)}"
            self._send(206 if begin else 200, headers, hub.content[begin:], whole)

        def _send(self, code: int, headers: dict[str, str], body: bytes, whole: bool = True) -> None:
            self.send_response(code)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if whole:
                cut = hub.cuts.pop(0) if hub.cuts else None
                self.wfile.write(body[:cut])
                self.close_connection = cut is not None

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    digest = hashlib.sha256(content).hexdigest()
    hub = Hub(f"http://127.0.0.1:{server.server_port}", f"/{repository}/resolve/main/{name}", content, digest)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
