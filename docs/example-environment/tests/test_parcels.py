"""The depot is played by a scripted model, as evoharness plays it."""

from __future__ import annotations

from evoharness_parcels import ParcelAdapter, ParcelNeeds

from evoharness_cli.environments import Adapter
from evoharness_cli.harness import Episode, Fact, Outcome, Workspace
from evoharness_cli.models import ScriptedModel

DEPOT = ParcelNeeds(lockers=4, seed=1)


def play(*replies: str) -> Episode:
    adapter: Adapter = ParcelAdapter()
    environment = adapter.open(DEPOT, None)
    episode = Episode(environment, ScriptedModel.of(replies), Workspace(environment.brief.goal, environment.evidence))
    for _ in episode.play():
        pass
    return episode


def test_the_wanted_parcel_is_found_and_handed_over() -> None:
    episode = play("open locker 1", "open locker 3", "Take  parcel 3.", "hand over parcel 3")

    assert episode.outcome is Outcome.WON
    assert episode.steps[1].observation == "You open locker 1. In it is parcel 4."
    assert episode.steps[1].facts == (Fact("locker 1", "searched", "yes"), Fact("parcel 4", "at", "locker 1"))
    assert episode.workspace.belief.value("parcel 3", "at") == "counter"


def test_the_wrong_parcel_loses() -> None:
    assert play("open locker 1", "take parcel 4", "hand over parcel 4").outcome is Outcome.LOST


def test_a_subgoal_is_done_once_its_evidence_was_seen() -> None:
    plan = "commit [find parcel 3 | take parcel 3]"
    episode = play(plan, "commit [done]", "open locker 3", "commit [done]", "take parcel 3", "hand over parcel 3")

    answers = [step.observation for step in episode.steps if step.kind == "commit"]
    assert answers[1:] == [
        "not yet: parcel 3 was not seen. now: find parcel 3",
        "done: find parcel 3. now: take parcel 3. seen: parcel 3 at locker 3."
        " searched 1 of 4. not searched: locker 1, locker 2, locker 4.",
    ]


def test_what_is_not_possible_changes_nothing_and_is_counted_as_invalid() -> None:
    episode = play("take parcel 3", "sing", "open locker 3", "take parcel 3", "hand over parcel 3")

    assert episode.steps[1].observation == "That is not possible."
    assert episode.steps[2].observation.startswith("format error: no such action: sing; expected open {locker}")
    assert [step.invalid for step in episode.steps] == [False, True, True, False, False, False]


def test_the_same_seed_is_the_same_depot() -> None:
    first, second = (ParcelAdapter().open(DEPOT, None) for _ in range(2))

    assert (first.brief, first.reset()) == (second.brief, second.reset())
