"""`evoharness run`: play tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..experience.policies import DEFAULT as DEFAULT_MEMORY
from ..experience.policies import STAND_IN
from ..harness import Model, OutsideFault, WrongUsage
from ..runs.settings import Method, RunSettings
from .app import Exit, app
from .options import (
    Adapter,
    BaseUrl,
    Context,
    Curator,
    Db,
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
    open_store,
)

if TYPE_CHECKING:
    from ..environments import Adapter as EnvironmentAdapter
    from ..experience.store import Store
    from ..runs.play import Result
    from ..runs.task import Task

HOW_TO_SHOW = {"--resume", "--db", "--json", "--quiet", "--max-cost", "--apply", "--unsafe-no-sandbox"}
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
    base_url: BaseUrl = None,
    key_variable: KeyVariable = None,
    price: PriceOfTokens = None,
    max_cost: MaxCost = None,
    engine: Engine = None,
    experience: MemoryName = DEFAULT_MEMORY,
    curator: Curator = None,
    scope: Annotated[
        str | None, typer.Option(help="Where in experience to recall and note. [default: the task's]")
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Apply the result of a workspace task to your own files, where it fits.")
    ] = False,
    unsafe_no_sandbox: Annotated[
        bool,
        typer.Option("--unsafe-no-sandbox", help="Run a workspace task's commands unconfined where no sandbox works."),
    ] = False,
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
        check_spending(price, max_cost)
        limits = {key: value for key, value in (("steps", max_steps), ("free_meta", free_meta)) if value is not None}
        found = [task.settled(limits, decode, scope, engine_need(engine)) for task in _find(tasks or [])]
        base = model_of(model, found)
        settings = RunSettings(
            model=base,
            adapter=adapter_of(adapter, found, base),
            method=method,
            show_admissible=show_admissible,
            seed=seed,
            temperature=temperature,
            context=context,
            base_url=base_url,
            key_variable=key_variable,
            price=price,
            max_cost=max_cost,
            experience=experience,
            curator=curator_of(curator),
        )
        check_memory(settings, found)
    show = Show(as_json, quiet, f" --db {db}" if "--db" in given else "")
    with closing(open_store(db, create=not resume)) as store:
        fingerprint: Mapping[str, object] | None = None
        if resume:
            found, settings, fingerprint = recorded_run(store, resume)
            settings = settings if max_cost is None else replace(settings, max_cost=max_cost)
            check_spending(settings.price, settings.max_cost)
        adapters = _allowed(found, apply, unsafe_no_sandbox)
        if not resume and settings.experience == DEFAULT_MEMORY:
            _bring_bank(store, settings.adapter)
        results = _play(store, found, settings, show, adapters, resume, fingerprint)
    if any(result.fault for result in results):
        raise typer.Exit(Exit.FAULT)
    if not all(result.success for result in results):
        raise typer.Exit(Exit.FAILED)


def _bring_bank(store: Store, adapter: str | None) -> None:
    """Give a store what a policy that comes along was trained with, the first time that it plays there."""
    from ..policies import of_adapter
    from ..policies.bank import bring
    from .screen import err, line

    policy = of_adapter(adapter)
    if policy and (brought := bring(policy, store)):
        err.print(
            line(f"took in what {policy.name} was trained with: {brought.added} entries, {brought.places} places")
        )


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
    adapters: dict[str, EnvironmentAdapter],
    run_id: int | None = None,
    fingerprint: Mapping[str, object] | None = None,
) -> list[Result]:
    """Play a new run, or one with an id, which is refused where the model hasn't its fingerprint."""
    from ..experience import journal
    from ..runs.memory import opened_memory
    from ..runs.play import Run, check_fingerprint, start
    from ..runs.spending import LimitReached, limited
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
                player = limited(model, settings.price, settings.max_cost, journal.episodes(store, run_id))
                results = Run(store, run_id, settings, player, watcher, adapters, memory.policy).play(tasks)
        except KeyboardInterrupt:
            go_on = f"evoharness run --resume {run_id}{show.hint}"
            raise KeyboardInterrupt(f"interrupted; go on with: {go_on}") from None
        except LimitReached as reached:
            go_on = f"evoharness run --resume {run_id} --max-cost USD{show.hint}"
            raise OutsideFault(f"Run {run_id} ended: {reached}. Go on with more: {go_on}") from None
    if isinstance(watcher, Steps):
        _summary(run_id, results, show.hint, memory.fingerprint.get("curator"))
    return results


def _allowed(tasks: Sequence[Task], apply: bool, unsafe: bool) -> dict[str, EnvironmentAdapter]:
    """Return the adapters of environments that may do more than a task file can ask for.

    What touches the person's own machine is said anew for each run, and isn't recorded with it.
    """
    if not (apply or unsafe):
        return {}
    from ..environments.workspace.adapter import ENVIRONMENT, WorkspaceAdapter

    if not any(task.environment == ENVIRONMENT for task in tasks):
        options = [name for name, given in (("--apply", apply), ("--unsafe-no-sandbox", unsafe)) if given]
        raise WrongUsage(f"Only tasks of the environment {ENVIRONMENT} take {' and '.join(options)}; there is none.")
    return {ENVIRONMENT: WorkspaceAdapter(apply, unsafe)}


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
    from ..runs.spending import shown
    from .screen import line, out

    if curator == STAND_IN:
        out.print(line(f"curator: {STAND_IN}"))
    won = sum(result.success for result in results)
    costs = [result.cost for result in results if result.cost is not None]
    cost = f", {shown(sum(costs))}" if costs else ""
    said = f"run {run_id}: {won} of {len(results)} won{cost}. See it with: evoharness inspect run {run_id}{hint}"
    out.print(line(said))
    if any(result.fault for result in results):
        out.print(line(f"Go on with: evoharness run --resume {run_id}{hint}"))
