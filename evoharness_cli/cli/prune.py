"""`evoharness prune`: drop what went stale, with a way back."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from ..harness import WrongUsage
from .app import app
from .options import Db, EntryKind, Json, Scope, given_options, open_store

if TYPE_CHECKING:
    from ..experience.store import Store
    from ..experience.upkeep.prune import Policy


@app.command()
def prune(
    ctx: typer.Context,
    stale_days: Annotated[
        int | None, typer.Option(min=0, help="Entries neither noted, recalled nor confirmed for so many days.")
    ] = None,
    max_entries: Annotated[int | None, typer.Option(min=0, help="All but so many; the most useful are kept.")] = None,
    min_helped_rate: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Entries whose tests helped less often than this.")
    ] = None,
    duplicates: Annotated[bool, typer.Option("--duplicates", help="Entries that say what another says.")] = False,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Entries that were corrected or merged, or lie dormant.")
    ] = False,
    suspicious: Annotated[
        bool, typer.Option("--suspicious", help="Entries that read like orders to override rules.")
    ] = False,
    episodes_older_than: Annotated[
        int | None,
        typer.Option(min=0, metavar="DAYS", help="The steps of episodes closed longer ago; there is no way back."),
    ] = None,
    vacuum: Annotated[
        bool, typer.Option("--vacuum", help="Erase for good what was put aside before, and shrink the file.")
    ] = False,
    kind: EntryKind = None,
    scope: Scope = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Bring the last pruning back.")] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Drop entries from experience, after showing which and why.

    They are kept aside and can be brought back.

    Example: evoharness prune --stale-days 90 --dry-run
    """
    from ..experience.upkeep import prune as pruning
    from .screen import dump, line, out

    policy = pruning.Policy(stale_days, max_entries, min_helped_rate, kind, scope, duplicates, superseded, suspicious)
    given = given_options(ctx)
    if undo and (other := given - {"--undo", "--db", "--json", "--yes"}):
        raise WrongUsage(f"--undo brings a whole pruning back; leave out {', '.join(sorted(other))}.")
    if as_json and not (yes or dry_run or undo):
        raise WrongUsage("--json doesn't ask; add --yes or --dry-run.")
    with closing(open_store(db)) as store:
        if undo:
            number, restored = pruning.undo(store)
            if as_json:
                dump({"undone": number, "restored": restored})
            else:
                out.print(line(f"pruning {number} undone: {restored} entries are back"))
            return
        if not policy.asks and episodes_older_than is None and not vacuum:
            raise WrongUsage(
                "expected what to prune by: --stale-days, --max-entries, --min-helped-rate, --duplicates, "
                "--superseded, --suspicious, --episodes-older-than or --vacuum"
            )
        if policy.asks:
            _prune_entries(store, policy, dry_run, yes, as_json)
        if episodes_older_than is not None:
            _thin(store, episodes_older_than, dry_run, yes, as_json)
        if vacuum:
            _erase(store, dry_run, yes, as_json)


def _prune_entries(store: Store, policy: Policy, dry_run: bool, yes: bool, as_json: bool) -> None:
    from ..experience.upkeep import prune as pruning
    from .screen import dump, line, out, row, table

    candidates = pruning.plan(store, policy)
    if as_json:
        for each in candidates:
            dump({"entry": each.entry.id, "text": each.entry.text, "reasons": each.reasons})
    elif candidates:
        listed = table("entry#", "kind", "text", "why")
        for each in candidates:
            row(listed, each.entry.id, each.entry.kind, each.entry.text, "; ".join(each.reasons))
        out.print(listed)
    else:
        out.print("nothing to prune")
    if dry_run or not candidates:
        return
    if not yes and not _agreed(f"prune these {len(candidates)} entries?"):
        out.print("nothing was pruned")
        return
    applied, pruned = pruning.apply(store, candidates, policy)
    if as_json:
        dump({"pruning": applied, "pruned": pruned})
    else:
        out.print(line(f"pruned {pruned} entries; bring them back with: evoharness prune --undo"))


def _thin(store: Store, days: int, dry_run: bool, yes: bool, as_json: bool) -> None:
    from ..experience.upkeep.thinning import thin, thinnable
    from .screen import dump, line, out, row, table

    found = thinnable(store, older_than_days=days)
    listed = table("episode#", "task", "closed", "steps#", "why")
    for each in found:
        if as_json:
            dump({"episode": each.episode, "task": each.task, "steps": each.steps, "reasons": [each.reason]})
        row(listed, each.episode, each.task, each.finished[:19], each.steps, each.reason)
    if not as_json:
        out.print(listed if found else "no episode's steps to thin")
    if dry_run or not found:
        return
    steps = sum(each.steps for each in found)
    if not yes and not _agreed(f"erase the {steps} steps of these {len(found)} episodes for good?"):
        out.print("no steps were erased")
        return
    thinned = thin(store, found)
    if as_json:
        dump({"thinned": thinned, "steps": steps})
    else:
        out.print(line(f"erased {steps} steps of {thinned} episodes; their outcomes, sums and notes stay"))


def _erase(store: Store, dry_run: bool, yes: bool, as_json: bool) -> None:
    from ..experience.overview import aside, size
    from ..experience.upkeep.thinning import empty_bin
    from .screen import dump, line, out

    waiting, before = aside(store), size(store)
    if dry_run:
        if as_json:
            dump({"aside": waiting, "bytes": before})
        else:
            out.print(line(f"{waiting} entries put aside would be erased for good"))
        return
    if not yes and not _agreed(f"erase {waiting} entries that were put aside for good? nothing can be undone then"):
        out.print("nothing was erased")
        return
    erased, after = empty_bin(store), size(store)
    if as_json:
        dump({"erased": erased, "bytes_before": before, "bytes": after})
    else:
        out.print(line(f"erased {erased} entries; the file went from {before / 1e6:.1f} to {after / 1e6:.1f} MB"))


def _agreed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        raise WrongUsage("There was no answer; add --yes to prune without being asked.") from None
