"""The simulator shows what the official engine shows, and says which games it leaves to it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.games import GameFile
from evoharness_cli.environments.alfworld.official import EngineFault, OfficialEngine
from evoharness_cli.environments.alfworld.scene import Engine, Scene
from evoharness_cli.environments.alfworld.simulator import CannotCompile, SimulatorEngine

Sample = Callable[[str], GameFile]
Changed = Callable[..., GameFile]


def play(engine: Engine, game: Path, commands: list[str]) -> list[Scene]:
    return [engine.load(game), *(engine.step(command) for command in commands)]


def wander(game: GameFile, seed: int, steps: int) -> list[str]:
    """The walkthrough and then seeded commands, one in five of which is not admissible."""
    rng = random.Random(seed)
    engine = SimulatorEngine()
    commands = list(game.walkthrough)
    scene = play(engine, game.path, commands)[-1]
    for _ in range(steps):
        verb = rng.choice(sorted({command.split()[0] for command in scene.admissible}))
        command = rng.choice([command for command in scene.admissible if command.startswith(verb)])
        commands.append(rng.choice([command, command, command, f" {command} ", command.replace(" 1", " 9")]))
        scene = engine.step(commands[-1])
    return commands


def assert_same(engine: OfficialEngine, game: GameFile, commands: list[str]) -> None:
    simulator = SimulatorEngine()
    official = play(engine, game.path, commands)
    assert play(simulator, game.path, commands) == official
    assert simulator.truth() == engine.truth()


@pytest.mark.parametrize("words", ["Tomato", "SoapBar"])
def test_it_shows_what_the_official_engine_shows(engine: OfficialEngine, sample: Sample, words: str) -> None:
    game = sample(words)
    commands = wander(game, seed=1, steps=10)
    put = next((command for command in commands if command.startswith("move ")), "move book 1 to bed 1")

    assert_same(engine, game, [*commands, put.replace("move ", "put ").replace(" to ", " in/on "), "", "LOOK"])


def test_a_game_is_played_by_its_own_domain_and_grammar(
    engine: OfficialEngine, sample: Sample, changed: Changed
) -> None:
    game = changed(
        sample("Tomato"),
        ("pddl_domain", "(or (not (openable ?r)) (opened ?r))  ; receptacle is opened if it is openable.", ""),
        ("pddl_domain", "(?l - location, ?r - receptacle)", "(?l - location ?r - receptacle)"),
        ("grammar", "You pick up the {o.name} from", "Got {o} of [{#overview(o)# | holds(a:agent, o:object)}] from"),
        ("grammar", '"You are not carrying anything."', '"  Nothing at {a.id}, [{r.name | opened(r:receptacle)}]."'),
    )
    simulator = SimulatorEngine()
    simulator.load(game.path)
    scene = simulator.step("go to fridge 1")
    take = next(command for command in scene.admissible if command.startswith("take "))

    assert_same(engine, game, ["inventory", "go to fridge 1", take, "open fridge 1", "inventory", "examine fridge 1"])
    assert simulator.step("inventory").text == "Nothing at agent1, nothing."
    thing = take.split(" from ")[0].removeprefix("take ")
    assert simulator.step(take).text == f"Got {thing} of a {thing} from the fridge 1."


def test_what_a_command_could_mean_besides_is_settled_as_the_official_engine_does(
    engine: OfficialEngine, sample: Sample, changed: Changed
) -> None:
    """Every receptacle is at a second place as well, and lies beside another one there."""
    original = sample("look_at_obj_in_light-Book")
    places = re.findall(r"\(receptacleAtLocation (\w+) (\w+)\)", original.path.read_text())
    pairs = [(receptacle, places[index - 3][1]) for index, (receptacle, _) in enumerate(places)]
    facts = " ".join(f"(receptacleAtLocation {receptacle} {place})" for receptacle, place in pairs)
    game = changed(original, ("pddl_problem", "(:init", f"(:init {facts}"))

    assert_same(engine, game, wander(game, seed=4, steps=12))


def test_a_fork_goes_its_own_way(sample: Sample) -> None:
    game = sample("look_at_obj_in_light-Book")
    *before, last = game.walkthrough
    engine = SimulatorEngine()
    scene = play(engine, game.path, before)[-1]
    truth = engine.truth()

    fork = engine.fork()
    won = fork.step(last)

    assert won.won
    assert ("istoggled", "desklamp 1") in fork.truth()
    assert engine.truth() == truth
    assert engine.step("no such thing") == Scene("Nothing happens.", scene.admissible, False)
    assert engine.step(last) == won


def test_a_goal_that_was_reached_can_be_left_again(sample: Sample) -> None:
    game = sample("look_at_obj_in_light-Book")
    engine = SimulatorEngine()
    won = play(engine, game.path, list(game.walkthrough))[-1]
    put = next(command for command in won.admissible if command.startswith("move "))

    assert won.won
    assert not engine.step(put).won


def test_many_games_at_once_are_as_one_after_another(sample: Sample) -> None:
    names = ["Book", "Tomato", "SoapBar", "Cloth", "Pencil", "Egg"]
    games = [(sample(words), wander(sample(words), seed, 40)) for words in names for seed in range(4)]

    def transcript(played: tuple[GameFile, list[str]]) -> list[Scene]:
        return play(SimulatorEngine(), played[0].path, played[1])

    with ThreadPoolExecutor(8) as pool:
        at_once = list(pool.map(transcript, games))
    assert at_once == [transcript(played) for played in games]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("pddl_domain", "(isClean ?o)\n            )", "(forall (?x - object) (isClean ?x)))"), "effect (forall"),
        (("pddl_domain", ":parameters (?a - agent ?l - location)", ":duration (?a - agent)"), "action look"),
        (("pddl_problem", "(:init", "(:init (not (isHot Apple))"), "initial facts"),
        (("pddl_problem", "(objectType ?o BookType)", "(objectType ?o BasketBallType)"), "doesn't reach the goal"),
        (("grammar", '"You turn on the', '"[{x.name | ison(x:object)}] You turn on the'), "asks for ison"),
        (("grammar", '"You turn on the', '"#no.such.rule# You turn on the'), "no.such.rule"),
        (("grammar", "{o.indefinite + ' ' + o.name |", "{len(o.name) |"), "expression"),
        (("grammar", '"open {r}"', '"close {r}"'), "could mean"),
        (("grammar", "action OpenObject {", "action {"), "action without a name"),
    ],
)
def test_a_game_that_it_cannot_compile_is_said_so_in_a_sentence(
    sample: Sample, changed: Changed, change: tuple[str, str, str], said: str
) -> None:
    bad = changed(sample("look_at_obj_in_light-Book"), change).path

    with pytest.raises(CannotCompile) as caught:
        SimulatorEngine().load(bad)
    assert str(caught.value).startswith(f"the simulator can't compile {bad}: ")
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_file_that_is_no_game_or_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "game.tw-pddl").write_text("[]")

    with pytest.raises(CannotCompile, match="JSON with a domain"):
        SimulatorEngine().load(tmp_path / "game.tw-pddl")
    with pytest.raises(EngineFault, match=r"could not load .*nowhere: No such file"):
        SimulatorEngine().load(tmp_path / "nowhere")
    with pytest.raises(EngineFault, match="no game is loaded"):
        SimulatorEngine().step("look")
