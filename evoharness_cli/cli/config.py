"""`evoharness config`: what is set once instead of on every command line."""

from __future__ import annotations

from pathlib import Path

import typer

from .app import Exit, app, chosen_profile
from .options import Json

config = typer.Typer(no_args_is_help=True)
app.add_typer(config, name="config")


@config.callback()
def group() -> None:
    """See what is configured: in your own file, the project's, and environment variables.

    Example: evoharness config show
    """


@config.command()
def show(ctx: typer.Context, as_json: Json = False) -> None:
    """Show every key, its value, and where that comes from.

    Example: evoharness config show
    """
    from ..configuration.layers import configure
    from ..configuration.listing import listed
    from .screen import dump, out, row, table

    shown = table("key", "value", "from", "where")
    for key, says, each in listed(configure(Path.cwd(), chosen_profile(ctx))):
        if as_json:
            set_by = {"source": each.source.value, "where": each.where or None}
            dump({"key": key, "says": says, "value": each.value, **set_by})
        row(shown, key, each.value, each.source, each.where)
    if not as_json:
        out.print(shown)


@config.command()
def path(as_json: Json = False) -> None:
    """Show which files are read here.

    Example: evoharness config path
    """
    from ..configuration.files import PROJECT_NAME, project_path, user_path
    from .screen import dump, line, out

    user, project = user_path(), project_path(Path.cwd())
    if as_json:
        dump({"user": str(user), "exists": user.exists(), "project": str(project) if project else None})
        return
    out.print(line(("user     ", "bold"), str(user), "" if user.exists() else "  (not there)"))
    nowhere = f"no {PROJECT_NAME} in this folder or above it"
    out.print(line(("project  ", "bold"), str(project) if project else nowhere))


@config.command()
def check(ctx: typer.Context) -> None:
    """Check the files and variables that count here, and say everything that is wrong with them.

    Exits with 2 where something is.

    Example: evoharness config check
    """
    from ..configuration.files import examine, project_path, user_path
    from ..configuration.layers import configure
    from .screen import err, line, out

    files = [(user_path(), False), (project_path(Path.cwd()), True)]
    read = [(file, *examine(file, is_project)) for file, is_project in files if file is not None and file.exists()]
    problems = [problem for _, _, found in read for problem in found]
    for problem in problems:
        err.print(line(("error: ", "bold red"), problem))
    if problems:
        raise typer.Exit(Exit.USAGE)
    configure(Path.cwd(), chosen_profile(ctx))
    for file, _, _ in read:
        out.print(line(f"{file}: nothing is wrong"))
    if not read:
        out.print("there is no file to check; see: evoharness config path")
