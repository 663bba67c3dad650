"""`evoharness inspect run` on a terminal: the browser, by its keys and by what its screen shows."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from commands import ORACLE, Command
from terminal import Terminal
from typer.testing import CliRunner

from evoharness_cli.cli.app import app
from evoharness_cli.cli.browsing.states import State, state_of, states
from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Episode, Step
from evoharness_cli.models import load_model
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.play import Run, Unwatched, start
from evoharness_cli.runs.settings import RunSettings
from evoharness_cli.runs.task import Task

ALTERNATE, ORDINARY, CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which an egg was heated, and in a second run too few steps were left for doing it again."""
    db = tmp_path_factory.mktemp("browse") / "experience.db"
    for arguments in (["heat-egg"], ["heat-egg", "put-cd", "--max-steps", "9"]):
        CliRunner().invoke(app, ["run", *arguments, "--model", f"scripted:{ORACLE}", "--quiet", "--db", str(db)])
    return db


def browse(db: Path, *arguments: object, size: tuple[int, int] = (80, 24), **variables: str) -> Terminal:
    command = ("inspect", "run", *map(str, arguments), "--db", str(db))
    return Terminal([sys.executable, "-m", "evoharness_cli", *command], size, variables)


def last_line(shown: str, of: int) -> str:
    return "".join(shown.split("\n")[of - 1 :])


def test_from_the_episodes_to_a_step_and_back(played: Path) -> None:
    with browse(played, size=(80, 30)) as terminal:
        terminal.until(
            "run 2 finished",
            "1 of 2 won. Shown: 2",
            "1  heat-egg  out of steps",
            "2  put-cd    won",
            "f Filter by outcome  q Leave",
        )

        terminal.press("\r")
        terminal.until(
            "put a hot egg in countertop.",
            "(first observation)",
            "You are in the middle of a room.",
            "commit [find egg | take egg",
            "q Back",
        )

        terminal.press("j")
        terminal.until("recall [egg]", "egg here: fridge 1")

        terminal.press("\r")
        # What came of the entry is said beside it: it was put to the test in an episode that was lost.
        terminal.until("step 1 of 9", "this episode: hurt by 0.67; in all: active, helped 0.00, hurt 0.67")

        terminal.press("n")
        terminal.until("step 2 of 9", "→· find egg")
        terminal.press("nnnn")
        terminal.until("step 6 of 9", "✓ find egg (done)", "egg 1 at fridge 1 (step 4)")
        terminal.press("p")
        terminal.until("step 5 of 9")

        # The cursor of the list is where the reader was.
        terminal.press("q")
        terminal.until("tab Scroll below", "done: find egg. now: take egg")
        terminal.press("q")
        terminal.until("put-cd", "q Leave")
        terminal.press("q")

        assert terminal.ended() == 0
        assert terminal.written.rindex(ORDINARY) > terminal.written.rindex(ALTERNATE)
        assert terminal.settings_now == terminal.settings


def test_episodes_are_filtered_by_their_outcome(played: Path) -> None:
    with browse(played) as terminal:
        terminal.until("put-cd", "q Leave")
        terminal.press("f")
        terminal.until("Shown: 1, those that ended with `out of steps`")
        terminal.press("f")
        terminal.until("Shown: 1, those that ended with `won`")
        terminal.press("\r")
        terminal.until("put some cd on drawer.")


def test_one_episode_is_opened_at_once_and_its_list_is_behind_it(played: Path) -> None:
    with browse(played, "1") as terminal:
        terminal.until("(first observation)", "q Back")
        terminal.press("q")
        terminal.until("1 of 1 won")


def test_a_resized_terminal_is_filled_anew(played: Path) -> None:
    with browse(played, "1") as terminal:
        terminal.until("(first observation)", "q Back")
        terminal.resize(40, 12)
        terminal.until_it(
            lambda shown: "Scroll below" in "".join(shown.splitlines()[11:]), "the keys in the last of 12 lines"
        )
        terminal.resize(100, 40)
        terminal.until_it(
            lambda shown: "Scroll below" in "".join(shown.splitlines()[39:]), "the keys in the last of 40 lines"
        )
        terminal.until("a stoveburner 4")


@pytest.mark.parametrize("how", ["key", "signal", "termination"])
def test_what_interrupts_it_leaves_the_terminal_as_it_was(played: Path, how: str) -> None:
    with browse(played) as terminal:
        terminal.until("put-cd")
        if how == "key":
            terminal.press("\x03")
        else:
            terminal.process.send_signal(signal.SIGINT if how == "signal" else signal.SIGTERM)

        assert terminal.ended() == 130
        assert terminal.text.rstrip().endswith("interrupted")
        assert "Traceback" not in terminal.text
        assert terminal.written.rindex(ORDINARY) > terminal.written.rindex(ALTERNATE)
        assert terminal.written.rindex(CURSOR) > terminal.written.rindex(ALTERNATE)
        assert terminal.settings_now == terminal.settings


