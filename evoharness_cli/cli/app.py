"""The command `evoharness`: its commands, and the one place where an error becomes a sentence and an exit code."""

from __future__ import annotations

import enum
import io
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..harness import OutsideFault, WrongUsage
from .configured import defaults_for, share_profile


class Exit(enum.IntEnum):
    """What the exit code says."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    FAULT = 3
    INTERRUPTED = 130


ORDER = (
    *("run", "eval", "inspect", "report", "note", "consolidate", "prune"),
    *("banks", "scopes", "export", "import", "train", "policies", "tasks", "games", "models"),
    *("mcp", "config", "doctor"),
)
"""The commands as the help lists them: what is used most comes first."""


class Edge(TyperGroup):
    """Turns the errors of the packages below into one sentence on standard error.

    Options that aren't given have the values that are configured; see `configured`.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        share_profile(next(each for each in self.params if each.name == "profile"), self.commands)

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ORDER.index)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and not ctx.resilient_parsing:
            ctx.default_map = defaults_for(name, command, rest, chosen_profile(ctx))
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:
            _print(str(stopped) or "interrupted")
            raise typer.Exit(Exit.INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read the output went away; nothing more can be said to them.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(Exit.INTERRUPTED) from None
        except WrongUsage as error:
            raise _said(error, Exit.USAGE) from None
        except (OutsideFault, OSError) as error:
            raise _said(error, Exit.FAULT) from None


def chosen_profile(ctx: Any) -> str | None:
    """Return the profile that was named before the command, None where none was."""
    profile: str | None = ctx.find_root().params.get("profile")
    return profile


def _said(error: Exception, code: Exit) -> typer.Exit:
    _print(("error: ", "bold red"), str(error))
    return typer.Exit(code)


def _print(*parts: tuple[str, str] | str) -> None:
    from .screen import err, line

    err.print(line(*parts))


app = typer.Typer(cls=Edge, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"evoharness {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="A profile of your configuration, for the model.", show_default=False),
    ] = None,
) -> None:
    """Run language-model agents under a Belief, Progress and Experience harness.

    Example: evoharness run heat-apple
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What the terminal's encoding lacks is shown as a question mark.
            stream.reconfigure(errors="replace")
    app()
