"""`evoharness train rl`: a policy that learns from what its own episodes were worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..experience.policies import DEFAULT as DEFAULT_MEMORY
from ..harness import VERBS, Decode, WrongUsage
from .eval import RayAddress
from .options import DEFAULT_MODEL, Decoding, Engine, Json, MaxSteps, MemoryName, engine_need, given_options
from .train import train
from .training_setup import Precision, anchored_model, asked_to_stop, needs_torch
from .training_view import TrainingView, named

if TYPE_CHECKING:
    from ..training.machine import Machine
    from ..training.rl_settings import RlSettings

_HOW_TO_GO_ON = {"--resume", "--ray", "--json"}


@train.command()
def rl(
    ctx: typer.Context,
    tasks: Annotated[
        list[str] | None, typer.Argument(help="What `run` takes, to be learnt from.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The run's folder, to keep out of version control.", show_default=False)
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", help="A run, an adapter or a policy to go on from. [default: the base model]"),
    ] = None,
    model: Annotated[str, typer.Option(help="The base model: a name or a GGUF file.")] = DEFAULT_MODEL,
    bank: Annotated[
        str, typer.Option(help="The experience to begin with, as in `eval`; the run has a copy that evolves.")
    ] = "none",
    experience: MemoryName = DEFAULT_MEMORY,
    updates: Annotated[int, typer.Option(min=1, help="How often the policy learns.")] = 100,
    games: Annotated[int, typer.Option(min=1, help="Games an update learns from.")] = 8,
    group: Annotated[int, typer.Option(min=2, help="Episodes of each game.")] = 8,
    refill: Annotated[
        int, typer.Option(min=1, help="At most so many times as many games are played to find some that teach.")
    ] = 2,
    lr: Annotated[float, typer.Option(min=1e-9, help="The highest learning rate.")] = 2e-5,
    kl: Annotated[float, typer.Option(min=0.0, help="How much the policy is held to what it began as.")] = 0.01,
    passes: Annotated[int, typer.Option(min=1, help="Steps of the optimiser an update.")] = 1,
    step_credit: Annotated[
        float, typer.Option(min=0.0, help="The weight of a step's advantage among steps in the same state.")
    ] = 0.0,
    forks: Annotated[
        int, typer.Option(min=0, help="Episodes an update of which a call is forked, to see what it was worth.")
    ] = 0,
    branches: Annotated[int, typer.Option(min=1, help="Episodes with and without the call, of each fork.")] = 2,
    price: Annotated[
        list[str] | None,
        typer.Option(help="What a call costs a won episode, as in `recall=0.1`; repeatable.", show_default=False),
    ] = None,
    read_price: Annotated[float, typer.Option(min=0.0, help="What each token read costs a won episode.")] = 0.0,
    write_price: Annotated[float, typer.Option(min=0.0, help="What each token written costs a won episode.")] = 0.0,
    exploration: Annotated[
        float, typer.Option(min=0.0, help="The bonus, which fades, for seeing what is new in an episode.")
    ] = 0.0,
    anneal: Annotated[
        int | None,
        typer.Option(min=0, help="Updates until bonuses are gone. [default: as --updates]", show_default=False),
    ] = None,
    max_steps: MaxSteps = None,
    decode: Decoding = None,
    engine: Engine = None,
    context: Annotated[int, typer.Option(min=1, help="Tokens that an episode may have.")] = 4096,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Episodes at once.")] = 8,
    ray: RayAddress = None,
    rank: Annotated[int, typer.Option(min=1, help="Of the adapter's matrices, unless --from has one.")] = 32,
    alpha: Annotated[float, typer.Option(min=1e-9, help="The adapter is scaled by alpha / rank.")] = 64.0,
    layers: Annotated[
        int | None, typer.Option(min=1, help="Adapt the last so many blocks only. [default: all]", show_default=False)
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="Of the base's weights. [default: the faster one, measured]")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to learn with. [default: one a physical core]")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the games' order and the policy's choices.")] = 0,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the run of this folder, as it was begun.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Let a policy play games in groups, and do more of what was worth more.

    Winning counts, then winning in few steps; calls of the harness cost steps, and more where they have a price. Each
    update is kept in the folder, and its episodes as they are played: `--resume` goes on as if it had never stopped.
    FOLDER/adapter.gguf is the policy so far, which --adapter takes.

    Example: evoharness train rl alfworld:training --from build/sft --out build/rl
    """
    given = given_options(ctx)
    if resume and (other := given - _HOW_TO_GO_ON):
        raise WrongUsage(f"--resume goes on as the run was begun; leave out {', '.join(sorted(other))}.")
    if resume and tasks:
        raise WrongUsage("--resume knows the tasks of its run; leave them out.")
    if not resume and not (tasks and out):
        raise WrongUsage("Expected tasks and --out FOLDER, or --resume FOLDER.")
    if start and (other := given & {"--rank", "--alpha", "--layers"}):
        raise WrongUsage(f"--from brings an adapter; leave out {', '.join(sorted(other))}.")
    needs_torch()
    from ..cluster.places import place_at
    from ..training.checkpoint import RunFolder
    from ..training.grpo import GrpoSettings
    from ..training.lora import LoraSettings
    from ..training.reward import RewardSettings
    from ..training.rl import train as train_run
    from ..training.rl_settings import RlSettings

    folder = resume or out
    assert folder is not None
    if not resume:
        settings = RlSettings(
            model=anchored_model(model),
            start=start,
            bank=bank,
            experience=experience,
            lora=LoraSettings(rank, alpha, layers),
            updates=updates,
            games=games,
            group=group,
            refill=refill,
            rate=lr,
            context=context,
            parallel=parallel,
            step_credit=step_credit,
            forks=forks,
            branches=branches,
            reward=RewardSettings(
                exploration=exploration,
                anneal_updates=updates if anneal is None else anneal,
                verb_prices=_prices(price or []),
                read_price=read_price,
                write_price=write_price,
            ),
            grpo=GrpoSettings(passes=passes, kl=kl),
            seed=seed,
        )
        _begin(folder, settings, tasks or [], max_steps, decode, engine, precision, threads)
    with place_at(ray) as place, asked_to_stop() as stop, _Shown(as_json) as shown:
        finished = train_run(RunFolder(folder), shown, stop.is_set, place)
    if not finished:
        raise KeyboardInterrupt(f"interrupted; go on with: evoharness train rl --resume {folder}")
    shown.finished(folder)


