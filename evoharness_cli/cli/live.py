"""The view of a run while it is played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from ..environments.mcp import approval
from ..harness import Episode, Part, Status, Step
from ..harness.belief import AT, HAND, SEARCHED, YES, YOU
from ..runs.play import Result, Unwatched
from ..runs.spending import shown
from ..runs.task import Task
from .screen import dump, err, indented, line, out

_STYLES = {"environment": "cyan", "format": "red"}
_MARKS = {Status.DONE: ("✓", "green"), Status.OPEN: ("·", ""), Status.BLOCKED: ("✗", "red")}
_SHOWN_FACTS = 6
_NARROW = 60
"""Below so many columns, panels stand below each other."""


class Steps:
    """Prints each step as it happens; on a terminal, the state of the workspace stays below."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._episode: Episode | None = None
        self._live = Live(console=out, refresh_per_second=8, transient=True) if out.is_terminal else None

    def __enter__(self) -> Steps:
        if self._live:
            self._live.start()
            approval.undisturbed = self._still
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            approval.undisturbed = nullcontext
            self._live.stop()

    @contextmanager
    def _still(self) -> Iterator[None]:
        """Redraw nothing while a person is asked something."""
        assert self._live
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

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

    def began_anew(self, reason: str) -> None:
        """Say why."""
        out.print(line(("the episode starts over: ", "yellow"), (reason, "yellow")))

    def ended(self, result: Result) -> None:
        """Print what became of the task."""
        self._episode = None
        if result.fault:
            err.print(line((f"{result.task}: fault ", "bold red"), result.fault))
            return
        style = "bold green" if result.success else "bold yellow"
        calls = sum(result.calls.values())
        cost = "" if result.cost is None else f", {shown(result.cost)}"
        out.print(
            line(
                f"{result.task}: ",
                (result.outcome, style),
                f"  {result.steps} steps, {calls} of them calls of the harness, "
                f"{result.prompt_tokens:,} prompt and {result.completion_tokens:,} completion tokens, "
                f"{result.seconds:.1f} s{cost}",
            )
        )
        out.print()

    def _refresh(self) -> None:
        if self._live and self._episode:
            self._live.update(_state(self._episode), refresh=True)


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
        "cost": result.cost,
        "fault": result.fault,
        "settings": dict(result.settings),
    }


def step_lines(step: Step) -> list[Text | Padding]:
    """Return a step as lines: what was thought, done, and answered."""
    lines: list[Text | Padding] = []
    if step.compacted:
        said = f"the oldest {step.compacted} exchanges were left out: the context was full"
        lines.append(indented(said, "yellow"))
    if step.thought:
        lines.append(indented(step.thought, "dim italic"))
    if step.number:
        free = "" if step.charged else "  (free)"
        lines.append(line((f"{step.number:>3}  ", "dim")).append_text(action_text(step)).append(free))
    lines.append(indented(step.observation))
    return [*lines, indented(step.remark, "yellow")] if step.remark else lines


def action_text(step: Step) -> Text:
    """Return what was done, in the colour of its kind, lines after the first below its beginning."""
    said = (step.action or step.reply).replace("\n", "\n     ")
    return line((said, _STYLES.get(step.kind, "magenta")))


def plan_text(plan: Sequence[tuple[Status, str]], current: int | None) -> Text:
    """Return subgoals as lines, each with a mark of where it stands and an arrow at the current one."""
    if not plan:
        return line(("no plan", "dim"))
    lines = []
    for place, (status, subgoal) in enumerate(plan):
        mark, style = _MARKS[status]
        lines.append(line("→" if place == current else " ", (f"{mark} {subgoal}", style)))
    return Text("\n").join(lines)


def _state(episode: Episode) -> Group:
    spent = sum(step.charged for step in episode.steps)
    limit = episode.settings.limits.steps
    spinner = Spinner(out.spinner, f" step {min(spent + 1, limit)} of {limit}")
    workspace = episode.workspace
    if not workspace.parts:
        return Group(spinner)
    panels = []
    if Part.BELIEF in workspace.parts:
        panels.append(Panel(line(_belief(episode)), title="belief", title_align="left"))
    if Part.PROGRESS in workspace.parts:
        panels.append(Panel(_progress(episode), title="progress", title_align="left"))
    recalled = next((step for step in reversed(episode.steps) if step.kind == "recall"), None)
    lower = [Panel(line(recalled.observation), title="recalled", title_align="left")] if recalled else []
    return Group(*_beside(panels), *lower, spinner)


def _beside(panels: Sequence[Panel]) -> Sequence[Panel | Table]:
    """Return panels side by side, where there is room for that."""
    if out.width < _NARROW:
        return panels
    grid = Table.grid(expand=True, padding=(0, 1))
    for _ in panels:
        grid.add_column(ratio=1)
    grid.add_row(*panels)
    return [grid]


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
    current = next((place for place, each in enumerate(progress.plan) if each is progress.current), None)
    return plan_text([(subgoal.status, str(subgoal)) for subgoal in progress.plan], current)
