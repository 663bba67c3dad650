"""`evoharness inspect`: what happened and what was learned."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..experience.vocabulary import EntryStatus, RunStatus
from ..harness import WrongUsage
from ..runs.settings import Method
from .app import app
from .options import Db, EntryKind, Json, Limit, Scope, given_options, open_store

if TYPE_CHECKING:
    from ..experience.journal import EpisodeRecord, RunRecord
    from ..harness import Step

PRINTED = 50
"""How many episodes of a run are printed where it isn't said."""
_INCAPABLE = ("", "dumb", "unknown")
"""The kinds of terminal, as TERM names them, that only take text."""

inspect = typer.Typer(invoke_without_command=True)
app.add_typer(inspect, name="inspect")


@inspect.callback()
def overview(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """See what happened and what was learned.

    Example: evoharness inspect
    """
    if ctx.invoked_subcommand:
        if given := given_options(ctx):
            raise WrongUsage(f"Put {', '.join(sorted(given))} after `{ctx.invoked_subcommand}`.")
        return
    from ..experience.overview import overview as look
    from ..experience.shown import quote
    from .screen import dump, line, out, row, table

    with closing(open_store(db)) as store:
        found = look(store)
    if as_json:
        entries = [{"status": status, "kind": kind, "count": count} for (status, kind), count in found.entries.items()]
        dump({**asdict(replace(found, entries={})), "entries": entries, "path": str(store.path)})
        return
    out.print(line(("store ", "bold"), f"{store.path} ({found.bytes / 1e6:.1f} MB)"))
    out.print(
        line(("runs ", "bold"), f"{found.runs}, with {found.episodes} episodes, {found.won} of {found.closed} won")
    )
    kinds = table("environment", "kind of task", "episodes#", "won#", "rate#")
    for each in found.by_kind:
        row(kinds, each.environment, each.kind, each.closed, each.won, f"{each.rate:.0%}")
    if found.by_kind:
        out.print(kinds)
    counts = ", ".join(f"{count} {status} of kind {kind}" for (status, kind), count in found.entries.items())
    out.print(line(("experience ", "bold"), counts or "nothing yet"))
    for entry in found.most_useful:
        out.print(line(f"  {quote(entry)}"))


@inspect.command()
def runs(
    status: Annotated[RunStatus | None, typer.Option(help="Only runs that ended so, or have not ended.")] = None,
    method: Annotated[Method | None, typer.Option(help="Only runs of this method.")] = None,
    task: Annotated[str | None, typer.Option(help="Only runs of this task.")] = None,
    limit: Limit = 20,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List the runs, the latest first.

    Example: evoharness inspect runs --limit 5
    """
    from ..experience import journal
    from .run_words import status as status_of
    from .screen import dump, out, row, table

    with closing(open_store(db)) as store:
        found = journal.runs(store, limit, status=status, method=method and method.value, task=task)
    listed = table("run#", "started", "status", "method", "model", "won#", "episodes#")
    for run in found:
        if as_json:
            dump(_run_object(run))
            continue
        settings = run.settings
        played = (status_of(run), settings["method"], settings["model"])
        row(listed, run.id, run.started[:19], *played, run.won, run.episodes)
    if not as_json:
        out.print(listed if found else "no runs yet; begin with: evoharness run heat-apple")


@inspect.command()
def run(
    number: Annotated[int | None, typer.Argument(help="The run; the latest by default.", show_default=False)] = None,
    task: Annotated[str | None, typer.Option(help="Only this task's episode.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Print every step instead of browsing them.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help=f"The most episodes to show. [default: {PRINTED} are printed]")
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Browse the episodes and steps of a run; print them where there is no terminal to browse in.

    Example: evoharness inspect run 3
    """
    from ..experience import journal
    from .screen import dump, line, out

    with closing(open_store(db)) as store:
        found = journal.run(store, number) if number else journal.latest_run(store)
        if found is None:
            raise WrongUsage("no runs yet; begin with: evoharness run heat-apple")
        episodes = [each for each in journal.episodes(store, found.id) if task in (None, each.task)]
        if task and not episodes:
            raise WrongUsage(f"run {found.id} has no task {task!r}; see: evoharness inspect run {found.id}")
        if not (as_json or plain) and _can_browse():
            from .browsing import browse

            browse(store, found, episodes[:limit])
            return
        printed = episodes[: limit or PRINTED]
        steps = {each.id: journal.steps(store, each.id) for each in printed}
    if as_json:
        dump({**_run_object(found), "episodes": [_episode_object(each, steps[each.id]) for each in printed]})
        return
    _print_run(found, printed, steps)
    if left_out := len(episodes) - len(printed):
        out.print(line(f"\n{left_out} more episodes; see them with --limit {len(episodes)}"))


@inspect.command()
def experience(
    query: Annotated[
        str | None, typer.Argument(help="What to recall; all entries by default.", show_default=False)
    ] = None,
    kind: EntryKind = None,
    scope: Scope = None,
    world: Annotated[str | None, typer.Option(help="Recall as in this world.", show_default=False)] = None,
    status: Annotated[EntryStatus | None, typer.Option(help="Only entries that stand so.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say of each entry why it comes, or why it is left out.")
    ] = False,
    limit: Limit = 20,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List what was learned, or what a recall of QUERY would rank, with the parts of each score.

    Example: evoharness inspect experience "where is the kettle" --scope alfworld --explain
    """
    from ..experience.entries import entries
    from ..experience.recall import search
    from ..experience.upkeep.suspicion import suspicions
    from .explaining import show_recollection
    from .screen import dump, out, row, table

    with closing(open_store(db)) as store:
        if world and not query:
            raise WrongUsage("--world is for a recall; add a QUERY.")
        if explain and not query:
            raise WrongUsage("--explain is for a recall; add a QUERY.")
        if query:
            known = search(store, query, scope, world, kind=kind, status=status, limit=limit)
            show_recollection(known, explain, as_json)
            return
        found = entries(store, kind=kind, status=status, scope=scope, limit=limit)
    listed = table("entry#", "kind", "status", "scope", "noted#", "recalled#", "helped#", "hurt#", "text")
    for each in found:
        suspicious = suspicions(each.said)
        if as_json:
            dump({**asdict(each), "suspicious": suspicious})
        votes = (f"{each.helped:.2f}", f"{each.hurt:.2f}")
        text = f"(suspicious) {each.text}" if suspicious else each.text
        row(listed, each.id, each.kind, each.status, each.scope, each.strength, each.recalled, *votes, text)
    if not as_json:
        out.print(listed if found else "no entries")


@inspect.command()
def entry(
    number: Annotated[int, typer.Argument(help="The entry's number.")],
    limit: Limit = 50,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show one entry: its text, where it came from, its votes and its history.

    Example: evoharness inspect entry 14
    """
    from ..experience.entries import entry as read
    from ..experience.entries import events
    from ..experience.exchange.origins import line_of, origins_elsewhere
    from ..experience.upkeep.suspicion import suspicions
    from .screen import dump, line, out, row, table

    with closing(open_store(db)) as store:
        found, history = read(store, number), events(store, number)[-limit:]
        origins = origins_elsewhere(store, number)
    suspicious = suspicions(found.said)
    if as_json:
        happened = [asdict(event) for event in history]
        dump({**asdict(found), "suspicious": suspicious, "events": happened, "origins": origins})
        return
    out.print(line((f"{found.kind} {found.id} ", "bold"), found.text))
    where = f"scope {found.scope or 'general'}" + (f", world {found.world}" if found.world else "")
    provisional = ", provisional" if found.provisional else ""
    out.print(line(f"{found.status}{provisional}, {where}, from {found.trust}"))
    for reason in suspicious:
        out.print(line(("suspicious: ", "bold"), reason))
    if found.when:
        out.print(line("applies when ", found.when))
    if found.episode:
        out.print(line(f"noted in episode {found.episode}, step {found.step}, after: {found.because}"))
    for origin in origins:
        out.print(line(f"noted elsewhere, {line_of(origin)}"))
    out.print(
        line(
            f"noted {found.strength} times, recalled {found.recalled} times, "
            f"helped {found.helped:.2f}, hurt {found.hurt:.2f}"
        )
    )
    listed = table("when", "what", "episode#", "step#", "detail")
    for event in history:
        detail = ", ".join(f"{key} {value}" for key, value in event.detail.items() if value not in ("", None))
        row(listed, event.at[:19], event.kind, event.episode, event.step, detail)
    out.print(listed)


def _can_browse() -> bool:
    """Tell whether there is a person at a terminal that can be drawn on."""
    from .screen import out

    capable = os.environ.get("TERM", "") not in _INCAPABLE or sys.platform == "win32"
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return capable and not out.options.ascii_only and all(stream.isatty() for stream in streams)


def _print_run(run: RunRecord, episodes: Sequence[EpisodeRecord], steps: Mapping[int, list[Step]]) -> None:
    from .live import step_lines
    from .run_words import ended, played_as, spent, status, within
    from .screen import line, out

    out.print(line((f"run {run.id} ", "bold"), f"{status(run)}, started {run.started[:19]} UTC"))
    out.print(line(played_as(run)))
    for each in episodes:
        out.print()
        out.print(
            line(("task ", "bold"), (each.task, "bold"), f"  {each.source}, episode {each.id}, world {each.world}")
        )
        out.print(line("goal ", each.goal))
        out.print(line(("within ", "dim"), (within(each), "dim")))
        for step in steps[each.id]:
            out.print(*step_lines(step), sep="\n")
        out.print(line((ended(each), "bold"), f"  {spent(each)}"))


def _run_object(run: RunRecord) -> dict[str, object]:
    return {"run": run.id, **{key: value for key, value in asdict(run).items() if key != "id"}}


def _episode_object(episode: EpisodeRecord, steps: list[Step]) -> dict[str, object]:
    from ..runs.spending import cost_of

    first, cost = steps[0].observation if steps else None, cost_of(episode.settings, episode)
    return {**asdict(episode), "cost": cost, "observation": first, "steps": [asdict(step) for step in steps[1:]]}