def test_a_store_that_fails_meanwhile_is_one_sentence_on_a_whole_terminal(played: Path, tmp_path: Path) -> None:
    db = tmp_path / "experience.db"
    with closing(sqlite3.connect(played)) as connection, closing(sqlite3.connect(db)) as copy:
        connection.backup(copy)
    with browse(db) as terminal:
        terminal.until("put-cd")
        with closing(sqlite3.connect(db)) as connection:
            connection.execute("DROP TABLE steps")
        terminal.press("\r")

        assert terminal.ended() == 3
        assert "failed: no such table: steps" in terminal.text
        assert "Traceback" not in terminal.text
        assert terminal.written.rindex(ORDINARY) > terminal.written.rindex(ALTERNATE)
        assert terminal.settings_now == terminal.settings


def test_what_a_model_says_is_text_there_as_well(evoharness: Command, db: Path, tmp_path: Path) -> None:
    hostile = "[bold]x[/bold] \x1b]0;title\x07 \x1b[2J \u202eleft"
    script = tmp_path / "script.json"
    script.write_text(json.dumps([f"note [{hostile}]", "recall [bold]"]))
    evoharness("run", "heat-egg", "--model", f"scripted:{script}", "--max-steps", 2, "--quiet")

    with browse(db) as terminal:
        terminal.until("(first observation)")
        terminal.press("j")
        terminal.until("noted as", "[bold]x[/bold] \ufffd]0;title\ufffd \ufffd[2J \ufffdleft")
        assert b"\x1b]0;title" not in terminal.written
        assert "\u202e" not in terminal.text


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [(["--plain"], {}), (["--json"], {}), ([], {"TERM": "dumb"}), ([], {"PYTHONIOENCODING": "cp850"})],
    ids=str,
)
def test_it_is_printed_where_that_is_asked_for_or_nothing_can_be_drawn(
    played: Path, arguments: Sequence[str], variables: dict[str, str]
) -> None:
    with browse(played, *arguments, **variables) as terminal:
        assert terminal.ended() == 0
        assert "put some cd on drawer." in terminal.text
        assert ALTERNATE not in terminal.written


class Watching(Unwatched):
    """Keeps the state of the workspace after each step, as it was."""

    def __init__(self) -> None:
        self.found: list[State] = []

    def began(self, number: int, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        del number, task, recorded
        self._episode = episode

    def stepped(self, step: Step) -> None:
        del step
        self.found.append(state_of(self._episode.workspace))


REPLIES = [
    "commit [done]",
    "commit [find cd | think it over | take cd | put cd in drawer needs take cd]",
    "commit [done]",
    "commit [take cd]",
    "go to dresser 1",
    "track [cd]",
    "commit [think it over]",
    "note [fact: cd 1 | colour | red]",
    "commit [done]",
    "take cd 1 from dresser 1",
    "commit [done]",
    "commit [blocked: the drawer is stuck]",
    "commit [put cd in drawer]",
    "fly to the moon",
    "go to drawer 3",
    "open drawer 3",
    "move cd 1 to drawer 3",
]


def test_states_are_derived_from_the_record_as_they_were(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(REPLIES))
    tasks = [task.settled({}) for task in find_tasks(["put-cd"])]
    settings = RunSettings(f"scripted:{script}")
    watching = Watching()
    with closing(Store.open(tmp_path / "experience.db")) as store, closing(load_model(settings.model)) as model:
        run = start(store, tasks, settings, model.fingerprint)
        Run(store, run, settings, model, watching).play(tasks)
        (episode,) = journal.episodes(store, run)
        derived = states(episode, journal.steps(store, episode.id))

    assert episode.outcome == "won"
    assert [(each.plan, each.current) for each in derived] == [(each.plan, each.current) for each in watching.found]
    assert len({each.plan for each in derived}) == 5
    for was, each in zip(watching.found, derived, strict=True):
        assert was.belief and each.belief
        assert each.belief.situation == was.belief.situation
        # A fact that is seen again has its later step only in the workspace; the record has what was news.
        assert facts(each) == facts(was)


def facts(state: State) -> list[str]:
    assert state.belief
    return [fact.rpartition(" (")[0] for fact in state.belief.facts]
