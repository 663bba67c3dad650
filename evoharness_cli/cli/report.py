"""`evoharness report`: one HTML file that shows what was played and learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .options import Db, Json, open_store


@app.command()
def report(
    what: Annotated[
        str | None,
        typer.Argument(
            help="A run's number, the file of a store or an evaluation, or the folder of a training run. "
            "[default: all of the store]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The file to write. [default: named for what it shows, here]", show_default=False
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in your browser.")] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Write a page that shows a run, an evaluation, a training run or a store, and every episode step by step.

    It is one file that needs neither a server nor the network.

    Example: evoharness report evaluation.db --open
    """
    from ..report import opened, write_report
    from ..report.plots import needs_matplotlib
    from .screen import dump, err, line
    from .screen import out as console

    needs_matplotlib()
    with err.status("reading") as status, opened(what, lambda: open_store(db)) as subject:
        file = out or Path(f"{subject.name}.html")
        done, episodes = 0, len(subject.trajectories.episodes)

        def told(more: int) -> None:
            nonlocal done
            done += more
            status.update(f"writing {done:,} of {episodes:,} episodes")

        write_report(subject, file, told)
    size = file.stat().st_size
    if as_json:
        dump({"report": str(file), "episodes": episodes, "bytes": size})
    else:
        console.print(line(f"wrote {file} ({size / 1e6:.1f} MB), episodes in it: {episodes:,}"))
    if show:
        import webbrowser

        if not webbrowser.open(file.resolve().as_uri()):
            err.print(line(f"no browser could be started; open {file} in one"))
