"""`evoharness run`: play tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ..experience.policies import DEFAULT as DEFAULT_MEMORY
from ..experience.policies import STAND_IN
from ..harness import Model, WrongUsage
from ..runs.settings import Method, RunSettings
from .app import Exit, app
from .options import (
    Adapter,
    Context,
    Curator,
    Db,
    Decoding,
    Engine,
    FreeMeta,
    Json,
    MaxSteps,
    MemoryName,
    ModelName,
    ShowAdmissible,
    Temperature,
    adapter_of,
    curator_of,
    engine_need,
    given_options,
    model_of,
    open_store,
)

if TYPE_CHECKING:
    from ..experience.store import Store
    from ..runs.play import Result
    from ..runs.task import Task

HOW_TO_SHOW = {"--resume", "--db", "--json", "--quiet"}
"""The options that a resumed run may take."""


@app.command()
def run(
    ctx: typer.Context,
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            help="A task file, a folder of them, a sample's name, a game file, or alfworld:SPLIT/N.",
            show_default=False,
        ),
    ] = None,
    model: ModelName = None,
    adapter: Adapter = None,
    method: Annotated[
        Method,
        typer.Option(help="react plays alone, bpe with the harness, panels with its state shown each turn."),
    ] = Method.BPE,
    decode: Decoding = None,
    show_admissible: ShowAdmissible = False,
    max_steps: MaxSteps = None,
    free_meta: FreeMeta = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of sampled replies.")] = 0,
    temperature: Temperature = 0.0,
    context: Context = None,
    engine: Engine = None,
    experience: MemoryName = DEFAULT_MEMORY,
    curator: Curator = None,
    scope: Annotated[
        str | None, typer.Option(help="Where in experience to recall and note. [default: the task's]")
    ] = None,
    resume: Annotated[
        int | None, typer.Option(min=1, help="Go on with a run that was interrupted.", show_default=False)
    ] = None,
    db: Db = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print one line a task.")] = False,
) -> None:
    """Play tasks and record every step.

    Exits with 0 when every task was won, 1 when one was not, 3 on a fault outside.

    Example: evoharness run heat-apple --max-steps 30
    """
    from ..runs.memory import check_memory
    from ..runs.play import recorded_run

    given = given_options(ctx)
    if bool(tasks) == bool(resume):
        raise WrongUsage("Expected either tasks to run or --resume RUN; see `evoharness run --help`.")
    if resume and (other := given - HOW_TO_SHOW):
        raise WrongUsage(f"--resume goes on as the run was started; leave out {', '.join(sorted(other))}.")
    if not resume:
        limits = {key: value for key, value in (("steps", max_steps), ("free_meta", free_meta)) if value is not None}
        found = [task.settled(limits, decode, scope, engine_need(engine)) for task in _find(tasks or [])]
        settings = RunSettings(
            model=model_of(model, found),
            adapter=adapter_of(adapter, found),
            method=method,
            show_admissible=show_admissible,
            seed=seed,
            temperature=temperature,
            context=context,
            experience=experience,
            curator=curator_of(curator),
        )
        check_memory(settings, found)
    show = Show(as_json, quiet, f" --db {db}" if "--db" in given else "")
    with closing(open_store(db, create=not resume)) as store:
        if resume:
            found, settings, fingerprint = recorded_run(store, resume)
            results = _play(store, found, settings, show, resume, fingerprint)
        else:
            results = _play(store, found, settings, show)
    if any(result.fault for result in results):
        raise typer.Exit(Exit.FAULT)
    if not all(result.success for result in results):
        raise typer.Exit(Exit.FAILED)


@dataclass(frozen=True)
class Show:
    """How the run is shown; `hint` is what the commands it names need besides."""

    as_json: bool
    quiet: bool
    hint: str


def _find(arguments: list[str]) -> list[Task]:
    from ..runs.find import find_tasks

    return find_tasks(arguments)


def _play(
    store: Store,
    tasks: Sequence[Task],
    settings: RunSettings,
    show: Show,
    run_id: int | None = None,
    fingerprint: Mapping[str, object] | None = None,
) -> list[Result]:
    """Play a new run, or one with an id, which is refused where the model hasn't its fingerprint."""
    from ..runs.memory import opened_memory
    from ..runs.play import Run, check_fingerprint, start
    from .live import Lines, Outcomes, Steps

    with closing(_load(settings)) as model, opened_memory(settings) as memory:
        played_by = {**model.fingerprint, **memory.fingerprint}
        if run_id is None:
            run_id = start(store, tasks, settings, played_by)
        else:
            check_fingerprint(run_id, fingerprint or {}, played_by)
        watcher = Lines() if show.as_json else Outcomes() if show.quiet else Steps(len(tasks))
        try:
            with watcher:
                results = Run(store, run_id, settings, model, watcher, memory=memory.policy).play(tasks)
        except KeyboardInterrupt:
            go_on = f"evoharness run --resume {run_id}{show.hint}"
            raise KeyboardInterrupt(f"interrupted; go on with: {go_on}") from None
    if isinstance(watcher, Steps):
        _summary(run_id, results, show.hint, memory.fingerprint.get("curator"))
    return results


def _load(settings: RunSettings) -> Model:
    from ..models import load_model
    from .screen import err, line

    with err.status(line(f"loading {settings.model}")):
        model = load_model(settings.model, **settings.model_options)
    has = model.fingerprint.get("context")
    if settings.context and has != settings.context:
        err.print(line(f"the context has {has} tokens, the most that {settings.model} was trained with"))
    return model


def _summary(run_id: int, results: Sequence[Result], hint: str, curator: object) -> None:
    from .screen import line, out

    if curator == STAND_IN:
        out.print(line(f"curator: {STAND_IN}"))
    won = sum(result.success for result in results)
    out.print(line(f"run {run_id}: {won} of {len(results)} won. See it with: evoharness inspect run {run_id}{hint}"))
