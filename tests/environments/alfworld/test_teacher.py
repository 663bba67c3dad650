"""The built-in teacher wins every type of task from what an agent can read, and recovers from its mistakes."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import read_game, split_games
from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.environments.alfworld.heldout import held_out_scenes
from evoharness_cli.environments.alfworld.hints import Hints, in_order, read_hints
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine
from evoharness_cli.environments.alfworld.task_types import TASK_TYPES
from evoharness_cli.environments.alfworld.teacher import AlfworldTeacher, LeftTranscript
from evoharness_cli.harness import (
    VERBS,
    Constraint,
    Decode,
    Episode,
    Limits,
    Outcome,
    Reply,
    Settings,
    Step,
    Transcript,
    Workspace,
)

# What ALFWorld's `train` has; its valid_unseen rooms are others.
TRAIN_SCENES = {
    "kitchens": [*range(1, 9), *range(11, 29), 30],
    "living rooms": [*range(201, 215), 216, 217, 218, *range(220, 226), 227, 228, 229, 230],
    "bedrooms": [*range(301, 308), 309, 310, 311, 312, 313, 314, *range(316, 325), 326, 327, 328, 329, 330],
    "bathrooms": [401, 402, 403, *range(405, 424), *range(426, 431)],
}


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four generated games of each type."""
    return make_games(24, 11, tmp_path_factory.mktemp("games"))


def play(game: Path, slips: float, seed: int = 0) -> tuple[Episode, dict[int, str]]:
    environment = AlfworldEnvironment(read_game(game), SimulatorEngine())
    teacher = AlfworldTeacher(seed, slips).session(game.parent.name)
    workspace = Workspace(environment.brief.goal, environment.evidence)
    episode = Episode(environment, teacher, workspace, Settings(decode=Decode.FREE))
    list(episode.play())
    return episode, dict(teacher.slips)


class Replies:
    """Says what was written down."""

    name = "another"

    def __init__(self, replies: list[str]) -> None:
        self._replies = replies
        self.fingerprint: dict[str, object] = {}

    def session(self, task: str) -> Replies:
        del task
        return self

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        del constraint, max_tokens, seed
        return Reply(self._replies[transcript.replies])

    def close(self) -> None:
        pass


def read_place(game: Path) -> str:
    """Return a place of a game's house."""
    environment = AlfworldEnvironment(read_game(game), SimulatorEngine())
    environment.reset()
    return next(each for each in environment.admissible() if each.startswith("go to ")).removeprefix("go to ")


def calls(steps: list[Step]) -> Counter[str]:
    return Counter(step.kind for step in steps if step.kind in VERBS)


def test_it_wins_every_type_of_task_with_few_calls(games: list[Path]) -> None:
    won, made = Counter[str](), Counter[str]()
    for game in games:
        episode, slips = play(game, 0.0)
        won[episode.environment.brief.kind] += episode.outcome is Outcome.WON
        made += calls(episode.steps)
        assert slips == {}
        assert sum(calls(episode.steps).values()) <= 8
        # Whatever is said to be done is done: without slips the workspace never refuses.
        assert not [step for step in episode.steps if step.observation.startswith(("not yet", "not a plan"))]

    assert won == dict.fromkeys(TASK_TYPES, 4)
    assert made["recall"] >= 0.75 * len(games)
    assert sum(made.values()) <= 3.5 * len(games)


def test_it_goes_back_to_what_its_commit_was_told_without_asking_again(games: list[Path]) -> None:
    told = 0
    for game in games:
        for seed in range(4):
            episode, _ = play(game, 0.0, seed)
            for step in episode.steps:
                seen = step.observation.partition("seen: ")[2].partition(".")[0].split(", ")
                if step.reply == "commit [done]" and len(seen) == 2:
                    # The first one lies where it is to be, so it is the other one that is fetched.
                    assert episode.steps[step.number + 1].reply == f"go to {seen[1].partition(' at ')[2]}"
                    told += 1

    assert told > 3


def test_it_wins_in_spite_of_its_slips_which_are_marked(games: list[Path]) -> None:
    kinds = Counter[str]()
    for game in games:
        for seed in (1, 2):
            episode, slips = play(game, 0.3, seed)
            assert episode.outcome is Outcome.WON
            kinds.update(slips.values())
            for step in episode.steps[1:]:
                if step.invalid and step.number not in slips:
                    # It can't know which places are reached from one spot before it has tried.
                    assert step.reply.startswith("go to ")
                    assert episode.steps[step.number + 1].number in slips or episode.steps[
                        step.number + 1
                    ].reply.startswith("examine ")
                assert not (slips.get(step.number) == "wrong thing" and step.invalid)
                if slips.get(step.number) == "done too early":
                    assert step.observation.startswith("not yet: ")

    assert {"no such place", "done too early", "wrong thing", "from afar", "put down", "still closed"} <= set(kinds)


