"""`evoharness mcp`: the harness for other agents."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from ..harness import WrongUsage
from .app import app
from .options import Db, open_store

HOSTS = ("127.0.0.1", "::1", "localhost")


@app.command()
def mcp(
    scope: Annotated[
        str, typer.Option(help="Where in experience its clients recall and note; everywhere by default.")
    ] = "",
    http: Annotated[
        str | None,
        typer.Option(
            help="Serve over HTTP, for several clients: HOST:PORT of this machine; port 0 is any free one.",
            show_default=False,
        ),
    ] = None,
    db: Db = None,
) -> None:
    """Serve the harness to other agents by the Model Context Protocol.

    One client is served on standard input and output, unless --http is given. What a task notes counts once it is
    finished; what is left open when a client or the server ends is dropped.

    Example: evoharness mcp --scope household
    """
    where = _host_and_port(http) if http is not None else None
    with closing(open_store(db, create=True)) as store:
        path = store.path
    from ..integration.mcp_server import PATH, listen, serve_http, serve_stdio
    from ..integration.open_tasks import OpenTasks
    from .screen import line, out

    tasks = OpenTasks(path, scope, shared=where is not None)
    if where is None:
        serve_stdio(tasks)
        return
    with listen(*where) as listening:
        host, port = listening.getsockname()[:2]
        out.print(line(f"serving at http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"))
        serve_http(tasks, listening)


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if host not in HOSTS or not port.isdecimal() or int(port) > 65535:
        raise WrongUsage(
            f"Expected --http HOST:PORT with a host of this machine ({', '.join(HOSTS)}), since whoever reaches it can "
            f"read and change experience; found {text!r}."
        )
    return host, int(port)
