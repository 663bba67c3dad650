"""`evoharness train sft` and `evoharness train export`: from demonstrations to an adapter that plays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..harness import WrongUsage
from .options import DEFAULT_MODEL, Json, given_options
from .train import train
from .training_setup import Precision, anchored_model, asked_to_stop, needs_torch
from .training_view import TrainingView, named

if TYPE_CHECKING:
    from ..training.machine import Machine
    from ..training.processes import Processes
    from ..training.sft import Update, Validation

_HOW_TO_SHOW = {"--resume", "--json"}


class Merged(str, Enum):
    """In what a merged model is kept."""

    Q8_0 = "Q8_0"
    BF16 = "BF16"


@train.command()
def sft(
    ctx: typer.Context,
    demonstrations: Annotated[
        list[Path] | None,
        typer.Argument(help="What `train demos`, `corrections` and `best` made.", show_default=False, dir_okay=False),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to make for the run.", show_default=False)] = None,
    model: Annotated[str, typer.Option(help="The base model: a name or a GGUF file.")] = DEFAULT_MODEL,
    start: Annotated[
        str | None,
        typer.Option("--from", help="A run, an adapter or a policy to go on from. [default: the base model]"),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often each demonstration is learnt.")] = 1,
    batch: Annotated[int, typer.Option(min=1, help="Demonstrations an update.")] = 8,
    lr: Annotated[float, typer.Option(min=1e-9, help="The highest learning rate.")] = 4e-4,
    rank: Annotated[int, typer.Option(min=1, help="Of the adapter's matrices.")] = 32,
    alpha: Annotated[float, typer.Option(min=1e-9, help="The adapter is scaled by alpha / rank.")] = 64.0,
    layers: Annotated[
        int | None,
        typer.Option(min=1, help="Adapt the last so many blocks only, which is faster. [default: all]"),
    ] = None,
    validation: Annotated[
        Path | None,
        typer.Option(help="Demonstrations that are not learnt, to tell the loss on.", show_default=False),
    ] = None,
    validate_every: Annotated[int, typer.Option(min=1, help="Updates between two looks at these.")] = 50,
    pack_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens that go through the model at once; more need more memory.")
    ] = 2048,
    precision: Annotated[
        Precision | None, typer.Option(help="Of the base's weights. [default: the faster one, measured]")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to compute with. [default: one a physical core]")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Processes that share each update, each with a GPU of its own where there are some. [default: 1]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the adapter's beginning and the demonstrations' order.")] = 0,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the run of this folder, as it was begun.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Teach a model what demonstrations say, by a low-rank adapter.

    Ctrl-C keeps what was learnt; `--resume` goes on from there, or from the checkpoint that is written every ten
    minutes, and ends with the same weights as if it had never stopped.

    Example: evoharness train sft demos.jsonl --out build/sft
    """
    given = given_options(ctx)
    if resume and (other := given - _HOW_TO_SHOW):
        raise WrongUsage(f"--resume goes on as the run was begun; leave out {', '.join(sorted(other))}.")
    if resume and demonstrations:
        raise WrongUsage("--resume knows the demonstrations of its run; leave them out.")
    if start and (other := given & {"--rank", "--alpha", "--layers"}):
        raise WrongUsage(f"--from says what is adapted; leave out {', '.join(sorted(other))}.")
    if not resume and not (demonstrations and out):
        raise WrongUsage("Expected demonstrations and --out FOLDER, or --resume FOLDER.")
    needs_torch()
    from ..training.checkpoint import RunFolder
    from ..training.lora import LoraSettings
    from ..training.machine import choose_machine
    from ..training.sft import SftSettings, begin
    from ..training.sft import train as train_run

    folder = resume or out
    assert folder is not None

    def begin_run(count: int) -> None:
        settings = SftSettings(
            demonstrations=tuple(map(str, demonstrations or ())),
            model=anchored_model(model),
            start=start,
            validation=str(validation) if validation else None,
            validate_every=validate_every,
            lora=LoraSettings(rank, alpha, layers),
            rate=lr,
            batch=batch,
            epochs=epochs,
            pack_tokens=pack_tokens,
            seed=seed,
        )
        begin(RunFolder(folder), settings, choose_machine(precision.value if precision else None, threads, count))

    with _together(folder, None if resume else begin_run, processes) as together:
        with asked_to_stop() as stop, _Shown(as_json, together.leads) as shown:
            finished = train_run(RunFolder(folder, together.leads), shown, stop.is_set, together)
        if not finished:
            raise KeyboardInterrupt(f"interrupted; go on with: evoharness train sft --resume {folder}")
        shown.finished(folder)


