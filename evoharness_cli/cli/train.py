"""`evoharness train`: policies for the harness, from demonstrations on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..harness import Decode, WrongUsage
from .app import Exit, app
from .options import Engine, Json, MaxSteps, engine_need, given_options

if TYPE_CHECKING:
    from ..environments import Adapter
    from ..harness import Model
    from ..runs.task import Task
    from ..training.demonstration_files import Making
    from ..training.evaluated import Evaluated

train = typer.Typer(no_args_is_help=True)
app.add_typer(train, name="train")

Out = Annotated[Path, typer.Option(help="The file to make, of JSON lines.", dir_okay=False, show_default=False)]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with what was interrupted.")]
Evaluation = Annotated[
    Path,
    typer.Argument(
        help="The store of an evaluation of tasks to train on.", exists=True, dir_okay=False, show_default=False
    ),
]

BUILT_IN = "built-in"
SLIPS = 0.08


@train.callback()
def group() -> None:
    """Make demonstrations, and train policies on them.

    Example: evoharness train demos alfworld:training --out demos.jsonl
    """


@train.command()
def demos(
    ctx: typer.Context,
    tasks: Annotated[list[str], typer.Argument(help="What `run` takes, of one environment.", show_default=False)],
    out: Out,
    games: Annotated[
        int | None, typer.Option(min=1, help="Only so many of the tasks, drawn by the seed.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same demonstrations.")] = 0,
    slips: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The chance before each action of a mistake to recover from.")
    ] = SLIPS,
    teacher: Annotated[
        str, typer.Option(help="Who shows it: the environment's own teacher, or any model by its name.")
    ] = BUILT_IN,
    max_steps: MaxSteps = None,
    engine: Engine = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Have a teacher play tasks in the harness, and keep the transcripts of those that it wins.

    Exits with 1 when nothing was won.

    Example: evoharness train demos alfworld:training --out demos.jsonl
    """
    from ..environments import load_adapter
    from ..runs.find import find_tasks
    from ..training.demonstration_files import Making
    from ..training.demonstrations import Workshop, check_not_held_out, draw
    from ..training.transcript_format import transcript_format

    if teacher != BUILT_IN and "--slips" in given_options(ctx):
        raise WrongUsage("Only the built-in teacher makes mistakes on purpose: leave --slips out.")
    limits = {} if max_steps is None else {"steps": max_steps}
    found = draw(find_tasks(tasks), seed, games)
    settled = [task.settled(limits, Decode.FREE, needs=engine_need(engine)) for task in found]
    with closing(load_adapter(_one_environment(settled))) as adapter:
        check_not_held_out(adapter, settled)
        with closing(_teacher(adapter, teacher, seed, slips)) as model:
            workshop = Workshop(adapter, model, seed, transcript_format())
            settings = {
                "tasks": tasks,
                "games": len(settled),
                "seed": seed,
                "max_steps": max_steps,
                "teacher": dict(model.fingerprint),
                "format": workshop.transcript_format,
            }
            making = Making(out, workshop, settled, settings)
            _make(making, resume, f"evoharness train demos {' '.join(tasks)} --out {out}", as_json)


