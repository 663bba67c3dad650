"""`evoharness tasks`: the sample tasks."""

from __future__ import annotations

from .app import app
from .options import Json


@app.command()
def tasks(as_json: Json = False) -> None:
    """List the sample tasks, which run by name.

    Example: evoharness tasks
    """
    from ..runs.find import sample_tasks
    from ..runs.task import read_task
    from .screen import dump, out, row, table

    listed = table("name", "environment", "what")
    for file in sample_tasks():
        task = read_task(file)
        what = _comment(file.read_text(encoding="utf-8"))
        if as_json:
            dump({"name": task.name, "environment": task.environment, "what": what, "file": str(file)})
        row(listed, task.name, task.environment, what)
    if not as_json:
        out.print(listed)


def _comment(text: str) -> str:
    """Return the comment that opens a task file."""
    first = text.splitlines()[0] if text else ""
    return first.removeprefix("#").strip() if first.startswith("#") else ""
