"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..experience.vocabulary import Kind
from ..harness import Decode, WrongUsage

if TYPE_CHECKING:
    from ..experience.store import Store
    from ..runs.task import Task

DEFAULT_MODEL = "smollm2-135m"
NO_ADAPTER = "none"

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", help=f"A model's name, a GGUF file, openai:NAME, or scripted:FILE. [default: {DEFAULT_MODEL}]"
    ),
]
Adapter = Annotated[
    str | None,
    typer.Option(
        "--adapter",
        help="A LoRA adapter as a GGUF file, a policy's name, or `none`. [default: the policy for such tasks, if any]",
        show_default=False,
    ),
]
Decoding = Annotated[
    Decode | None,
    typer.Option(
        "--decode", help="Free text, the grammar of actions, or the admissible actions only. [default: grammar]"
    ),
]
ShowAdmissible = Annotated[
    bool, typer.Option("--show-admissible", help="Add the admissible actions to each observation.")
]
MaxSteps = Annotated[
    int | None,
    typer.Option("--max-steps", min=1, help="Charged steps an episode. [default: the task's, else 50]"),
]
FreeMeta = Annotated[
    int | None,
    typer.Option("--free-meta", min=0, help="How many calls of the harness are not charged. [default: 0]"),
]
Temperature = Annotated[float, typer.Option("--temperature", min=0.0, max=5.0, help="0 takes the likeliest token.")]
Context = Annotated[
    int | None,
    typer.Option(
        "--context",
        min=1,
        help="Tokens that a prompt and its reply may have; when they are full the oldest steps are summed up. "
        "[default: 8192]",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        help="The server of openai:NAME, up to /v1. [default: OPENAI_BASE_URL, else OpenAI's]",
        show_default=False,
    ),
]
KeyVariable = Annotated[
    str | None,
    typer.Option(
        "--key-variable",
        help="The environment variable that holds the server's key. [default: OPENAI_API_KEY]",
        show_default=False,
    ),
]
PriceOfTokens = Annotated[
    str | None,
    typer.Option(
        "--price",
        metavar="IN,OUT[,CACHED]",
        help="What a million tokens cost in USD, of prompt, reply and cached prompt, as in 2.5,10,1.25.",
        show_default=False,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", min=0.0, help="End when so many USD are spent, by --price.", show_default=False),
]
MemoryName = Annotated[
    str,
    typer.Option(
        "--experience",
        help="What remembers: bpe, or none, append, expel, reasoningbank, skillos or skillrl to compare with.",
    ),
]
Curator = Annotated[
    str | None,
    typer.Option(
        "--curator",
        help="The model that decides what such a memory keeps. [default: a deterministic stand-in]",
        show_default=False,
    ),
]
Db = Annotated[
    Path | None,
    typer.Option(
        "--db",
        envvar="EVOHARNESS_DB",
        help="The store of runs and experience; a file in the user's data folder by default.",
        readable=False,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines for programs.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="The most rows to show.")]
Engine = Annotated[
    str | None,
    typer.Option("--engine", help="What plays ALFWorld games: native, or textworld, the official engine."),
]
EntryKind = Annotated[Kind | None, typer.Option("--kind", help="Only entries of this kind.")]
Scope = Annotated[str | None, typer.Option("--scope", help="Where in experience: a path such as alfworld/kitchen.")]


def given_options(ctx: typer.Context) -> set[str]:
    """Return the options that the command line gave, by their long names."""
    return {
        next(name for name in parameter.opts if name.startswith("--"))
        for parameter in ctx.command.params
        if parameter.name
        and any(name.startswith("--") for name in parameter.opts)
        and str(ctx.get_parameter_source(parameter.name)).endswith("COMMANDLINE")
    }


def open_store(path: Path | None, create: bool = False) -> Store:
    """Open the store that an option or the default names. Raises WrongUsage where there is none to read."""
    from ..configuration.upkeep import set_up
    from ..experience.store import Store, default_path

    path = path or default_path()
    if path.name == ":memory:":
        raise WrongUsage("Expected --db to name a file; `:memory:` keeps nothing.")
    is_new = not path.exists()
    if is_new and not create:
        raise WrongUsage(f"There is no store at {path} yet; `evoharness run heat-apple` makes one.")
    store = Store.open(path)
    if is_new:
        set_up(store)
    return store


def _hint(tasks: Sequence[Task], key: str) -> str | None:
    """Return what the tasks ask for, which has to be the same for all that ask."""
    asked = {getattr(task, key) for task in tasks} - {None}
    if len(asked) > 1:
        raise WrongUsage(f"the tasks ask for more than one {key} ({', '.join(sorted(asked))}); choose with --{key}")
    return asked.pop() if asked else None


def model_of(option: str | None, tasks: Sequence[Task]) -> str:
    """Return the model of an option, else of the tasks, else the default."""
    from ..models import anchored

    return anchored(option, Path.cwd()) if option else _hint(tasks, "model") or DEFAULT_MODEL


def adapter_of(option: str | None, tasks: Sequence[Task], model: str) -> str | None:
    """Return the adapter's file of an option, else of the tasks, else of the policy that was trained for such tasks.

    `none` is none, and a policy's name its adapter.
    """
    from ..policies import made_for, named

    if option == NO_ADAPTER:
        return None
    if option:
        policy = named(option)
        return str(policy.adapter if policy else Path(option).resolve())
    if asked := _hint(tasks, "adapter"):
        return asked
    policy = made_for(model, {task.environment for task in tasks})
    return str(policy.adapter) if policy else None


def curator_of(option: str | None) -> str | None:
    """Return the curator's model of an option, from any working folder."""
    from ..models import anchored

    return anchored(option, Path.cwd()) if option else None


def check_spending(price: str | None, max_cost: float | None) -> None:
    """Raise WrongUsage for a price that can't be read, or a limit without a price."""
    from ..runs.spending import read_price

    if price is not None:
        read_price(price)
    elif max_cost is not None:
        raise WrongUsage("Expected --price besides --max-cost: what a million tokens cost, as in --price 2.5,10,1.25.")


def engine_need(engine: str | None) -> dict[str, str]:
    """Return the engine of an option as a need of tasks."""
    return {"engine": engine} if engine else {}
