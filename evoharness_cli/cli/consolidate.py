"""`evoharness consolidate`: make one of what says the same."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..harness import WrongUsage
from .app import app
from .options import Adapter, Db, Json, Scope, given_options, open_store

if TYPE_CHECKING:
    from ..experience.store import Store
    from ..experience.upkeep.proposals import Verdict


@app.command()
def consolidate(
    ctx: typer.Context,
    scope: Scope = None,
    model: Annotated[
        str | None,
        typer.Option(help="Have a model propose further changes; each is checked.", show_default=False),
    ] = None,
    adapter: Adapter = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last consolidation back.")] = False,
    every: Annotated[
        int | None, typer.Option(min=0, help="From now on tend this store by itself after so many episodes; 0 never.")
    ] = None,
    capacity: Annotated[
        int | None, typer.Option(min=0, help="Entries that stay when it tends itself; 0 is no limit.")
    ] = None,
    keep_steps: Annotated[
        int | None, typer.Option(min=0, help="Newest episodes whose every step stays then; 0 is all.")
    ] = None,
    keep_worlds: Annotated[
        int | None, typer.Option(min=0, help="Worlds of which it stays where each thing was; 0 is all.")
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Merge entries that say the same.

    Votes and sources are kept, and what contradicts stays apart. A store does it by itself after every 50 episodes.

    Example: evoharness consolidate --dry-run
    """
    from ..experience.upkeep import consolidate as consolidation
    from ..experience.upkeep.schedule import schedule, set_schedule
    from .screen import dump, line, out

    given = given_options(ctx)
    settings = {"every": every, "capacity": capacity, "keep_steps": keep_steps, "keep_worlds": keep_worlds}
    wanted = {name: value for name, value in settings.items() if value is not None}
    if undo and (other := given - {"--undo", "--db", "--json"}):
        raise WrongUsage(f"--undo takes a whole consolidation back; leave out {', '.join(sorted(other))}.")
    if wanted and (other := given - {"--every", "--capacity", "--keep-steps", "--keep-worlds", "--db", "--json"}):
        raise WrongUsage(f"The schedule is set by itself; leave out {', '.join(sorted(other))}.")
    with closing(open_store(db)) as store:
        if undo:
            number, restored = consolidation.undo(store)
            if as_json:
                dump({"undone": number, "restored": restored})
            else:
                out.print(line(f"consolidation {number} undone: {restored} entries are back"))
        elif wanted:
            set_schedule(store, **wanted)
            kept = asdict(schedule(store))
            if as_json:
                dump(kept)
            else:
                out.print(line(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in kept.items())))
        else:
            _consolidate(store, scope, model, adapter, dry_run, as_json)


def _consolidate(
    store: Store, scope: str | None, model: str | None, adapter: str | None, dry_run: bool, as_json: bool
) -> None:
    from ..experience.upkeep import consolidate as consolidation
    from ..experience.upkeep.proposals import accept
    from .screen import dump, line, out, row, table

    merges = consolidation.plan_merges(store, scope)
    listed = table("kept#", "merged#", "text kept", "text merged")
    for group in merges:
        for other in group.others:
            if as_json:
                dump({"entry": other.id, "into": group.keeper.id, "text": other.text, "kept": group.keeper.text})
            row(listed, group.keeper.id, other.id, group.keeper.text, other.text)
    if merges and not as_json:
        out.print(listed)
    verdicts = _proposed(store, scope, model, adapter, {each.id for group in merges for each in group.others})
    for verdict in verdicts:
        if as_json:
            dump({"proposal": verdict.said, "accepted": verdict.accepted, "why": verdict.why})
        else:
            judged = ("accepted ", "green") if verdict.accepted else ("refused ", "yellow")
            out.print(line(judged, verdict.said, ("" if verdict.accepted else f": {verdict.why}", "dim")))
    if dry_run:
        if not as_json and not merges and not verdicts:
            out.print("nothing to consolidate")
        return
    done = consolidation.consolidate(store, merges=merges)
    change_set, changed = accept(store, verdicts, done.change_set)
    if as_json:
        dump({"consolidation": change_set, "merged": done.merged, "changed": changed})
    elif change_set is None:
        out.print("nothing to consolidate")
    else:
        out.print(
            line(
                f"merged {done.merged} entries and changed {changed} as proposed; "
                "take it back with: evoharness consolidate --undo"
            )
        )


def _proposed(
    store: Store, scope: str | None, model: str | None, adapter: str | None, besides: set[int]
) -> list[Verdict]:
    if model is None:
        if adapter is not None:
            raise WrongUsage("--adapter goes with --model.")
        return []
    from ..experience.upkeep.proposals import ask
    from ..models import anchored, load_model
    from .options import NO_ADAPTER

    options = {} if adapter in (None, NO_ADAPTER) else {"adapter": Path(adapter)}
    with closing(load_model(anchored(model, Path.cwd()), **options)) as loaded:  # type: ignore[arg-type]
        return ask(store, loaded, scope, besides)