def test_after_a_mistake_it_does_what_was_to_be_done(games: list[Path]) -> None:
    recovered = Counter[str]()
    for game in games:
        for seed in (5, 6, 7):
            episode, slips = play(game, 0.3, seed)
            for number, kind in slips.items():
                after = episode.steps[number + 1]
                if kind == "wrong thing" and after.number not in slips:
                    taken = next(step for step in reversed(episode.steps[: number + 1]) if step.kind != "commit")
                    assert after.reply.split()[:3] == ["move", *taken.reply.split()[1:3]]
                    recovered[kind] += 1
                elif kind == "searched before" and after.number not in slips:
                    # It went round in circles, sees where things stand and goes on where it wasn't.
                    assert slips[number - 1] == kind
                    assert after.reply == "track []"
                    left = after.observation.partition("not searched: ")[2].partition(".")[0].split(", ")
                    following = episode.steps[number + 2]
                    assert following.reply.removeprefix("go to ") in left or following.number in slips
                    recovered[kind] += 1

    assert min(recovered["wrong thing"], recovered["searched before"]) > 2


def test_the_same_seed_shows_the_same(games: list[Path]) -> None:
    first, again, other = (play(game, 0.3, seed)[0] for game, seed in ((games[5], 1), (games[5], 1), (games[5], 2)))

    assert first.transcript and again.transcript and other.transcript
    assert first.transcript.messages == again.transcript.messages
    assert first.transcript.messages != other.transcript.messages


def take_over(game: Path, replies: list[str], steps: int = 50) -> Episode:
    """Have the teacher go on after another's replies."""
    environment = AlfworldEnvironment(read_game(game), SimulatorEngine())
    workspace = Workspace(environment.brief.goal, environment.evidence)
    beginning = Episode(environment, Replies(replies), workspace, Settings(Limits(steps=len(replies)), Decode.FREE))
    list(beginning.play())

    environment = AlfworldEnvironment(read_game(game), SimulatorEngine())
    teacher = AlfworldTeacher(0, 0.0).session(game.parent.name)
    workspace = Workspace(environment.brief.goal, environment.evidence)
    episode = Episode(environment, teacher, workspace, Settings(Limits(steps=steps), Decode.FREE))
    list(episode.play(beginning.steps))
    return episode


def test_it_goes_on_with_a_transcript_that_it_began(games: list[Path]) -> None:
    episode, _ = play(games[3], 0.2, 4)
    recorded = episode.steps[:6]

    environment = AlfworldEnvironment(read_game(games[3]), SimulatorEngine())
    teacher = AlfworldTeacher(4, 0.2).session(games[3].parent.name)
    workspace = Workspace(environment.brief.goal, environment.evidence)
    resumed = Episode(environment, teacher, workspace, Settings(decode=Decode.FREE))
    list(resumed.play(recorded))
    assert [step.reply for step in resumed.steps] == [step.reply for step in episode.steps]

    assert resumed.transcript
    resumed.transcript.leave_out(2, "so far")
    with pytest.raises(LeftTranscript, match="summed up"):
        teacher.reply(resumed.transcript, None, 64, 0)


def test_it_takes_over_from_any_step_of_another_and_wins(games: list[Path]) -> None:
    """Cut anywhere, the rest of its own episodes is played to the end in as few steps as if it had gone on."""
    for game in games:
        whole, _ = play(game, 0.0)
        replies = [step.reply for step in whole.steps[1:]]
        for cut in range(1, len(replies), 3):
            # A reply of another kind of player makes the teacher begin anew from what stands in the transcript.
            episode = take_over(game, ["look", *replies[:cut]])
            assert episode.outcome is Outcome.WON
            assert len(episode.steps) <= len(whole.steps) + 4
            assert not [step for step in episode.steps[cut + 2 :] if step.observation.startswith(("not yet", "not a"))]


