"""`evoharness prune`: drop what went stale, with a way back."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from ..harness import WrongUsage
from .app import app
from .options import Db, EntryKind, Json, Scope, given_options, open_store


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
    from ..experience import prune as pruning
    from .screen import dump, line, out, row, table

    policy = pruning.Policy(stale_days, max_entries, min_helped_rate, kind, scope)
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
        if (stale_days, max_entries, min_helped_rate) == (None, None, None):
            raise WrongUsage("expected what to prune by: --stale-days, --max-entries or --min-helped-rate")
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
        if not yes and not _agreed(len(candidates)):
            out.print("nothing was pruned")
            return
        applied, pruned = pruning.apply(store, candidates, policy)
    if as_json:
        dump({"pruning": applied, "pruned": pruned})
    else:
        out.print(line(f"pruned {pruned} entries; bring them back with: evoharness prune --undo"))


def _agreed(count: int) -> bool:
    try:
        return typer.confirm(f"prune these {count} entries?", err=True)
    except typer.Abort:
        raise WrongUsage("There was no answer; add --yes to prune without being asked.") from None
