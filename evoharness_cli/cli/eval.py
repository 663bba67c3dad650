"""`evoharness eval`: methods side by side."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from ..experience.policies import DEFAULT as DEFAULT_MEMORY
from ..harness import Decode, OutsideFault, WrongUsage
from ..runs.settings import Method, RunSettings
from .app import Exit, app
from .options import (
    Adapter,
    BaseUrl,
    Context,
    Curator,
    Decoding,
    Engine,
    FreeMeta,
    Json,
    KeyVariable,
    MaxCost,
    MaxSteps,
    MemoryName,
    ModelName,
    PriceOfTokens,
    ShowAdmissible,
    Temperature,
    adapter_of,
    check_spending,
    curator_of,
    engine_need,
    given_options,
    model_of,
)

if TYPE_CHECKING:
    from ..evaluation.bank_choice import Choice
    from ..evaluation.contenders import Contender
    from ..runs.play import Result
    from ..runs.task import Task

NO_BANK = "none"
EVOLVE_EVERY = 8
HOW_TO_PLAY_ON = {"--resume", "--out", "--parallel", "--ray", "--max-cost", "--json", "--markdown"}
"""The options that a resumed evaluation may take."""

RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Play on the nodes of a Ray cluster: HOST:PORT, auto, or local. [default: in this process]",
        show_default=False,
    ),
]


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
    context: Context = None,
    base_url: BaseUrl = None,
    key_variable: KeyVariable = None,
    price: PriceOfTokens = None,
    max_cost: MaxCost = None,
    seed: Annotated[list[int] | None, typer.Option(min=0, help="A seed; repeatable. [default: 0]")] = None,
    engine: Engine = None,
    experience: MemoryName = DEFAULT_MEMORY,
    curator: Curator = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    bank: Annotated[
        str,
        typer.Option(
            help="The experience to begin with: a store's file, NAME@VERSION or a policy's name, read as it is now; "
            "NAME, a live bank, which learns as well; or `none`."
        ),
    ] = NO_BANK,
    evolve_every: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"After how many games a live bank learns. [default: {EVOLVE_EVERY}]", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The store of the evaluation. [default: evaluation-TIME.db]", show_default=False),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the evaluation in --out.")] = False,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Episodes at once.")] = 8,
    ray: RayAddress = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the results as Markdown.")] = False,
    as_json: Json = False,
) -> None:
    """Play tasks by several methods and compare them.

    What the evaluated episodes see never reaches what they read, unless a live bank is named.

    Example: evoharness eval alfworld --method react --method bpe
    """
    from ..cluster.places import place_at
    from ..evaluation.bank_choice import choose, give_back, making, prepare
    from ..evaluation.evaluate import begin, play
    from ..evaluation.results import results
    from ..experience.store import Store
    from ..runs.memory import check_memory
    from .eval_report import dump_results, show_markdown, show_results
    from .screen import line
    from .screen import out as console

    if markdown and as_json:
        raise WrongUsage("Expected one of --json and --markdown.")
    place = ctx.with_resource(place_at(ray))
    if resume:
        if out is None or not out.exists():
            raise WrongUsage("Expected --out to name the evaluation to go on with.")
        if other := given_options(ctx) - HOW_TO_PLAY_ON:
            raise WrongUsage(f"--resume goes on as the evaluation began; leave out {', '.join(sorted(other))}.")
        if tasks:
            raise WrongUsage("--resume goes on with the tasks that the evaluation began with; leave them out.")
    else:
        check_spending(price, max_cost)
        everything = _find(tasks or [])
        found = everything[:limit]
        limits = {key: value for key, value in (("steps", max_steps), ("free_meta", free_meta)) if value is not None}
        base = model_of(model, found)
        defaults = RunSettings(
            model=base,
            adapter=adapter_of(adapter, found, base),
            show_admissible=show_admissible,
            temperature=temperature,
            context=context,
            base_url=base_url,
            key_variable=key_variable,
            price=price,
            max_cost=max_cost,
            experience=experience,
            curator=curator_of(curator),
        )
        check_memory(replace(defaults, curator=None), found)
        contenders = _contenders(method or [], defaults, limits, decode)
        out = out or Path(f"evaluation-{datetime.now(UTC):%Y%m%d-%H%M%S}.db")
        seeds = sorted(set(seed or [0]))
        choice = choose(bank)
        every = _evolve_every(choice, evolve_every, len(contenders) * len(seeds))
        with making(out) as made:
            said = {"bank": prepare(made, choice), "evolve_every": every, "tasks": len(found)}
            begin(made, found, contenders, seeds, engine_need(engine), {**said, **_limited(found, everything)}, place)
    with Progress(as_json, out) as progress:
        play(out, parallel, progress, max_cost, place)
    with closing(Store.open(out)) as store:
        methods, comparisons = results(store)
    if as_json:
        dump_results(out, methods, comparisons)
    elif markdown:
        show_markdown(methods, comparisons)
    else:
        show_results(out, methods, comparisons)
    if (updated := give_back(out)) and not (as_json or markdown):
        console.print(line(f"the bank {updated.label} holds what the games taught"))
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
        from ..runs.spending import LimitReached

        self._bars.stop()
        if kind is KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted; go on with: evoharness eval --resume --out {self._out}") from None
        if isinstance(error, LimitReached):
            go_on = f"evoharness eval --resume --out {self._out} --max-cost USD"
            raise OutsideFault(f"The evaluation ended: {error}. Go on with more: {go_on}") from None

    def began(self, label: str, seed: int, done: int, won: int, of: int) -> None:
        """Begin a bar."""
        from .screen import safe

        name = safe(f"{label} seed {seed}")
        self._bar = self._bars.add_task(name, total=of, completed=done, won=won, rate="")

    def ended(self, result: Result) -> None:
        """Advance the bar."""
        bar = self._bars.tasks[self._bar]
        speed = bar.speed or 0.0
        self._bars.update(
            self._bar, advance=1, won=bar.fields["won"] + result.success, rate=f"{60 * speed:.1f} a minute"
        )


def _evolve_every(choice: Choice, asked: int | None, runs: int) -> int:
    """Return after how many games the bank learns, 0 for one that doesn't."""
    if not choice.is_live:
        if asked is not None:
            raise WrongUsage("--evolve-every is for a live bank; name one with --bank.")
        return 0
    if runs > 1:
        raise WrongUsage(
            "A live bank learns from one method with one seed; name one --method and one --seed, or a frozen version "
            "of the bank to compare more."
        )
    return EVOLVE_EVERY if asked is None else asked


def _limited(found: list[Task], everything: list[Task]) -> dict[str, int]:
    return {"limited_from": len(everything)} if len(found) < len(everything) else {}


def _find(arguments: list[str]) -> list[Task]:
    from ..runs.find import find_tasks

    if not arguments:
        raise WrongUsage("Expected tasks to evaluate; see `evoharness eval --help`.")
    return find_tasks(arguments)


def _contenders(
    methods: list[str], defaults: RunSettings, limits: dict[str, int], decode: Decode | None
) -> list[Contender]:
    from ..evaluation.contenders import read_contender
    from ..models import is_served

    specs = methods or [Method.REACT.value, Method.BPE.value, Method.PANELS.value]
    if twice := [spec for spec in specs if specs.count(spec) > 1]:
        raise WrongUsage(f"The method {twice[0]!r} is there twice.")
    contenders = [read_contender(spec, defaults, limits, decode) for spec in specs]
    if defaults.curator and not any(each.settings.curator for each in contenders):
        raise WrongUsage("The memory of none of the methods has a curator; leave out --curator.")
    if defaults.base_url and not any(is_served(each.settings.model) for each in contenders):
        raise WrongUsage("The model of none of the methods is on a server; leave out --base-url.")
    return contenders
