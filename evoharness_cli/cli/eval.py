"""`evoharness eval`: methods side by side."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from ..harness import Decode, WrongUsage
from ..runs.settings import Method, RunSettings
from .app import Exit, app
from .options import (
    Adapter,
    Decoding,
    Engine,
    FreeMeta,
    Json,
    MaxSteps,
    ModelName,
    ShowAdmissible,
    Temperature,
    adapter_of,
    engine_need,
    given_options,
    model_of,
)

if TYPE_CHECKING:
    from ..evaluation.contenders import Contender
    from ..evaluation.results import Comparison, MethodResult
    from ..runs.play import Result
    from ..runs.task import Task

NO_BANK = "none"
HOW_TO_PLAY_ON = {"--resume", "--out", "--parallel", "--json"}
"""The options that a resumed evaluation may take."""


@app.command(name="eval")
def evaluate(
    ctx: typer.Context,
    tasks: Annotated[
        list[str] | None,
        typer.Argument(help="What `run` takes: a split, a folder, a list of tasks.", show_default=False),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(each.value for each in Method)}; repeatable, and with its own options as in "
            "`bpe,decode=free,adapter=none`. [default: react, bpe and panels]",
            show_default=False,
        ),
    ] = None,
    model: ModelName = None,
    adapter: Adapter = None,
    decode: Decoding = None,
    show_admissible: ShowAdmissible = False,
    max_steps: MaxSteps = None,
    free_meta: FreeMeta = None,
    temperature: Temperature = 0.0,
    seed: Annotated[list[int] | None, typer.Option(min=0, help="A seed; repeatable. [default: 0]")] = None,
    engine: Engine = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    bank: Annotated[
        str, typer.Option(help="The store whose experience is read, as it is now; `none` begins with nothing.")
    ] = NO_BANK,
    out: Annotated[
        Path | None,
        typer.Option(help="The store of the evaluation. [default: evaluation-TIME.db]", show_default=False),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the evaluation in --out.")] = False,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Episodes at once.")] = 8,
    as_json: Json = False,
) -> None:
    """Play tasks by several methods and compare them.

    What the evaluated episodes see never reaches the bank that they read.

    Example: evoharness eval alfworld --method react --method bpe
    """
    from ..evaluation.evaluate import begin, play
    from ..evaluation.results import results
    from ..experience.store import Store

    if resume:
        if out is None or not out.exists():
            raise WrongUsage("Expected --out to name the evaluation to go on with.")
        if other := given_options(ctx) - HOW_TO_PLAY_ON:
            raise WrongUsage(f"--resume goes on as the evaluation began; leave out {', '.join(sorted(other))}.")
        if tasks:
            raise WrongUsage("--resume goes on with the tasks that the evaluation began with; leave them out.")
    else:
        found = _find(tasks or [], limit)
        limits = {key: value for key, value in (("steps", max_steps), ("free_meta", free_meta)) if value is not None}
        defaults = RunSettings(
            model=model_of(model, found),
            adapter=adapter_of(adapter, found),
            show_admissible=show_admissible,
            temperature=temperature,
        )
        contenders = _contenders(method or [], defaults, limits, decode)
        out = out or Path(f"evaluation-{datetime.now(UTC):%Y%m%d-%H%M%S}.db")
        _prepare(out, bank)
        begin(out, found, contenders, sorted(set(seed or [0])), engine_need(engine))
    with Progress(as_json, out) as progress:
        play(out, parallel, progress)
    with closing(Store.open(out)) as store:
        methods, comparisons = results(store)
    if as_json:
        _dump(out, methods, comparisons)
    else:
        _show(out, methods, comparisons)
    if any(each.n < each.of for each in methods):
        raise typer.Exit(Exit.FAULT)


class Progress:
    """Shows how far the evaluation is, with its rate and the time left."""

    def __init__(self, as_json: bool, out: Path) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        from .screen import err

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[won]} won  {task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
        )
        self._bars = Progress(*columns, console=err, disable=as_json or not err.is_terminal)
        self._out = out
        self._bar = self._bars.add_task("", won=0, rate="", visible=False)

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from .screen import err, line

        self._bars.stop()
        if kind is KeyboardInterrupt:
            err.print(line(f"interrupted; go on with: evoharness eval --resume --out {self._out}"))

    def began(self, label: str, seed: int, done: int, of: int) -> None:
        """Begin a bar."""
        from .screen import safe

        name = safe(f"{label} seed {seed}")
        self._bar = self._bars.add_task(name, total=of, completed=done, won=0, rate="")

    def ended(self, result: Result) -> None:
        """Advance the bar."""
        bar = self._bars.tasks[self._bar]
        speed = bar.speed or 0.0
        self._bars.update(
            self._bar, advance=1, won=bar.fields["won"] + result.success, rate=f"{60 * speed:.1f} a minute"
        )


def _find(arguments: list[str], limit: int | None) -> list[Task]:
    from ..runs.find import find_tasks

    if not arguments:
        raise WrongUsage("Expected tasks to evaluate; see `evoharness eval --help`.")
    return find_tasks(arguments)[:limit]


def _contenders(
    methods: list[str], defaults: RunSettings, limits: dict[str, int], decode: Decode | None
) -> list[Contender]:
    from ..evaluation.contenders import read_contender

    specs = methods or [Method.REACT.value, Method.BPE.value, Method.PANELS.value]
    if twice := [spec for spec in specs if specs.count(spec) > 1]:
        raise WrongUsage(f"The method {twice[0]!r} is there twice.")
    return [read_contender(spec, defaults, limits, decode) for spec in specs]


def _prepare(out: Path, bank: str) -> None:
    """Make the evaluation's store: a copy of the bank, or an empty one."""
    from ..experience.store import Store

    if out.exists():
        raise WrongUsage(f"{out} is there already; go on with it by --resume, or name another file.")
    if bank == NO_BANK:
        Store.open(out).close()
        return
    if not Path(bank).is_file():
        raise WrongUsage(f"Expected --bank to name a store or `none`; there is no {bank}.")
    with closing(Store.open(Path(bank))) as store:
        store.copy_to(out)


