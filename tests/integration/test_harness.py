"""One task of another program's agent in a real store: what is recorded, kept, voted on, and left behind."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.types import Tool as McpTool

from evoharness_cli import Harness
from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import Entry, entries, events
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.places import whereabouts
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Belief, Condition, Fact, WrongUsage
from evoharness_cli.integration import TaskOver, UnknownOutcome, UnknownVerb
from evoharness_cli.runs.memory import PrivateScope
from evoharness_cli.runs.play import recorded_run

SHELF = [("cup 1", "at", "shelf 1"), ("shelf 1", "searched", "yes")]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "experience.db"


@pytest.fixture
def store(db: Path) -> Iterator[Store]:
    """Another connection to the same store, to look at what is kept."""
    with Store.open(db) as opened:
        yield opened


def begin(db: Path, goal: str = "fetch a cup") -> Harness:
    return Harness(db, goal, scope="household/flat", world="flat 3", kind="fetch", agent="tester")


def noted(store: Store) -> list[tuple[str, str]]:
    return [(each.text, each.status) for each in reversed(entries(store))]


def only(store: Store) -> Entry:
    (found,) = entries(store)
    return found


def fetch(db: Path, note: str = "the cup is on shelf 1") -> None:
    """Find a cup, note where, and succeed."""
    with begin(db) as harness:
        harness.observe("You see a cup.", SHELF, action="look at shelf 1")
        harness.call("note", note)
        harness.finish("won")


def test_a_second_task_recalls_what_the_first_noted_and_votes_on_it(db: Path, store: Store) -> None:
    fetch(db)
    with begin(db) as harness:
        answer = harness.call("recall", "where is a cup")
        harness.observe("You see a cup.", SHELF, action="look at shelf 1")
        harness.finish("won")

    assert '[1] note: "the cup is on shelf 1"' in answer
    assert "cup here: shelf 1" in answer
    note = entries(store, kind="note")[0]
    assert (note.scope, note.world, note.recalled) == ("household/flat", "flat 3", 1)
    assert note.helped == pytest.approx(1 - 2 / 3)
    assert [event.kind for event in events(store, note.id)] == ["noted", "activated", "recalled", "tested", "helped"]
    (known,) = whereabouts(store, "cup", "household/flat", "flat 3")
    assert (known.here, known.counts[0].found, known.counts[0].searched) == (("shelf 1",), 2, 2)


def test_each_call_and_observation_is_a_step(db: Path, store: Store) -> None:
    with begin(db) as harness:
        harness.observe("You see a cup.", SHELF, action="look at shelf 1")
        assert harness.call("track", "cup") == "cup 1 at shelf 1 (step 1)"
        assert harness.call("commit", "take the cup | bring the cup").startswith("plan: take the cup | bring the cup")
        assert "expected commit [...]" in harness.call("commit")
        harness.finish("lost")

    run = journal.run(store, harness.run)
    (episode,) = journal.episodes(store, run.id)
    assert (run.status, run.settings["model"], run.settings["method"]) == ("finished", "tester", "bpe")
    assert (episode.goal, episode.kind, episode.environment, episode.outcome) == (
        "fetch a cup",
        "fetch",
        "household",
        "lost",
    )
    steps = journal.steps(store, episode.id)
    assert [(step.number, step.kind, step.action) for step in steps] == [
        (0, "environment", ""),
        (1, "environment", "look at shelf 1"),
        (2, "track", "track [cup]"),
        (3, "commit", "commit [take the cup | bring the cup]"),
        (4, "format", "commit []"),
    ]
    assert steps[1].facts == (Fact("cup 1", "at", "shelf 1"), Fact("shelf 1", "searched", "yes"))
    assert [step.charged for step in steps] == [False, True, True, True, True]


def test_a_note_counts_once_its_task_is_finished(db: Path, store: Store) -> None:
    with begin(db) as harness, begin(db) as other:
        harness.call("note", "cups break easily")
        assert other.call("recall", "cups") == "nothing relevant in experience"
        assert "cups break easily" in harness.call("recall", "cups")
        harness.finish("won")
        assert "cups break easily" in other.call("recall", "cups")
        other.finish("lost")

    assert noted(store) == [("cups break easily", "active")]


def test_an_abandoned_task_teaches_nothing_and_is_kept_as_what_happened(db: Path, store: Store) -> None:
    fetch(db)
    before = only(store)
    with pytest.raises(ZeroDivisionError), begin(db) as harness:
        harness.call("recall", "cup")
        harness.call("note", "the cup is on shelf 1")
        harness.call("note", "cups break easily")
        raise ZeroDivisionError

    assert noted(store) == [("the cup is on shelf 1", "active"), ("cups break easily", "dropped")]
    after = entries(store, status="active")[0]
    assert (after.strength, after.recalled) == (before.strength, before.recalled) == (1, 0)
    (episode,) = journal.episodes(store, harness.run)
    assert (episode.outcome, episode.fault) == (None, "abandoned: it was left by ZeroDivisionError")
    assert (episode.steps, journal.run(store, harness.run).status) == (3, "interrupted")


def test_a_task_whose_process_is_killed_leaves_no_active_note_and_a_whole_store(db: Path, store: Store) -> None:
    code = (
        "import os, sys; from evoharness_cli import Harness\n"
        "harness = Harness(sys.argv[1], 'fetch a cup', 'household')\n"
        "harness.call('note', 'cups break easily'); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(db)], check=False)

    assert killed.returncode == -9
    assert noted(store) == [("cups break easily", "pending")]
    assert health(store).sound
    with begin(db) as harness:
        assert harness.call("recall", "cups") == "nothing relevant in experience"


def test_what_is_seen_contradicts_what_was_noted(db: Path, store: Store) -> None:
    fetch(db, note="the cup is on shelf 2")

    assert noted(store) == [("the cup is on shelf 2", "superseded"), ("the cup is at shelf 1", "active")]


def test_a_subgoal_is_closed_by_its_evidence(db: Path) -> None:
    def evidence(subgoal: str) -> Condition | None:
        def condition(belief: Belief) -> str | None:
            return None if belief.value("cup 1", "at") == "hand" else "no cup in hand"

        return condition if subgoal == "take the cup" else None

    with Harness(db, "fetch a cup", evidence=evidence) as harness:
        harness.call("commit", "take the cup")
        assert harness.call("commit", "done") == "not yet: no cup in hand. now: take the cup"
        harness.observe("You take it.", [Fact("cup 1", "at", "hand")], action="take cup 1")
        assert harness.call("commit", "done").startswith("done: take the cup")


def test_calls_may_come_from_several_threads(db: Path, store: Store) -> None:
    with begin(db) as harness:
        threads = [
            threading.Thread(target=harness.call, args=("note", f"cup number {word} is chipped"))
            for word in ("one", "two", "three", "four", "five", "six")
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        harness.finish("won")

    assert [step.number for step in journal.steps(store, harness.episode)] == list(range(7))
    assert len(entries(store, status="active", kind="note")) == 6


def test_what_cant_be_done_is_a_sentence(db: Path, store: Store) -> None:
    with begin(db) as harness:
        with pytest.raises(UnknownVerb, match=r"Expected one of track, commit, recall, note; found 'fly'\."):
            harness.call("fly")
        with pytest.raises(UnknownOutcome, match=r"Expected a task to end as one of won, lost, .*; found 'great'"):
            harness.finish("great")
        harness.finish("won")
        for more in (lambda: harness.call("track"), lambda: harness.observe("x"), lambda: harness.finish("won")):
            with pytest.raises(TaskOver, match=rf"episode {harness.episode} is finished \(won\)"):
                more()
    with pytest.raises(PrivateScope):
        Harness(db, "fetch a cup", scope="@expel/household")
    assert len(journal.runs(store)) == 1


def test_it_is_not_resumed_as_a_run_of_ones_own(db: Path, store: Store) -> None:
    with begin(db) as harness, pytest.raises(WrongUsage, match=r"Run 1 was played by another program's agent \(tester"):
        recorded_run(store, harness.run)


def test_text_that_no_database_holds_is_kept_as_question_marks(db: Path, store: Store) -> None:
    with Harness(db, "fetch \ud800", "household", "flat \ud800", kind="\ud800") as harness:
        harness.observe("a \ud800", [("cup \ud800", "at", "shelf 1")], action="look \ud800")
        harness.call("note", "cups are \ud800 brittle")
        harness.call("recall", "\ud800 cups")
        harness.finish("won")

    assert [step.observation for step in journal.steps(store, harness.episode)][1] == "a ?"
    assert "cups are ? brittle" in [text for text, _ in noted(store)]


def test_the_tools_are_the_four_verbs_as_both_protocols_take_them(db: Path) -> None:
    with begin(db) as harness:
        tools = harness.tools

    assert [tool.name for tool in tools] == ["track", "commit", "recall", "note"]
    needed = {tool.name: tool.parameters["required"] for tool in tools}
    assert needed == {"track": [], "commit": ["argument"], "recall": [], "note": ["argument"]}
    note = tools[3]
    assert note.description == (
        "note [insight] keeps an insight for future tasks. note [fact: a | relation | b] writes down a fact."
    )
    assert note.as_openai()["function"] == {
        "name": "note",
        "description": note.description,
        "parameters": dict(note.parameters),
    }
    assert McpTool.model_validate(note.as_mcp()).input_schema == dict(note.parameters)


def test_the_documented_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = Path(__file__).parents[2] / "docs" / "other-agents.md"
    (program,) = re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)

    exec(compile(program, str(document), "exec"), {})

    with Store.open(tmp_path / "experience.db") as store:
        assert [run.won for run in journal.runs(store)] == [1]
        assert [each.here for each in whereabouts(store, "cup", "household", "flat 3")] == [("shelf 1",)]


def test_the_package_offers_it_and_imports_it_only_then() -> None:
    code = (
        "import sys, evoharness_cli\n"
        "print('evoharness_cli.integration' in sys.modules, evoharness_cli.Harness.__name__)\n"
        "print(hasattr(evoharness_cli, 'Harnes'), 'mcp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "Harness", "False", "False"]
