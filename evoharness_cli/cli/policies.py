"""`evoharness policies`: the trained policies that come along."""

from __future__ import annotations

from typing import Annotated

import typer

from ..harness import WrongUsage
from .app import app
from .options import Json


@app.command()
def policies(
    name: Annotated[str | None, typer.Argument(help="Show this one's card.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """List the trained policies that come along, or show the card of one.

    Example: evoharness policies
    """
    from .. import policies as shipped
    from .screen import dump, line, out, row, table

    found = shipped.policies()
    if name:
        chosen = next((policy for policy in found if policy.name == name), None)
        if chosen is None:
            raise WrongUsage(f"There is no policy {name!r}. Known: {', '.join(each.name for each in found) or 'none'}.")
        if as_json:
            dump({"name": chosen.name, **chosen.card})
            return
        out.print(*map(line, chosen.text.splitlines()), sep="\n")
        return
    listed = table("policy", "environment", "model", "MB#", "what")
    for policy in found:
        if as_json:
            dump({"name": policy.name, "adapter": str(policy.adapter), "bank": str(policy.bank), **policy.card})
        size = f"{policy.adapter.stat().st_size / 1e6:.1f}"
        row(listed, policy.name, policy.environment, policy.model, size, policy.card["what"])
    if not as_json:
        out.print(listed if found else "no policies")
