"""`evoharness models`: the models that have a name, fetched and looked into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .options import Json

if TYPE_CHECKING:
    from ..models.describing import Description

models = typer.Typer(no_args_is_help=True)
app.add_typer(models, name="models")


@models.callback()
def group() -> None:
    """List the models that have a name, fetch them, and look into them.

    Example: evoharness models list
    """


@models.command(name="list")
def list_models(as_json: Json = False) -> None:
    """List the models that have a name, with the memory that they need at 8,192 tokens of context.

    What is not here yet is fetched by `pull`; sizes of files on the hub are about right.

    Example: evoharness models list
    """
    from ..models.catalogue import CATALOGUE, LISTED_CONTEXT
    from .screen import dump, out, row, table

    listed = table("name", "size#", "memory#", "here", "licence", "from")
    for entry in CATALOGUE.values():
        need = entry.memory(LISTED_CONTEXT)
        if as_json:
            dump(
                {
                    "name": entry.name,
                    "weights": round(entry.parameters * 1e9),
                    "repository": entry.hub.repository if entry.hub else None,
                    "file": entry.hub.name if entry.hub else None,
                    "bytes": entry.size,
                    "sha256": entry.sha256,
                    "licence": entry.licence,
                    "memory": need,
                    "here": entry.is_here,
                }
            )
        here = "yes" if entry.is_here else "no"
        sizes = (f"{entry.size / 1e9:.1f} GB", f"{need / 1e9:.1f} GB")
        row(listed, entry.name, *sizes, here, entry.licence, entry.source)
    if not as_json:
        out.print(listed)


@models.command()
def pull(
    name: Annotated[str, typer.Argument(help="The model's name; see `evoharness models list`.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Fetch a model's file from the hub, on from where it was cut off, and check its hash.

    HF_ENDPOINT names another hub, HF_TOKEN is sent where it is set.

    Example: evoharness models pull qwen3-0.6b
    """
    from ..models.catalogue import entry_of, resolve
    from ..models.hub import pull as fetch
    from .screen import dump, line, out

    entry = entry_of(name)
    if entry.hub is not None:
        with _shown(name, as_json) as report:
            fetch(entry.hub, report)
    file = resolve(name)
    if as_json:
        dump({"name": name, "file": str(file), "sha256": entry.sha256})
    else:
        out.print(line(f"{name} is here: {file}. Play with it: evoharness run heat-apple --model {name}"))


@models.command()
def info(
    name: Annotated[str, typer.Argument(help="A model's name or a GGUF file.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Say what a model is, whether this machine holds it, and how fast it will be.

    A model that is here is measured, which takes some seconds.

    Example: evoharness models info qwen3-8b
    """
    from dataclasses import asdict

    from ..models.describing import describe
    from .screen import dump, err, line, out

    with err.status(line(f"measuring {name}")):
        found = describe(name)
    if as_json:
        dump({**asdict(found), "fits": found.fits})
        return
    for what, said in _lines(found):
        out.print(line((f"{what} ", "bold"), said))


def _lines(found: Description) -> Iterator[tuple[str, str]]:
    """Yield what is known of a model, each as what it is and what is said of it."""
    from ..models.catalogue import LISTED_CONTEXT

    yield "model", found.name
    if contents := found.contents:
        trained = f", trained with {contents.trained_context:,} tokens" if contents.trained_context else ""
        form = contents.quantisation or "of an unknown form"
        kind = contents.architecture or "of an unknown architecture"
        yield "what", f"{kind}, {contents.parameters / 1e9:.3g} billion weights, {form}{trained}"
    yield "from", found.source
    if found.licence:
        yield "licence", found.licence
    where = str(found.file) if found.file else f"not here; fetch it with: evoharness models pull {found.name}"
    yield "file", f"{where} ({found.size / 1e9:.2f} GB)"
    if found.sha256:
        yield "sha256", found.sha256
    if found.need is None:
        yield "memory", f"the file doesn't say what it needs; this machine has {found.has / 1e9:.1f} GB"
    else:
        verdict = "holds it" if found.fits else "does not hold it"
        yield (
            "memory",
            f"{found.need / 1e9:.1f} GB with {LISTED_CONTEXT:,} tokens of context; this machine {verdict}, with "
            f"{found.has / 1e9:.1f} GB",
        )
    speed = found.speed
    yield "speed", f"{speed.prompt:.0f} tokens of a prompt and {speed.reply:.1f} of a reply a second, {speed.how}"


@contextmanager
def _shown(name: str, as_json: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield what shows how far a download is, on a terminal."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from .screen import err

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    words = TextColumn("{task.description}", markup=False)
    with Progress(words, *columns, console=err, transient=True, disable=as_json or not err.is_terminal) as progress:
        bar = progress.add_task(f"asking for {name}", total=None)

        def report(done: int, total: int) -> None:
            doing = "checking" if done == total else "fetching"
            progress.update(bar, description=f"{doing} {name}", completed=done, total=total)

        try:
            yield report
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted; go on with: evoharness models pull {name}") from None
