"""A teacher takes over where a policy went wrong, word for word from its episode; only its own part is learnt."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evoharness_cli.cli.app import app
from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store
from evoharness_cli.models.catalogue import SMOLLM2_FILE, SMOLLM2_PACKAGE
from evoharness_cli.models.files import packaged_file
from evoharness_cli.training.examples import Tokeniser, read_examples

ORACLE = Path(__file__).parents[1] / "scripts" / "alfworld-oracle.yaml"
LOST = ["recall [lantern]", "look", "go to shelf 99", "look", "go to shelf 99", "commit [done]", "look", "inventory"]
"""What a player says that wins nothing: it is refused, says things again, closes what it never opened."""


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout + result.stderr


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one generated game of each type."""
    folder = tmp_path_factory.mktemp("games")
    make_games(6, 33, folder)
    return folder


@pytest.fixture(scope="module")
def played(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of an evaluation in which every game was lost."""
    folder = tmp_path_factory.mktemp("played")
    (folder / "lost.txt").write_text("\n".join(LOST))
    model = f"scripted:{folder / 'lost.txt'}"
    code, printed = run(
        *("eval", games, "--method", "bpe", "--model", model, "--max-steps", len(LOST)),
        *("--bank", "none", "--out", folder / "played.db"),
    )
    assert code == 0, printed
    return folder / "played.db"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_teacher_wins_from_where_the_player_went_wrong(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "corrections.jsonl"

    code, printed = run("train", "corrections", played, "--out", out)

    made = read(out)
    assert code == 0, printed
    # Each game was lost, so that each is taken over wherever it went wrong.
    assert f"{len(made)} demonstrations" in printed
    assert len(made) >= 33
    for each in made:
        replies = [turn for turn in each["messages"] if turn["role"] == "assistant"]
        after = each["after"]
        assert (each["success"], each["bank"]) == (True, "evaluated")
        assert [turn["text"] for turn in replies[:after]] == LOST[:after]
        assert not any(turn["loss"] for turn in replies[:after])
        assert replies[-1]["loss"]
        # Wrong were both ways to the shelf, each look but the first, and what closed nothing.
        assert after in {2, 3, 4, 5, 6, 7}
    assert len({each["after"] for each in made}) > 1


def test_what_is_learnt_is_the_teachers_part(played: Path, tmp_path: Path) -> None:
    out = tmp_path / "corrections.jsonl"
    run("train", "corrections", played, "--out", out)

    with closing(Tokeniser(packaged_file(SMOLLM2_PACKAGE, SMOLLM2_FILE))) as tokeniser:
        examples = read_examples(out, tokeniser)

    card = json.loads((tmp_path / "corrections.jsonl.card.json").read_text())
    learnt = [sum(turn["role"] == "assistant" and turn["loss"] for turn in each["messages"]) for each in read(out)]
    assert len(examples) == card["demonstrations"] == len(learnt)
    for example, replies in zip(examples, learnt, strict=True):
        # A reply has a few tokens and the one that ends it.
        assert 3 * replies <= len(example.labels) <= 40 * replies
    assert card["points"] >= card["demonstrations"]
    assert card["banks"] == {"evaluated": len(examples)}


def test_the_same_seed_makes_the_same_and_the_evaluation_stays_as_it_is(played: Path, tmp_path: Path) -> None:
    before = played.read_bytes()
    files = [tmp_path / name for name in ("first", "again", "other")]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        run("train", "corrections", played, "--out", file, "--seed", seed)

    first, again, other = (file.read_bytes() for file in files)
    assert first == again
    assert first != other
    with closing(Store.open(played)) as store:
        assert len(journal.runs(store)) == 1
    assert played.read_bytes() == before


def test_an_evaluation_that_went_well_teaches_nothing(tmp_path: Path) -> None:
    well, model = tmp_path / "well.db", f"scripted:{ORACLE}"
    run("eval", "heat-apple", "--method", "bpe", "--model", model, "--bank", "none", "--out", well)

    code, printed = run("train", "corrections", well, "--out", tmp_path / "none.jsonl")

    assert code == 2
    assert "Expected steps that went wrong in" in printed
    assert not (tmp_path / "none.jsonl").exists()


def test_a_store_without_an_evaluation_is_refused(tmp_path: Path) -> None:
    run("note", "a note", "--db", tmp_path / "store.db")

    code, printed = run("train", "corrections", tmp_path / "store.db", "--out", tmp_path / "none.jsonl")

    assert code == 2
    assert "Expected the store of an evaluation" in printed


def test_held_out_games_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: Path) -> None:
    from evoharness_cli.environments.alfworld.adapter import AlfworldAdapter

    monkeypatch.setattr(AlfworldAdapter, "is_held_out", lambda *_: True)

    code, printed = run("train", "corrections", played, "--out", tmp_path / "none.jsonl")

    assert code == 2
    assert "kept for evaluation" in printed
