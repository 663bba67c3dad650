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


class Exit(enum.IntEnum):
    """What the exit code says."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    FAULT = 3
    INTERRUPTED = 130


ORDER = (
    *("run", "eval", "inspect", "note", "consolidate", "prune"),
    *("banks", "scopes", "export", "import", "train", "tasks", "games", "doctor"),
)
"""The commands as the help lists them: what is used most comes first."""


class Edge(TyperGroup):
    """Turns the errors of the packages below into one sentence on standard error."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ORDER.index)

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
