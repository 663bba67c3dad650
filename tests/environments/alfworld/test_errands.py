"""Tasks of several goals in one house, given one after another by the same game."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from evoharness_cli.cli.app import app
from evoharness_cli.environments.alfworld.engines import ChosenEngine, EngineName
from evoharness_cli.environments.alfworld.environment import SEVERAL, AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import read_game
from evoharness_cli.environments.alfworld.generate import make_errands, make_games
from evoharness_cli.environments.alfworld.official import EngineFault, OfficialEngine
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine
from evoharness_cli.environments.alfworld.teacher import AlfworldTeacher
from evoharness_cli.harness import Decode, Episode, Limits, Outcome, Settings, Workspace

GOALS = 5
NEXT = "That is done.\n\nYour task is to: "


@pytest.fixture(scope="module")
def errands(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A task of five goals in each kind of room."""
    return make_errands(4, GOALS, 5, tmp_path_factory.mktemp("errands"))


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout + result.stderr


def games_of(task: Path) -> list[Path]:
    said = yaml.safe_load(task.read_text())["environment"]
    return [task.parent / game for game in (said["game"], *said["then"])]


def play(task: Path) -> Episode:
    first, *then = map(read_game, games_of(task))
    environment = AlfworldEnvironment(first, SimulatorEngine(), None, then)
    workspace = Workspace(environment.brief.goal, environment.evidence)
    settings = Settings(Limits(steps=50 * GOALS), Decode.FREE)
    episode = Episode(environment, AlfworldTeacher().session(task.stem), workspace, settings)
    list(episode.play())
    return episode


def test_each_goal_follows_when_the_one_before_is_reached(errands: list[Path]) -> None:
    for task in errands:
        episode = play(task)
        given = [step.observation.partition(NEXT)[2] for step in episode.steps if NEXT in step.observation]
        wanted = [read_game(game).task for game in games_of(task)]

        assert episode.outcome is Outcome.WON
        assert (episode.environment.brief.goal, episode.environment.brief.kind) == (wanted[0], SEVERAL)
        # One that is reached before its turn isn't given.
        assert given == [goal for goal in wanted[1:] if goal in given]
        assert len(given) >= GOALS - 2
        assert episode.workspace.progress.goal == ([wanted[0], *given])[-1]


def test_what_was_moved_for_one_goal_is_where_it_was_put_for_the_next(errands: list[Path]) -> None:
    for task in errands:
        episode = play(task)
        for number, step in enumerate(episode.steps):
            if NEXT in step.observation and step.action.startswith("move "):
                thing, _, place = step.action.removeprefix("move ").partition(" to ")
                then = [later.action for later in episode.steps[number + 1 :] if f" {thing} " in f" {later.action} "]
                # Whoever wants it again takes it from there.
                assert not then or then[0] == f"take {thing} from {place}"


def test_the_same_seed_makes_the_same_and_all_games_of_a_task_share_their_house(tmp_path: Path) -> None:
    one, two = (make_errands(2, 3, 9, tmp_path / name) for name in ("one", "two"))

    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    for task in one:
        games = list(map(read_game, games_of(task)))
        assert len({game.world for game in games}) == 1
        assert len({game.task for game in games}) > 1
    assert len({read_game(games_of(task)[0]).world for task in one}) == 2


def test_they_are_made_and_played_by_commands(tmp_path: Path) -> None:
    code, printed = run("games", "make", tmp_path / "errands", "--count", 2, "--goals", 3, "--room", "bathroom")
    assert code == 0
    assert len(printed.split()) == 2

    code, printed = run("run", tmp_path / "errands", "--model", "teacher:alfworld", "--db", tmp_path / "store.db")
    assert code == 0
    assert "2 of 2 won" in printed
    assert "That is done." in printed

    code, printed = run("games", "make", tmp_path / "more", "--goals", 3, "--type", "pick_and_place_simple")
    assert code == 2


def test_a_game_of_another_house_is_refused(errands: list[Path], tmp_path: Path) -> None:
    (other,) = make_games(1, 77, tmp_path / "other")
    task = tmp_path / "task.yaml"
    task.write_text(
        yaml.safe_dump(
            {"environment": {"name": "alfworld", "game": str(games_of(errands[0])[0]), "then": [str(other)]}}
        )
    )

    code, printed = run("run", task, "--model", "teacher:alfworld", "--db", tmp_path / "store.db")
    assert code == 3
    assert "begin as" in " ".join(printed.split())

    task.write_text(task.read_text().replace("game.tw-pddl", "gone.tw-pddl", 1))
    code, printed = run("run", task, "--model", "teacher:alfworld", "--db", tmp_path / "store.db")
    assert code == 2
    assert "line" in printed


def test_the_official_engine_says_that_it_cant(errands: list[Path]) -> None:
    engine = ChosenEngine(EngineName.TEXTWORLD, OfficialEngine())
    with pytest.raises(EngineFault, match="only the native engine"):
        engine.go_on(games_of(errands[0])[1])