def _begin(
    folder: Path,
    settings: RlSettings,
    tasks: list[str],
    max_steps: int | None,
    decode: Decode | None,
    engine: str | None,
    precision: Precision | None,
    threads: int | None,
) -> None:
    from ..runs.find import find_tasks
    from ..training.checkpoint import RunFolder
    from ..training.machine import choose_machine
    from ..training.rl_settings import begin

    limits = {} if max_steps is None else {"steps": max_steps}
    settled = [task.settled(limits, decode, needs=engine_need(engine)) for task in find_tasks(tasks)]
    begin(RunFolder(folder), settings, settled, choose_machine(precision.value if precision else None, threads))


def _prices(given: list[str]) -> dict[str, float]:
    """Read `VERB=PRICE` each. Raises WrongUsage."""
    prices = {}
    for each in given:
        verb, _, price = each.partition("=")
        try:
            prices[verb.strip()] = float(price)
        except ValueError:
            raise WrongUsage(f"Expected a price such as {VERBS[0]}=0.1, found {each!r}.") from None
    return prices


class _Shown(TrainingView):
    """Shows a run while it trains: bars on a terminal, and a line for each update, or JSON lines."""

    def __init__(self, as_json: bool) -> None:
        super().__init__(as_json)
        self._updates = self._progress.add_task("loading", total=None)
        self._episodes = self._progress.add_task("playing", total=None, visible=False)

    def began(self, done: int, total: int, machine: Machine) -> None:
        """Show how much is to be done, and on what."""
        self._progress.reset(self._updates, description="updates", total=total, completed=done)
        self._say({"began": done, "updates": total, **vars(machine)}, f"training on {named(machine)}")

    def playing(self, update: int, episodes: int) -> None:
        """Show how many episodes are to be played."""
        del update
        self._progress.reset(self._episodes, description="playing", total=episodes, visible=True)

    def played(self) -> None:
        """Count an episode."""
        self._progress.advance(self._episodes)

    def learning(self, update: int) -> None:
        """Show that the policy learns."""
        del update
        self._progress.update(self._episodes, description="learning")

    def updated(self, figures: Mapping[str, Any]) -> None:
        """Print what an update was."""
        self._progress.update(self._updates, completed=figures["update"])
        self._progress.update(self._episodes, visible=False)
        calls = ", ".join(f"{verb} {count:.1f}" for verb, count in figures["calls"].items())
        learnt = figures["learnt"]
        how = f"KL {learnt['kl']:.4f}" if learnt else "nothing to learn"
        spent = sum(figures["seconds"].values())
        self._say(
            figures,
            f"update {figures['update']}: reward {figures['reward']:.2f}, won {figures['success']:.0%}, "
            f"{figures['steps']:.1f} steps, {calls}; bank {figures['bank']['entries']}, {how}, {spent:.0f} s",
        )

    def finished(self, folder: Path) -> None:
        """Say what can be done now."""
        self._say({"finished": str(folder)}, f"play with it: evoharness run heat-apple --adapter {folder}/adapter.gguf")
