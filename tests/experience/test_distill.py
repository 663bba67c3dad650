"""Skills are drawn from what worked and mistakes from what failed again and again, without the particulars."""

from __future__ import annotations

from playing import Play

from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import Entry, entries, entry
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Progress, Step


class Planned(Play):
    """Commits through a real Progress, with evidence for what the belief knows as done."""

    def plan(self, argument: str) -> str:
        if not hasattr(self, "progress"):
            self.progress = Progress("heat some water", lambda name: self.condition(name))
        self.number += 1
        answer = self.progress.commit(argument, self.belief)
        journal.add_step(self.store, self.id, Step(self.number, "commit", answer, action=f"commit [{argument}]"))
        return answer

    def condition(self, name: str):  # type: ignore[no-untyped-def]
        if name.startswith("take"):
            return lambda belief: None if belief.subjects("at", "hand") else "nothing is in hand"
        return None

    def refused(self, action: str) -> None:
        self.number += 1
        journal.add_step(
            self.store,
            self.id,
            Step(self.number, "environment", "Nothing happens.", action, action=action, invalid=True),
        )


def distilled(store: Store) -> list[Entry]:
    return [each for each in entries(store, status="active") if each.trust == "distilled"]


def play_plan(store: Store, thing: str, world: str) -> None:
    play = Planned(store, world=world)
    play.plan(f"find {thing} | take {thing} | boil {thing}")
    play.search("shelf 1", f"{thing} 1")
    play.plan("done")
    play.see(f"take {thing} 1", (f"{thing} 1", "at", "hand"))
    play.plan("done")
    play.see("boil it", (f"{thing} 1", "hot", "yes"))
    play.win()


def test_a_plan_that_worked_becomes_a_skill_with_when_it_applies(store: Store) -> None:
    play_plan(store, "water", "house-a")

    (skill,) = distilled(store)
    assert (skill.kind, skill.text, skill.when) == ("skill", "find X, take X, boil X", "the task is heat")
    assert (skill.strength, skill.scope, skill.world, skill.episode) == (1, "alfworld", None, 1)


def test_the_same_plan_in_another_house_strengthens_it(store: Store) -> None:
    for world in ("house-a", "house-b", "house-c"):
        play_plan(store, "water", world)

    (skill,) = distilled(store)
    assert skill.strength == 3


def test_without_a_proven_plan_the_actions_that_changed_something_are_the_skill(store: Store) -> None:
    play = Play(store)
    play.search("shelf 1", "water 3")
    play.search("shelf 2")
    play.see("take water 3 from shelf 1", ("water 3", "at", "hand"))
    play.see("boil water 3 with stove 1", ("water 3", "hot", "yes"), ("stove 1", "on", "yes"))
    play.win()

    (skill,) = distilled(store)
    assert skill.text == "take X from shelf, boil X with stove"


def test_a_lost_episode_teaches_no_skill(store: Store) -> None:
    play = Play(store)
    play.search("shelf 1", "water 3")
    play.see("take water 3 from shelf 1", ("water 3", "at", "hand"))
    play.see("boil water 3 with stove 1", ("water 3", "hot", "yes"))
    play.lose()

    assert distilled(store) == []


def test_an_action_refused_again_and_again_is_a_mistake_with_what_worked(store: Store) -> None:
    play = Planned(store)
    play.search("shelf 1", "water 1")
    for _ in range(3):
        play.refused("boil water 1")
    play.see("boil water 1 with stove 1", ("water 1", "hot", "yes"), ("stove 1", "on", "yes"))
    play.lose()

    (mistake,) = distilled(store)
    assert mistake.kind == "mistake"
    assert mistake.text == '"boil X" is refused however often it is tried: what worked was "boil X with stove"'
    assert mistake.because == "Nothing happens."


def test_two_refusals_are_none(store: Store) -> None:
    play = Planned(store)
    for _ in range(2):
        play.refused("boil water 1")
    play.lose()

    assert distilled(store) == []


def test_a_subgoal_that_was_closed_too_early_twice_is_a_mistake(store: Store) -> None:
    play = Planned(store)
    play.plan("take water | boil water")
    assert play.plan("done").startswith("not yet: nothing is in hand")
    play.plan("done")
    play.lose()

    (mistake,) = distilled(store)
    assert mistake.text == ('"take water" is not done before it shows (nothing is in hand): act on that, then commit')


def test_repeating_what_shows_nothing_is_a_mistake_of_a_lost_episode(store: Store) -> None:
    for outcome in ("win", "lose"):
        play = Play(store)
        play.search("shelf 1", "pen 1")
        for _ in range(4):
            play.see("look")
        getattr(play, outcome)()

    (mistake,) = distilled(store)
    assert mistake.text == 'repeating "look" shows nothing new: try what was not tried yet'
    assert mistake.episode == 2


def test_replies_that_are_no_action_are_a_mistake(store: Store) -> None:
    play = Play(store)
    for _ in range(3):
        play.number += 1
        journal.add_step(store, play.id, Step(play.number, "format", "expected one of ...", "hm", invalid=True))
    play.lose()

    assert entry(store, 1).text == "replies that are no action cost steps: reply with one action on one line"
