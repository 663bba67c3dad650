"""In real games of each task type, `commit [done]` is refused until what it claims was seen to be so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import GameFile
from evoharness_cli.harness import Episode, Limits, Outcome, Settings, Step, Workspace
from evoharness_cli.models import ScriptedModel


def play(environment: AlfworldEnvironment, replies: list[str]) -> tuple[Episode, list[Step]]:
    workspace = Workspace(environment.brief.goal, environment.evidence)
    settings = Settings(Limits(steps=len(replies)))
    episode = Episode(environment, ScriptedModel.of(replies), workspace, settings)
    return episode, list(episode.play())[1:]


@pytest.mark.parametrize(
    ("words", "plan", "refusals"),
    [
        ("-CD-", "find cd | take cd | put cd in drawer", ["no cd was seen", "you hold nothing", "no cd is at drawer"]),
        (
            "-Spatula-",
            "find spatula | take spatula | clean spatula | put spatula in drawer",
            ["no spatula was seen", "you hold nothing", "no spatula is clean", "no spatula is at drawer"],
        ),
        (
            "-Apple-",
            "find apple | take apple | heat apple | put apple in diningtable",
            ["no apple was seen", "you hold nothing", "no apple is hot", "no apple is at diningtable"],
        ),
        (
            "-Tomato-",
            "find tomato | take tomato | cool tomato | put tomato in diningtable",
            ["no tomato was seen", "you hold nothing", "no tomato is cool", "no tomato is at diningtable"],
        ),
        (
            "-Book-",
            "find book | take book | use desklamp",
            ["no book was seen", "you hold nothing", "no desklamp is on"],
        ),
        (
            "-Pencil-",
            "take pencil | put pencil in dresser | take second pencil | put second pencil in dresser",
            ["you hold nothing", "no pencil is at dresser", "you hold nothing", "only pencil"],
        ),
    ],
)
def test_done_is_refused_until_it_is_so(
    opened: Callable[[str], AlfworldEnvironment],
    sample: Callable[[str], GameFile],
    words: str,
    plan: str,
    refusals: list[str],
) -> None:
    walkthrough = list(sample(words).walkthrough)
    replies = [f"commit [{plan}]", "commit [done]"]
    for command in walkthrough:
        replies += [command, "commit [done]", "commit [done]"]
    episode, steps = play(opened(words), replies)

    assert episode.outcome is Outcome.WON
    answers = [step.observation for step in steps if step.action == "commit [done]"]
    refused = [answer.removeprefix("not yet: ") for answer in answers if answer.startswith("not yet: ")]
    for refusal in refusals:
        assert any(each.startswith(refusal) for each in refused), (refusal, refused)
    # Each refusal leaves the subgoal open, and what is done is done by evidence alone.
    assert all(f"now: {name}" in " ".join(answers) for name in plan.split(" | "))
    done = [subgoal for subgoal in episode.workspace.progress.plan if subgoal.status.value == "done"]
    assert all(subgoal.proven for subgoal in done)
    assert not any("all done" in answer for answer in answers)


def test_when_every_subgoal_is_done_and_the_game_goes_on_it_is_said(
    opened: Callable[[str], AlfworldEnvironment], sample: Callable[[str], GameFile]
) -> None:
    game = sample("-Apple-")
    take = next(command for command in game.walkthrough if command.startswith("take"))
    upto = list(game.walkthrough)[: list(game.walkthrough).index(take) + 1]
    _, steps = play(opened("-Apple-"), ["commit [find apple | take apple]", *upto, *["commit [done]"] * 2])

    goes_on = f"every subgoal is done, but the task goes on: {game.task}"
    assert [step.observation for step in steps[-2:]] == [f"done: find apple; done: take apple. {goes_on}", goes_on]