@contextmanager
def _together(folder: Path, begin: Callable[[int], None] | None, count: int | None) -> Iterator[Processes]:
    """Yield the processes that train the run of a folder, after one of them began it where it is to be begun.

    They are those that `torchrun` has started, or else are started here.
    """
    from ..training.checkpoint import RunFolder
    from ..training.processes import joined, leading, started_by_another

    if not started_by_another():
        if begin:
            begin(count or 1)
        recorded = int(RunFolder(folder).settings()["machine"].get("processes", 1))
        with leading(
            recorded, [sys.executable, "-m", "evoharness_cli", "train", "sft", "--resume", str(folder)]
        ) as processes:
            yield processes
        return
    if count is not None:
        raise WrongUsage("These processes were started by another program; leave out --processes.")
    with joined() as processes:
        if begin:
            if processes.leads:
                begin(processes.count)
            processes.wait()
        yield processes


@train.command()
def export(
    run: Annotated[Path, typer.Argument(help="A run's folder.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The GGUF file to write.", show_default=False)],
    merged: Annotated[
        Merged | None,
        typer.Option(help="Write the whole model with the adapter in it instead, in this form.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write what a run has learnt as an adapter that `--adapter` takes.

    Example: evoharness train export build/sft -o adapter.gguf
    """
    needs_torch()
    from ..training.checkpoint import RunFolder
    from ..training.export import export_adapter, export_merged
    from .screen import dump, line
    from .screen import out as console

    if merged:
        with _bar("merging") as bar:
            export_merged(RunFolder(run), out, merged.value, bar)
    else:
        export_adapter(RunFolder(run), out)
    size = out.stat().st_size
    if as_json:
        dump({"file": str(out), "bytes": size, "merged": merged.value if merged else None})
    else:
        how = "--model" if merged else "--adapter"
        console.print(line(f"{out}, {size / 1e6:.1f} MB; play with it: evoharness run heat-apple {how} {out}"))


class _Shown(TrainingView):
    """Shows a run while it trains: a bar on a terminal, a line for each look at what is held out, or JSON lines."""

    def __init__(self, as_json: bool, leads: bool) -> None:
        """Of several processes the one that `leads` shows what happens, and the others nothing."""
        from rich.progress import TextColumn

        self._leads = leads
        super().__init__(as_json or not leads, TextColumn("{task.fields[loss]}"), TextColumn("{task.fields[speed]}"))
        self._bar = self._progress.add_task("reading", total=None, loss="", speed="")
        self._tokens, self._seconds = 0, 0.0

    def _say(self, event: Mapping[str, object], words: str = "") -> None:
        if self._leads:
            super()._say(event, words)

    def began(self, done: int, total: int, machine: Machine) -> None:
        """Show how much is to be done, and on what."""
        self._progress.reset(self._bar, description="training", total=total, completed=done, loss="", speed="")
        self._say({"began": done, "updates": total, **vars(machine)}, f"training on {named(machine)}")

    def updated(self, update: Update) -> None:
        """Show an update."""
        from dataclasses import asdict

        self._tokens += update.tokens
        self._seconds += update.seconds
        speed = f"{self._tokens / max(self._seconds, 1e-9):.0f} tokens/s"
        self._progress.update(self._bar, completed=update.update, loss=f"loss {update.loss:.3f}", speed=speed)
        self._say(asdict(update))

    def validated(self, validation: Validation) -> None:
        """Print what was found on the demonstrations that are not learnt."""
        from dataclasses import asdict

        said = f"update {validation.update}: held-out loss {validation.loss:.4f}, {validation.accuracy:.1%} of tokens"
        self._say({"validation": True, **asdict(validation)}, said)

    def saved(self, update: int) -> None:
        """Say where a program would go on from."""
        self._say({"saved": update})

    def finished(self, folder: Path) -> None:
        """Say what can be done now."""
        self._say({"finished": str(folder)}, f"export it with: evoharness train export {folder} -o adapter.gguf")


@contextmanager
def _bar(words: str) -> Iterator[Callable[[int, int], None]]:
    from rich.progress import Progress

    from .screen import err

    with Progress(console=err, transient=True) as progress:
        bar = progress.add_task(words, total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
