"""Demonstrations are won episodes of the real harness, with the loss on what is to be learnt, and can be made again."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evoharness_cli.cli.app import app
from evoharness_cli.environments import load_adapter
from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.environments.alfworld.task_types import TASK_TYPES
from evoharness_cli.harness import Decode, workspace
from evoharness_cli.models.catalogue import SMOLLM2_FILE, SMOLLM2_PACKAGE
from evoharness_cli.models.files import packaged_file
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.training import demonstrations
from evoharness_cli.training import transcript_format as shown_by_training
from evoharness_cli.training.demonstration_files import Making, Unfinished
from evoharness_cli.training.demonstrations import Bank, Workshop, chapters, draw
from evoharness_cli.training.examples import Tokeniser, format_of, read_examples
from evoharness_cli.training.transcript_format import transcript_format

ORACLE = Path(__file__).parents[1] / "scripts" / "alfworld-oracle.yaml"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two generated games of each type."""
    folder = tmp_path_factory.mktemp("games")
    make_games(12, 21, folder)
    return folder


def demos(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["train", "demos", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout + result.stderr


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_demonstrations_are_made_of_a_folder_of_games(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "demos.jsonl"

    code, printed = demos(games, "--out", out, "--slips", 0.25, "--seed", 3)

    assert code == 0
    assert "12 demonstrations" in printed
    made = read(out)
    assert Counter(each["kind"] for each in made) == dict.fromkeys(TASK_TYPES, 2)
    seen, recalled = Counter[str](), 0
    for each in made:
        roles = [turn["role"] for turn in each["messages"]]
        replies = [turn for turn in each["messages"] if turn["role"] == "assistant"]
        assert roles == ["system", "user", *["assistant", "user"] * each["steps"]]
        assert (each["success"], each["seed"], each["format"]) == (True, 3, transcript_format())
        recalled += each["verbs"].get("recall", 0) > 0
        # The slips carry no loss; nor does what was refused without being one.
        for number, reply in enumerate(replies, 1):
            refused = each["messages"][1 + 2 * number]["text"] == "Nothing happens."
            slip = each["slips"].get(str(number))
            assert reply["loss"] == (slip is None and not refused)
            seen += Counter([slip]) if slip else Counter()
        assert replies[-1]["loss"]
    assert seen.total() == sum(len(each["slips"]) for each in made) > 5
    assert recalled >= 9
    assert not (tmp_path / "demos.jsonl.parts").exists()


def test_the_card_says_what_training_reads(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "demos.jsonl"
    demos(games, "--out", out, "--games", 6)
    card = json.loads((tmp_path / "demos.jsonl.card.json").read_text())

    with closing(Tokeniser(packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE))) as tokeniser:
        examples = read_examples(out, tokeniser)

    assert card["demonstrations"] == card["games"] == len(examples) == 6
    assert card["tokens"] == sum(len(each.ids) for each in examples)
    assert card["tokens_on_loss"] == sum(len(each.labels) for each in examples)
    assert card["format"] == format_of([out]) == transcript_format()
    assert sum(card["banks"].values()) == 6
    assert card["verbs"]["recall"] >= 6


def test_what_is_interrupted_goes_on_to_the_same_file(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demonstrations, "CHAPTERS", (4, 8))
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    options = ("--slips", 0.2, "--seed", 1)
    demos(games, "--out", whole, *options)

    making = _making(games, cut)
    making.begin(resume=False)
    going = making.make()
    for _ in range(6):
        next(going)
    going.close()
    assert [each.name for each in sorted(making.parts.iterdir())] == ["chapter-000.jsonl", "settings.json"]

    code, printed = demos(games, "--out", cut, *options)
    assert code == 2
    assert "--resume" in printed
    code, printed = demos(games, "--out", cut, "--slips", 0.3, "--seed", 1, "--resume")
    assert code == 2
    assert "other settings" in printed

    assert demos(games, "--out", cut, *options, "--resume")[0] == 0
    assert cut.read_bytes() == whole.read_bytes()

    code, printed = demos(games, "--out", cut, *options)
    assert code == 2
    assert "already" in printed
    with pytest.raises(Unfinished, match="nothing to go on with"):
        _making(games, cut).begin(resume=True)


def test_a_mistaken_note_leads_to_a_correction_and_a_win(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demonstrations, "_WITHOUT", 0.0)
    monkeypatch.setattr(demonstrations, "_AGAIN", 0.0)
    monkeypatch.setattr(demonstrations, "_MISTAKEN", 1.0)
    out = tmp_path / "demos.jsonl"
    demos(games, "--out", out, "--slips", 0)

    told = corrected = 0
    for each in read(out):
        texts = [turn["text"] for turn in each["messages"]]
        assert each["bank"] == Bank.MISTAKEN
        for number, said in enumerate(texts):
            if 'note: "in this house the ' in said:
                told += 1
                claimed = said.rpartition(" is in ")[2].rstrip('"')
                assert next(text for text in texts[number:] if text.startswith("go to ")) == f"go to {claimed}"
        corrected += any("which corrects [" in text for text in texts)
    assert len(read(out)) == 12
    assert told >= 9
    assert corrected >= 6


def test_banks_are_of_several_kinds_and_grow(games: Path) -> None:
    tasks = [task.settled({}, Decode.FREE) for task in find_tasks([str(games)])] * 3
    with closing(load_adapter("alfworld")) as adapter:
        made = list(Workshop(adapter, adapter.teacher(2, 0.0), 2, "f").chapter(0, tasks))  # type: ignore[attr-defined]

    by_bank = {bank: [each for each in made if each.bank == bank] for bank in Bank if bank is not Bank.EVALUATED}
    assert all(by_bank.values())
    for each in by_bank[Bank.EMPTY]:
        assert each.learnt == 0
        if each.messages[2].text.startswith("recall ["):
            assert each.messages[3].text == "nothing relevant in experience"
    assert [each.learnt for each in made if each.bank != Bank.EMPTY] == sorted(
        each.learnt for each in made if each.bank != Bank.EMPTY
    )
    assert all(" here: " in each.messages[3].text for each in by_bank[Bank.PLAYED_BEFORE])
    assert made[-1].learnt > 20


def test_the_format_changes_with_what_the_agent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    before = transcript_format()
    assert before == transcript_format()

    with monkeypatch.context() as changed:
        changed.setattr(workspace, "MANUAL", workspace.MANUAL[:-1])
        assert transcript_format() != before
    with monkeypatch.context() as changed:
        changed.setattr(shown_by_training, "RECALL_FORMAT", "recall-0")
        assert transcript_format() != before


def test_games_that_are_held_out_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    (game,) = make_games(1, 0, tmp_path / "made")
    for split, scene in (("train", 23), ("train", 1), ("valid_seen", 1)):
        folder = tmp_path / "json_2.1.1" / split / f"pick_and_place_simple-Mug-None-Desk-{scene}" / "trial"
        folder.mkdir(parents=True)
        (folder / game.name).write_bytes(game.read_bytes())
    out = tmp_path / "demos.jsonl"

    for place in ("train", "heldout", "valid_seen"):
        code, printed = demos(f"alfworld:{place}", "--out", out)
        assert (code, out.exists()) == (2, False)
        assert "kept for evaluation" in printed
    assert demos("alfworld:training", "--out", out)[0] == 0
    assert [each["labels"]["scene"] for each in read(out)] == ["1"]


def test_any_model_may_be_the_teacher_and_only_its_wins_are_kept(tmp_path: Path) -> None:
    out, script = tmp_path / "demos.jsonl", tmp_path / "script.yaml"
    script.write_text(ORACLE.read_text())
    code, _ = demos("heat-apple", "--out", out, "--teacher", f"scripted:{script}")
    assert code == 0
    (made,) = read(out)
    assert (made["task"], made["slips"]) == ("alfworld:heat-apple", {})
    assert all(turn["loss"] for turn in made["messages"] if turn["role"] == "assistant")

    lost = tmp_path / "lost.jsonl"
    code, printed = demos("heat-apple", "--out", lost, "--teacher", f"scripted:{script}", "--max-steps", 2)
    assert code == 1
    assert "0 demonstrations" in printed
    assert lost.read_text() == ""

    code, printed = demos("heat-apple", "--out", tmp_path / "x", "--teacher", f"scripted:{script}", "--slips", 0.1)
    assert code == 2


def _making(games: Path, out: Path) -> Making:
    """What `train demos` makes of the folder with the options of the test."""
    adapter = load_adapter("alfworld")
    teacher = adapter.teacher(1, 0.2)  # type: ignore[attr-defined]
    tasks = [task.settled({}, Decode.FREE) for task in draw(find_tasks([str(games)]), 1)]
    assert [len(chapter) for chapter in chapters(tasks)] == [4, 8]
    settings = {
        "tasks": [str(games)],
        "games": 12,
        "seed": 1,
        "max_steps": None,
        "teacher": teacher.fingerprint,
        "format": transcript_format(),
    }
    return Making(out, Workshop(adapter, teacher, 1, transcript_format()), tasks, settings)