def test_it_takes_over_from_one_who_is_lost(games: list[Path]) -> None:
    for game in games:
        place = read_place(game)
        lost = ["recall [nonsense]", "commit [dance | sing]", f"go to {place}", f"go to {place}", "go to shelf 99"]
        episode = take_over(game, lost)
        own = episode.steps[len(lost) + 1 :]

        assert episode.outcome is Outcome.WON
        assert own[0].reply == "track []"
        assert next(step for step in own if step.kind == "commit").reply.startswith("commit [t")
        assert not [step for step in own if step.reply == f"go to {place}" and step.invalid]


def test_it_plans_anew_where_another_skipped_a_part_of_its_plan(games: list[Path]) -> None:
    cleaning = [game for game in games if "clean" in game.parent.parent.name]
    for game in cleaning:
        whole, _ = play(game, 0.0)
        plan = next(step.reply for step in whole.steps if step.reply.startswith("commit [take"))
        last = plan.removesuffix("]").rpartition(" | ")[2]
        cleaned = next(step.number for step in whole.steps if step.reply.startswith("clean "))
        acted = [step.reply for step in whole.steps[1 : cleaned + 1] if step.kind not in VERBS]

        episode = take_over(game, [plan, f"commit [{last}]", *acted])
        assert episode.outcome is Outcome.WON
        assert len(episode.steps) < len(whole.steps) + 6
    assert len(cleaning) == 4


def test_it_puts_away_what_another_holds_in_vain(games: list[Path]) -> None:
    tried = 0
    for game in games:
        whole, _ = play(game, 0.0)
        environment = AlfworldEnvironment(read_game(game), SimulatorEngine())
        environment.reset()
        wanted = {step.reply.split()[1] for step in whole.steps if step.reply.startswith("take ")}
        beginning: list[str] = []
        for place in [step.reply for step in whole.steps if step.reply.startswith("go to ")]:
            beginning.append(place)
            environment.step(place)
            takes = [each for each in environment.admissible() if each.startswith("take ")]
            if other := [each for each in takes if each.split()[1] not in wanted]:
                beginning.append(other[0])
                break
        else:
            continue
        episode = take_over(game, beginning)
        assert episode.outcome is Outcome.WON
        tried += 1

    assert tried > 5


def test_it_looks_where_its_recall_says_and_then_where_looking_is_worth_most() -> None:
    answer = (
        "mug here: shelf 1, desk 1\n"
        "places for mug: coffeemachine 2 of 3, cabinet 4 of 30, sinkbasin 1 of 9 (imported)\n"
        '[12] note: "in this house the mug is on drawer 2"\n'
        '[13] note: "the cup is in drawer 1"\n'
        "places for cup: fridge 2 of 2"
    )
    hints = read_hints(answer, "mug")
    places = [
        "cabinet 1",
        "cabinet 2",
        "coffeemachine 1",
        "drawer 1",
        "drawer 2",
        "shelf 1",
        "sinkbasin 1",
        "toaster 1",
    ]

    assert hints.here == ("shelf 1", "desk 1", "drawer 2")
    assert hints.counts == (("coffeemachine", 2, 3), ("cabinet", 4, 30), ("sinkbasin", 1, 9))
    assert in_order("mug", places, hints) == [
        *("shelf 1", "drawer 2", "coffeemachine 1", "sinkbasin 1", "cabinet 1", "cabinet 2"),
        *("drawer 1", "toaster 1"),
    ]
    unknown = in_order("egg", ["fridge 1", "countertop 1", "cabinet 1", "drawer 1"], Hints())
    assert unknown[:2] == ["countertop 1", "fridge 1"]


def test_held_out_scenes_follow_their_rule() -> None:
    drawn = random.Random("held-out scenes")

    assert held_out_scenes() == {scene for scenes in TRAIN_SCENES.values() for scene in drawn.sample(scenes, 2)}


def test_train_is_divided_into_training_and_held_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    for scene in (1, 2, 23, 230, 412):
        game = (
            tmp_path
            / "json_2.1.1"
            / "train"
            / f"pick_and_place_simple-Mug-None-Desk-{scene}"
            / "trial"
            / "game.tw-pddl"
        )
        game.parent.mkdir(parents=True)
        game.touch()

    def scenes(split: str) -> list[str]:
        return [game.parent.parent.name.rpartition("-")[2] for game in split_games(split)]

    assert sorted(scenes("heldout"), key=int) == ["2", "23", "412"]
    assert sorted(scenes("training"), key=int) == ["1", "230"]
    assert sorted(split_games("heldout") + split_games("training")) == split_games("train")
