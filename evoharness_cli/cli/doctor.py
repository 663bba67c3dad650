"""`evoharness doctor`: what is installed, and what is wrong with it."""

from __future__ import annotations

import typer

from .app import Exit, app
from .options import Db, Json


@app.command()
def doctor(db: Db = None, as_json: Json = False) -> None:
    """Check the installation, the model, the games and the store.

    Each problem comes with its remedy. Exits with 3 when there is one.

    Example: evoharness doctor
    """
    from ..experience.store import default_path
    from ..health import examine
    from .screen import dump, err, line, out

    problems = 0
    with err.status("looking"):
        for finding in examine(db or default_path()):
            problems += finding.remedy is not None
            if as_json:
                dump({"what": finding.what, "found": finding.found, "remedy": finding.remedy})
                continue
            mark = ("✗ ", "red") if finding.remedy else ("✓ ", "green")
            out.print(line(mark, (f"{finding.what}: ", "bold"), finding.found))
            if finding.remedy:
                out.print(line("  remedy: ", (finding.remedy, "yellow")))
    if problems:
        raise typer.Exit(Exit.FAULT)
