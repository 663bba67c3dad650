"""`evoharness train policy`: what was trained, as the folder that ships."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Json
from .train import train
from .training_setup import needs_torch


@train.command()
def policy(
    run: Annotated[Path, typer.Argument(help="A training run's folder.", show_default=False)],
    bank: Annotated[Path, typer.Option(help="What it may recall, as `export` writes it.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The policy's folder to write.", show_default=False)],
    what: Annotated[str, typer.Option(help="What it does, in a few words.", show_default=False)],
    environment: Annotated[str, typer.Option(help="What it was trained for.")] = "alfworld",
    evaluation: Annotated[
        list[Path] | None,
        typer.Option(help="The store of an evaluation whose results the card tells; repeatable.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write what a run has learnt, with its bank and a card of how it was made and how it plays, as one folder.

    Example: evoharness train policy build/rl --bank bank.jsonl --what "plays my games" -o my-policy
    """
    needs_torch()
    from ..training.checkpoint import RunFolder
    from ..training.policy_folder import write_policy
    from .screen import dump, line
    from .screen import out as console

    card = write_policy(out, RunFolder(run), bank, environment, what, evaluation or [])
    if as_json:
        dump(card)
        return
    size = (out / "adapter.gguf").stat().st_size
    console.print(line(f"{out}: an adapter of {size / 1e6:.1f} MB, a bank, and a card"))
