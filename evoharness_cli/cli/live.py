"""The view of a run while it is played."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from ..harness import Episode, Part, Status, Step
from ..harness.belief import AT, HAND, SEARCHED, YES, YOU
from ..runs.play import Result, Unwatched
from ..runs.task import Task
from .screen import dump, err, indented, line, out

_STYLES = {"environment": "cyan", "format": "red"}
_MARKS = {Status.DONE: ("✓", "green"), Status.OPEN: ("·", ""), Status.BLOCKED: ("✗", "red")}
_SHOWN_FACTS = 6


class Steps:
    """Prints each step as it happens; on a terminal, the state of the workspace stays below."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._episode: Episode | None = None
        self._live = Live(console=out, refresh_per_second=8, transient=True) if out.is_terminal else None

    def __enter__(self) -> Steps:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def began(self, number: int, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        """Print what the task is."""
        self._episode = episode
        out.print(line(("task ", "bold"), (task.name, "bold"), f"  ({number + 1} of {self._total})"))
        out.print(line("goal ", episode.environment.brief.goal))
        if recorded:
            out.print(line((f"resumed after step {recorded[-1].number}", "yellow")))
        self._refresh()

    def stepped(self, step: Step) -> None:
        """Print a step."""
        out.print(*step_lines(step), sep="\n")
        self._refresh()

    def ended(self, result: Result) -> None:
        """Print what became of the task."""
        self._episode = None
        if result.fault:
            err.print(line((f"{result.task}: fault ", "bold red"), result.fault))
            return
        style = "bold green" if result.success else "bold yellow"
        calls = sum(result.calls.values())
        out.print(
            line(
                f"{result.task}: ",
                (result.outcome, style),
                f"  {result.steps} steps, {calls} of them calls of the harness, "
                f"{result.prompt_tokens:,} prompt and {result.completion_tokens:,} completion tokens, "
                f"{result.seconds:.1f} s",
            )
        )
        out.print()

    def _refresh(self) -> None:
        if self._live and self._episode:
            self._live.update(_state(self._episode))


class Lines(Unwatched):
    """Prints one JSON object a task."""

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ended(self, result: Result) -> None:
        """Print the result."""
        dump(result_object(result))


class Outcomes(Lines):
    """Prints one line a task."""

    def ended(self, result: Result) -> None:
        """Print the task and its outcome."""
        console = err if result.fault else out
        console.print(line(f"{result.task}: {result.fault or result.outcome}, {result.steps} steps"))


def result_object(result: Result) -> dict[str, object]:
    """Return a result as `--json` prints it."""
    return {
        "task": result.task,
        "outcome": result.outcome,
        "success": result.success,
        "steps": result.steps,
        "calls": sum(result.calls.values()),
        "run": result.run,
        "episode": result.episode,
        "calls_by_verb": dict(result.calls),
        "prompt_tokens": result.prompt_tokens,
        "completion_tokens": result.completion_tokens,
        "seconds": round(result.seconds, 3),
        "fault": result.fault,
        "settings": dict(result.settings),
    }


def step_lines(step: Step) -> list[Text | Padding]:
    """Return a step as lines: what was thought, done, and answered."""
    lines: list[Text | Padding] = []
    if step.compacted:
        said = f"the oldest {step.compacted} exchanges were left out: the context was full"
        lines.append(indented(said, "yellow"))
    if step.remark:
        lines.append(indented(step.remark, "yellow"))
    if step.thought:
        lines.append(indented(step.thought, "dim italic"))
    if step.number:
        free = "" if step.charged else "  (free)"
        action = step.action or step.reply
        lines.append(line((f"{step.number:>3}  ", "dim"), (action, _STYLES.get(step.kind, "magenta")), free))
    return [*lines, indented(step.observation)]


def _state(episode: Episode) -> Group:
    spent = sum(step.charged for step in episode.steps)
    limit = episode.settings.limits.steps
    spinner = Spinner("dots", f" step {min(spent + 1, limit)} of {limit}")
    workspace = episode.workspace
    if not workspace.parts:
        return Group(spinner)
    grid = Table.grid(expand=True, padding=(0, 1))
    panels = []
    if Part.BELIEF in workspace.parts:
        panels.append(Panel(line(_belief(episode)), title="belief", title_align="left"))
    if Part.PROGRESS in workspace.parts:
        panels.append(Panel(_progress(episode), title="progress", title_align="left"))
    for _ in panels:
        grid.add_column(ratio=1)
    grid.add_row(*panels)
    recalled = next((step for step in reversed(episode.steps) if step.kind == "recall"), None)
    lower = [Panel(line(recalled.observation), title="recalled", title_align="left")] if recalled else []
    return Group(grid, *lower, spinner)


def _belief(episode: Episode) -> str:
    belief = episode.workspace.belief
    held = ", ".join(belief.subjects(AT, HAND)) or "nothing"
    places = belief.subjects(SEARCHED)
    head = (
        f"at {belief.value(YOU, AT) or 'no place yet'}, holding {held}, "
        f"{len(belief.subjects(SEARCHED, YES))} of {len(places)} places searched"
    )
    latest = sorted(belief.things(), key=lambda known: known.step)[-_SHOWN_FACTS:]
    return "\n".join([head, *(str(known.fact) for known in latest)])


def _progress(episode: Episode) -> Text:
    progress = episode.workspace.progress
    if not progress.plan:
        return line(("no plan", "dim"))
    text = line()
    for subgoal in progress.plan:
        mark, style = _MARKS[subgoal.status]
        arrow = "→" if subgoal is progress.current else " "
        text.append_text(line(arrow, (f"{mark} {subgoal}\n", style)))
    text.rstrip()
    return text