def _dump(out: Path, methods: list[MethodResult], comparisons: list[Comparison]) -> None:
    from .screen import dump

    dump(
        {
            "out": str(out),
            "results": [asdict(each) for each in methods],
            "comparisons": [asdict(each) for each in comparisons],
        }
    )


def _show(out: Path, methods: list[MethodResult], comparisons: list[Comparison]) -> None:
    from .screen import line, row, table
    from .screen import out as console

    listed = table("method", "won#", "of#", "rate#", "95% interval#", "steps#", "calls#", "invalid#", "tokens#", "s#")
    for each in methods:
        interval = f"{each.ci_low:.1%} to {each.ci_high:.1%}"
        means = (f"{each.steps_mean:.1f}", f"{each.calls_mean:.2f}", f"{each.invalid_mean:.1f}")
        seconds = f"{each.model_seconds + each.environment_seconds + each.harness_seconds:.0f}"
        of = f"{each.n}" if each.n == each.of else f"{each.n} of {each.of}"
        row(
            listed,
            each.method,
            each.successes,
            of,
            f"{each.success_rate:.1%}",
            interval,
            *means,
            f"{each.completion_tokens:,}",
            seconds,
        )
    console.print(listed)
    kinds = sorted({kind for each in methods for kind in each.by_type})
    by_type = table("task type", *(f"{each.method}#" for each in methods))
    for kind in kinds:
        rates = (each.by_type.get(kind) for each in methods)
        row(by_type, kind, *(f"{rate.successes} of {rate.n}" if rate else "" for rate in rates))
    console.print(by_type)
    for pair in comparisons:
        console.print(
            line(
                f"{pair.first} against {pair.second}: {pair.only_first} games only the first won, "
                f"{pair.only_second} only the second, p = {pair.p_value:.3g} (McNemar, {pair.n} games)"
            )
        )
    console.print(line(f"every step: evoharness inspect runs --db {out}"))
