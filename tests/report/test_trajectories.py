"""Every recorded step is in the page, as it was recorded."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from report_reading import named, report, unpacked

from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Brief, Fact, Step
from evoharness_cli.report import opened, trajectories
from evoharness_cli.report.page import write_report

HOSTILE = '</script><script>alert(1)</script><!--<img src=x onerror="alert(2)">\x00\u2028'


def test_every_step_is_as_it_was_recorded(evaluation: Path, tmp_path: Path) -> None:
    page = report(None, evaluation, tmp_path / "page.html")
    index = page.data["index"]
    details: dict[str, Any] = {}
    for name, piece in page.data.items():
        if name.startswith("piece-"):
            details |= piece
    with closing(Store.open(evaluation)) as store:
        episodes = [each for run in (1, 2, 3) for each in journal.episodes(store, run)]
        for row, episode in zip(index["rows"], episodes, strict=True):
            key, task, method, kind, outcome, success, count, calls, *_ = row
            assert (key, task, success, count) == (str(episode.id), episode.task, episode.success, episode.steps)
            assert index["methods"][method] == ["react", "bpe", "bpe,steps=4"][episode.run - 1]
            assert (index["kinds"][kind], index["outcomes"][outcome]) == (episode.kind, episode.outcome)
            assert calls == [episode.calls.get(verb, 0) for verb in index["verbs"]]
            shown = [dict(zip(index["columns"], values, strict=True)) for values in details[key]["steps"]]
            for step, recorded in zip(shown, journal.steps(store, episode.id), strict=True):
                assert (step["number"], step["kind"], step["action"]) == (
                    recorded.number, recorded.kind, recorded.action,
                )  # fmt: skip
                assert (step["observation"], step["thought"]) == (recorded.observation, recorded.thought)
                assert [Fact(*fact) for fact in step["facts"]] == list(recorded.facts)
                assert step["recalled"] == list(recorded.recalled)
                assert bool(step["charged"]) == recorded.charged
                assert step["model"] == round(recorded.model_seconds, 4)


def test_votes_stand_with_what_was_recalled(learnt: Path, tmp_path: Path) -> None:
    page = report("2", learnt, tmp_path / "page.html")
    detail = page.data["piece-0"]["3"]
    (recall,) = [step for step in detail["steps"] if step[1] == "recall"]
    egg = next(int(number) for number, entry in detail["entries"].items() if entry[1] == "the egg is in fridge 1")

    assert egg in recall[page.data["index"]["columns"].index("recalled")]
    assert [vote for vote in detail["votes"] if vote[0] == egg] == [
        [egg, 0.33333333333333337, "helped by 0.33: saw egg 1 at fridge 1"]
    ]
    assert detail["facts"]["world"] == "house-dc3784161e"
    assert detail["facts"]["limits"].startswith("50 steps")


def test_many_steps_are_packed_into_pieces(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with closing(Store.open(path)) as store:
        run = journal.begin_run(store, {"method": "bpe"})
        for number in range(70):
            episode = add_episode(store, run, number)
            for step in range(30):
                journal.add_step(store, episode, Step(step, "environment", f"seen {number} {HOSTILE}", "look"))
        with opened("1", named(path)) as subject:
            found = subject.trajectories
            assert (found.steps, found.encoding) == (70 * 30, "deflate")
            pieces = [unpacked(piece, "deflate") for piece in found.pieces()]
            index = unpacked(found.index(), "deflate")

    assert [len(piece) for piece in pieces] == [50, 20]
    assert {key: place for place, piece in enumerate(pieces) for key in piece} == {
        row[0]: row[-1] for row in index["rows"]
    }
    assert pieces[1]["70"]["steps"][29][3] == f"seen 69 {HOSTILE}"
    assert 50 * 30 >= trajectories.PIECE_STEPS > 49 * 30


def test_nothing_in_a_plain_piece_ends_the_element_that_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "hostile.db"
    with closing(Store.open(path)) as store:
        run = journal.begin_run(store, {"method": HOSTILE})
        journal.add_step(store, add_episode(store, run, 0), Step(0, "environment", HOSTILE))
    with opened(None, named(path)) as subject:
        write_report(subject, tmp_path / "page.html")
        assert subject.trajectories.encoding == "plain"
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = report(None, path, tmp_path / "page.html")

    assert "alert(1)</script>" not in text
    assert page.data["piece-0"]["1"]["steps"][0][3] == HOSTILE
    assert page.data["index"]["rows"][0][1] == HOSTILE
    assert [tag for tag, _ in page.tags].count("script") == 3
    assert "img" not in [tag for tag, _ in page.tags]


def test_an_episode_whose_steps_are_gone_or_that_failed_is_shown_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "failed.db"
    with closing(Store.open(path)) as store:
        run = journal.begin_run(store, {"method": "react"})
        journal.fail_episode(store, add_episode(store, run, 0), "The server went away.")
    page = report(None, path, tmp_path / "page.html")

    assert page.data["index"]["outcomes"] == ["fault"]
    assert page.data["piece-0"]["1"]["fault"] == "The server went away."
    assert page.data["piece-0"]["1"]["steps"] == []
    assert page.data["piece-0"]["1"]["parts"] == []
    assert json.dumps(page.data["index"]["rows"][0][5]) == "null"


def add_episode(store: Store, run: int, number: int) -> int:
    """Begin an episode whose texts are hostile."""
    brief = Brief(HOSTILE, f"kind {HOSTILE}", "house")
    return journal.begin_episode(store, run, number, HOSTILE, "games/1", "alfworld", brief, "alfworld", {"limits": {}})
