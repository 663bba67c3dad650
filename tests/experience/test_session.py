"""A process that dies between a note and its step leaves nothing that counts twice."""

from __future__ import annotations

from playing import Play

from evoharness_cli.experience.entries import entries, entry, events
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.session import EpisodeExperience
from evoharness_cli.experience.store import Store


def test_what_the_cut_step_wrote_is_taken_back(store: Store) -> None:
    known, _ = add_entry(store, "skill", "open the fridge first", "alfworld")
    play = Play(store)
    play.experience.note("the kettle is at shelf 1", 1, "You see it.")
    play.resume()
    assert entries(store, query="kettle")[0].status == "dropped"

    play.experience.note("skill: open the fridge first", 1, "You see it.")
    play.resume()
    assert entry(store, known.id).strength == 1

    play.experience.recall("fridge", 1)
    play.resume()
    assert entry(store, known.id).recalled == 0
    play.recall("fridge")
    assert entry(store, known.id).recalled == 1
    play.see("open fridge 1")
    play.win()
    assert entry(store, known.id).helped == 0.5


def test_what_recorded_steps_wrote_stays(store: Store) -> None:
    play = Play(store)
    play.note("skill: open the fridge first")
    play.recall("fridge")
    before = events(store, 1)

    play.resume()
    play.resume()

    assert events(store, 1) == before
    assert (entry(store, 1).status, entry(store, 1).recalled) == ("pending", 1)


def test_a_taken_back_note_can_be_noted_again(store: Store) -> None:
    play = Play(store)
    play.experience.note("the kettle is at shelf 1", 1, "You see it.")
    play.resume()

    assert play.note("the kettle is at shelf 1") == "noted as [2]"
    play.resume()

    assert (entry(store, 2).status, entry(store, 2).strength) == ("pending", 1)


def test_it_is_what_the_harness_asks_of_experience(store: Store) -> None:
    from evoharness_cli.harness import Experience, MetaAction, Workspace

    experience: Experience = EpisodeExperience(store, Play(store).id, "alfworld", "house-a")
    workspace = Workspace("heat some water", lambda _: None, experience)
    workspace.absorb("The fridge 1 is closed.", [], 1)

    assert workspace.answer(MetaAction("note", "skill: open the fridge first"), 1).text == "noted as [1]"
    assert workspace.answer(MetaAction("recall", "fridge"), 2).entries == (1,)
    assert entry(store, 1).because == "The fridge 1 is closed."
