"""The screens of the browser: a run, an episode, a step."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static

from ...experience.journal import EpisodeRecord, RunRecord
from ...experience.store import Store
from ...harness import VERBS, OutsideFault, Step, WrongUsage
from ..live import action_text
from ..run_words import ended, played_as, spent, status, within
from ..screen import line
from .detail import step_detail
from .record import PlayedEpisode, read_episode
from .rows import Rows


def browse(store: Store, run: RunRecord, episodes: Sequence[EpisodeRecord]) -> None:
    """Let a person browse a run on the terminal until they leave.

    Raises KeyboardInterrupt on Ctrl-C, and StoreError where the store can't be read any more; the terminal is as it
    was before.
    """
    browser = Browser(store, run, episodes)
    error = browser.run()
    if error:
        raise error
    if browser.return_code:
        raise OutsideFault("The browser ended unexpectedly; `--plain` prints the steps instead.")


class RunScreen(Screen[None]):
    """The episodes of a run, all of them or those that ended in one way."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "filter", "Filter by outcome"),
        Binding("q,escape", "app.quit", "Leave"),
    ]

    def __init__(self, run: RunRecord, episodes: Sequence[EpisodeRecord]) -> None:
        super().__init__()
        self._run, self._episodes = run, episodes
        self._outcomes = ["", *sorted({ended(each) for each in episodes})]
        self._listed: list[EpisodeRecord] = []

    def compose(self) -> ComposeResult:
        yield Static(id="heading")
        yield Rows(["##", "task", "outcome", "steps#", "calls#", "tokens#", "seconds#"])
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._list()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        browser = self.app
        assert isinstance(browser, Browser)
        browser.open(self._listed[event.row])

    def action_filter(self) -> None:
        """List the episodes of the next outcome, after the last all of them."""
        self._outcomes.append(self._outcomes.pop(0))
        self._list()

    def _list(self) -> None:
        outcome = self._outcomes[0]
        self._listed = [each for each in self._episodes if outcome in ("", ended(each))]
        self.query_one(Rows).show([_cells(each) for each in self._listed])
        run = self._run
        only = f", those that ended with `{outcome}`" if outcome else ""
        heading = line((f"run {run.id} ", "bold"), f"{status(run)}, started {run.started[:19]} UTC")
        heading.append_text(line(f"\n{run.won} of {run.episodes} won. Shown: {len(self._listed)}{only}\n"))
        heading.append_text(line((played_as(run), "dim")))
        self.query_one("#heading", Static).update(heading)


class EpisodeScreen(Screen[None]):
    """The steps of an episode, and below them the one at the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Scroll below"),
        Binding("q,escape,backspace", "app.pop_screen", "Back"),
    ]

    def __init__(self, played: PlayedEpisode) -> None:
        super().__init__()
        self._played = played

    def compose(self) -> ComposeResult:
        episode = self._played.episode
        heading = line((episode.task, "bold"), "  ").append_text(_outcome(episode))
        heading.append_text(line(f"\n{episode.goal}\n", (f"{spent(episode)}; {within(episode)}", "dim")))
        yield Static(heading, id="heading")
        yield Rows(["step#", "seconds#", "tokens#", "action"])
        with VerticalScroll(id="below"):
            yield Static(id="detail")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        if self._played.steps:
            self.query_one(Rows).show([_step_cells(step) for step in self._played.steps])
        else:
            self.query_one("#detail", Static).update(line("Its steps are no longer kept."))

    def on_rows_reached(self, event: Rows.Reached) -> None:
        self.query_one("#detail", Static).update(step_detail(self._played, event.row))
        self.query_one("#below", VerticalScroll).scroll_home(animate=False)

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        self.app.push_screen(StepScreen(self._played, event.row), self._went_to)

    def _went_to(self, place: int | None) -> None:
        """Put the cursor on the step that was read last."""
        if place is not None:
            self.query_one(Rows).cursor = place


class StepScreen(Screen[int]):
    """One step, as large as the terminal; ends with the place of the step that is shown then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,right", "go(1)", "Next step"),
        Binding("p,left", "go(-1)", "Previous"),
        Binding("q,escape,backspace", "back", "Back"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
        Binding("space", "page(1)", show=False),
        Binding("b", "page(-1)", show=False),
    ]

    def __init__(self, played: PlayedEpisode, place: int) -> None:
        super().__init__()
        self._played, self._place = played, place

    def compose(self) -> ComposeResult:
        yield Static(id="heading")
        with VerticalScroll(id="whole"):
            yield Static(id="detail")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._show()

    def action_go(self, by: int) -> None:
        """Go to the next step, or the one before."""
        self._place = min(max(self._place + by, 0), len(self._played.steps) - 1)
        self._show()

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self._whole.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by screens."""
        self._whole.scroll_relative(y=by * self._whole.size.height, animate=False)

    def action_back(self) -> None:
        """Go back to the episode."""
        self.dismiss(self._place)

    @property
    def _whole(self) -> VerticalScroll:
        return self.query_one("#whole", VerticalScroll)

    def _show(self) -> None:
        episode, step = self._played.episode, self._played.steps[self._place]
        heading = line((episode.task, "bold"), f"  step {step.number} of {self._played.steps[-1].number}  {step.kind}")
        self.query_one("#heading", Static).update(heading)
        self.query_one("#detail", Static).update(step_detail(self._played, self._place))
        self._whole.scroll_home(animate=False)


class Browser(App[BaseException]):
    """The browser; what it returns is the error that ended it, if one did."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupt", show=False, priority=True)]
    CSS = """
    #heading { padding: 0 1; max-height: 30%; background: $panel; }
    #below { height: 1fr; border-top: solid $primary; padding: 0 1; }
    #below:focus { border-top: solid $accent; }
    #whole { padding: 0 1; }
    """

    def __init__(self, store: Store, run: RunRecord, episodes: Sequence[EpisodeRecord]) -> None:
        super().__init__()
        self._store, self._run, self._episodes = store, run, episodes

    def on_mount(self) -> None:
        for asked in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows has no such handlers
                asyncio.get_running_loop().add_signal_handler(asked, self.action_interrupt)
        self.push_screen(RunScreen(self._run, self._episodes))
        if len(self._episodes) == 1:
            self.open(self._episodes[0])

    def open(self, episode: EpisodeRecord) -> None:
        """Show an episode."""
        try:
            self.push_screen(EpisodeScreen(read_episode(self._store, episode)))
        except (OutsideFault, WrongUsage) as error:
            self.exit(error)

    def action_interrupt(self) -> None:
        """End as every command does on Ctrl-C."""
        self.exit(KeyboardInterrupt())


def _cells(episode: EpisodeRecord) -> list[Text]:
    calls = sum(count for kind, count in episode.calls.items() if kind in VERBS)
    figures = (episode.steps, calls, episode.prompt_tokens + episode.completion_tokens)
    return [
        Text(f"{episode.number + 1}"),
        line(episode.task),
        _outcome(episode),
        *(Text(f"{figure:,}") for figure in figures),
        Text(f"{episode.seconds:.1f}"),
    ]


def _step_cells(step: Step) -> list[Text]:
    seconds = step.model_seconds + step.environment_seconds + step.harness_seconds
    tokens = step.prompt_tokens + step.completion_tokens
    action = Text(" ").join(action_text(step).split()) if step.number else line("(first observation)")
    return [Text(f"{step.number}"), Text(f"{seconds:.2f}"), Text(f"{tokens:,}"), action]


def _outcome(episode: EpisodeRecord) -> Text:
    style = "green" if episode.success else "yellow" if episode.success is False else "red"
    return line((" ".join(ended(episode).split()), style))
