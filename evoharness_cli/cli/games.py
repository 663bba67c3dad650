"""`evoharness games`: ALFWorld games of one's own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from ..harness import OutsideFault, WrongUsage
from .app import Exit, app
from .options import Json

games = typer.Typer(no_args_is_help=True)
app.add_typer(games, name="games")


@games.callback()
def group() -> None:
    """Make and check ALFWorld games.

    Example: evoharness games make my-games
    """


@games.command()
def make(
    folder: Annotated[Path, typer.Argument(help="Where to write them.", file_okay=False)],
    count: Annotated[int, typer.Option(min=1, help="How many; they take turns through the task types.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same games.")] = 0,
    task_type: Annotated[list[str] | None, typer.Option("--type", help="Only this task type; repeatable.")] = None,
    room: Annotated[list[str] | None, typer.Option(help="Only this kind of room; repeatable.")] = None,
    per_house: Annotated[int, typer.Option(min=1, help="How many games share a house.")] = 1,
    goals: Annotated[
        int,
        typer.Option(min=1, help="Goals of a task, one after another in one house; above 1 task files are written."),
    ] = 1,
    as_json: Json = False,
) -> None:
    """Write solvable games of all six task types, in kitchens, bedrooms, bathrooms and living rooms.

    Example: evoharness games make my-games --count 24 --seed 7
    """
    from ..environments.alfworld.generate import make_errands, make_games
    from .screen import dump, err, line, out

    if goals > 1 and (task_type or per_house > 1):
        raise WrongUsage(
            "Tasks of several goals have a house each and goals of all types: leave out --type, --per-house."
        )
    try:
        with err.status("making games"):
            if goals > 1:
                paths = make_errands(count, goals, seed, folder, room)
            else:
                paths = make_games(count, seed, folder, task_type, room, per_house)
    except OSError as error:
        raise OutsideFault(f"The games can't be written to {folder}: {error.strerror}.") from error
    for path in paths:
        if as_json:
            dump({"task" if goals > 1 else "game": str(path)})
        else:
            out.print(line(str(path)))


@games.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Game files, or folders of them.", exists=True)],
    as_json: Json = False,
) -> None:
    """Replay the walkthroughs of games on the official engine, or on the simulator where there is none.

    Exits with 1 when a game isn't solved by its own.

    Example: evoharness games check my-games
    """
    from rich.progress import track

    from ..environments.alfworld.check import check_games
    from ..environments.alfworld.games import find_games
    from ..environments.alfworld.official import OfficialEngine, is_missing
    from ..environments.alfworld.scene import Engine
    from ..environments.alfworld.simulator import SimulatorEngine
    from .screen import dump, err, line, out

    found = [game for path in paths for game in (find_games(path) if path.is_dir() else [path])]
    if not found:
        raise WrongUsage("expected games to check; found no game.tw-pddl in " + ", ".join(map(str, paths)))
    failed = 0
    if missing := is_missing():
        err.print(line(f"{missing} The simulator replays the walkthroughs."))
    engine: Engine = SimulatorEngine() if missing else OfficialEngine()
    with closing(engine):
        checked = check_games(found, engine)
        for one in track(checked, "checking", total=len(found), console=err, transient=True):
            failed += one.fault is not None
            if as_json:
                dump({"game": str(one.path), "solved": one.fault is None, "steps": one.steps, "fault": one.fault})
            elif one.fault:
                out.print(line((f"{one.path}: ", "bold"), (one.fault, "red")))
    if not as_json:
        out.print(line(f"{len(found) - failed} of {len(found)} games solved by their walkthroughs"))
    if failed:
        raise typer.Exit(Exit.FAILED)