@train.command()
def corrections(
    evaluation: Evaluation,
    out: Out,
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same corrections.")] = 0,
    teacher: Annotated[
        str, typer.Option(help="Who takes over: the environment's own teacher, or any model by its name.")
    ] = BUILT_IN,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Have a teacher take over where a policy went wrong, and keep the transcripts of what it then wins.

    A step went wrong that was refused, or that was taken before and came to the same. `train sft` learns from the
    teacher's part only. Exits with 1 when nothing was won.

    Example: evoharness train corrections played.db --out corrections.jsonl
    """
    from ..experience.store import Store
    from ..training.corrections import Corrector, find_points
    from ..training.demonstration_files import Making
    from ..training.evaluated import played_by
    from ..training.transcript_format import transcript_format

    with closing(Store.open(evaluation)) as store:
        points = find_points(store, seed)
        if not points:
            raise WrongUsage(f"Expected steps that went wrong in {evaluation}, found none.")
        with (
            _trainable(point.episode for point in points) as adapter,
            closing(_teacher(adapter, teacher, seed, 0.0)) as model,
        ):
            corrector = Corrector(adapter, seed, transcript_format(), store, model)
            settings = {
                "corrections": evaluation.name,
                "played_by": played_by(store, points[0].episode),
                "points": len(points),
                "seed": seed,
                "teacher": dict(model.fingerprint),
                "format": corrector.transcript_format,
            }
            making = Making(out, corrector, points, settings)
            _make(making, resume, f"evoharness train corrections {evaluation} --out {out}", as_json)


@train.command()
def best(
    evaluation: Evaluation,
    out: Out,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Keep the episode of each task of an evaluation that was won with the fewest calls of the harness.

    An evaluation with a temperature and several seeds has several of each. A policy that learns from the best of its
    own calls less.

    Example: evoharness train best played.db --out best.jsonl
    """
    from ..experience.store import Store
    from ..training.best import Best, find_best
    from ..training.demonstration_files import Making
    from ..training.evaluated import played_by
    from ..training.transcript_format import transcript_format

    with closing(Store.open(evaluation)) as store:
        episodes = find_best(store)
        if not episodes:
            raise WrongUsage(f"Expected episodes that were won in {evaluation}, found none.")
        with _trainable(episodes) as adapter:
            maker = Best(adapter, 0, transcript_format(), store)
            settings = {
                "best": evaluation.name,
                "played_by": played_by(store, episodes[0]),
                "format": maker.transcript_format,
            }
            making = Making(out, maker, episodes, settings)
            _make(making, resume, f"evoharness train best {evaluation} --out {out}", as_json)


@contextmanager
def _trainable(episodes: Iterable[Evaluated]) -> Iterator[Adapter]:
    """Yield the environment that all of the episodes are of; raises WrongUsage, HeldOut."""
    from ..environments import load_adapter
    from ..training.demonstrations import check_not_held_out

    tasks = [episode.task for episode in episodes]
    with closing(load_adapter(_one_environment(tasks))) as adapter:
        check_not_held_out(adapter, tasks)
        yield adapter


def _one_environment(tasks: Sequence[Task]) -> str:
    names = sorted({task.environment for task in tasks})
    if len(names) != 1:
        raise WrongUsage(f"Expected tasks of one environment, found {', '.join(names) or 'none'}.")
    return names[0]


def _teacher(adapter: Adapter, name: str, seed: int, slips: float) -> Model:
    from ..environments import Teaches
    from ..models import anchored, load_model

    if name != BUILT_IN:
        return load_model(anchored(name, Path.cwd()))
    if not isinstance(adapter, Teaches):
        raise WrongUsage("This environment brings no teacher: name a model with --teacher.")
    return adapter.teacher(seed, slips)


def _make(making: Making[Any], resume: bool, resume_with: str, as_json: bool) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from ..models.catalogue import SMOLLM2_FILE, SMOLLM2_PACKAGE
    from ..models.files import packaged_file
    from ..training.examples import Tokeniser
    from .screen import err

    columns = (
        TextColumn("demonstrating"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[won]} won"),
        TimeRemainingColumn(),
    )
    making.begin(resume)
    try:
        with Progress(*columns, console=err, transient=True) as progress:
            bar = progress.add_task("", total=len(making.items), won=0)
            won = 0
            for success in making.make():
                won += success
                progress.update(bar, advance=1, won=won)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; go on with the same options and: {resume_with} --resume") from None
    with closing(Tokeniser(packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE))) as tokeniser:
        card = making.finish(tokeniser)
    _show(making, card, as_json)
    if not card["demonstrations"]:
        raise typer.Exit(Exit.FAILED)


def _show(making: Making[Any], card: dict[str, object], as_json: bool) -> None:
    from .screen import dump, line, out, row, table

    if as_json:
        dump({"file": str(making.out), "card": str(making.card), **card})
        return
    success, steps, calls = card["success"], card["steps"], card["calls"]
    assert isinstance(success, dict) and isinstance(steps, dict) and isinstance(calls, dict)
    shown = table("task", "won#", "steps#", "calls#")
    for kind, won in success.items():
        row(shown, kind, won, steps[kind], calls[kind])
    out.print(shown)
    out.print(
        line(
            f"{card['demonstrations']} demonstrations in {making.out}: {card['tokens']} tokens, "
            f"{card['tokens_on_loss']} of them to be learnt; see {making.card}"
        )
    )
