"""The workspace answers the four verbs from the parts that are on."""

from __future__ import annotations

import pytest
from rooms import Memory

from evoharness_cli.harness import Answer, Fact, MetaAction, Part, Workspace


def workspace(*parts: Part, memory: Memory | None = None) -> Workspace:
    return Workspace("bring the mug", lambda _: None, memory, parts)


def ask(space: Workspace, verb: str, argument: str = "", step: int = 3) -> str:
    return space.answer(MetaAction(verb, argument), step).text


@pytest.mark.parametrize(
    ("parts", "verbs"),
    [
        ((), []),
        ((Part.BELIEF,), ["track", "note"]),
        ((Part.PROGRESS,), ["commit"]),
        ((Part.EXPERIENCE,), ["recall", "note"]),
        (tuple(Part), ["track", "commit", "recall", "note"]),
    ],
)
def test_the_parts_that_are_on_decide_the_verbs(parts: tuple[Part, ...], verbs: list[str]) -> None:
    assert workspace(*parts).verbs == verbs


def test_the_manual_has_no_form_of_a_part_that_is_off() -> None:
    assert [entry.form for entry in workspace(Part.BELIEF).manual] == [
        "track [thing]",
        "note [fact: a | relation | b]",
    ]


@pytest.mark.parametrize(
    ("off", "verb", "argument"),
    [
        (Part.BELIEF, "track", "mug"),
        (Part.PROGRESS, "commit", "a | b"),
        (Part.EXPERIENCE, "recall", "mugs"),
        (Part.BELIEF, "note", "fact: mug 1 | at | hand"),
        (Part.EXPERIENCE, "note", "mugs are in cabinets"),
    ],
)
def test_a_verb_of_a_part_that_is_off_says_so_and_changes_nothing(off: Part, verb: str, argument: str) -> None:
    memory = Memory()
    space = workspace(*(part for part in Part if part is not off), memory=memory)

    assert "is off in this run" in ask(space, verb, argument)
    assert (space.belief.all(), space.progress.plan, memory.asked, memory.kept) == ([], [], [], [])


def test_tracking_a_thing_answers_from_belief() -> None:
    space = workspace(*Part)
    space.absorb("You see a mug 1.", [Fact("mug 1", "at", "shelf 1")], 2)

    assert ask(space, "track", "mug") == "mug 1 at shelf 1 (step 2)"


def test_tracking_nothing_sums_up_belief_and_progress() -> None:
    space = workspace(*Part)
    space.absorb("You are in the hall.", [Fact("you", "at", "hall 1"), Fact("hall 1", "searched", "yes")], 1)

    assert ask(space, "track") == "you are at hall 1, holding nothing. searched 1 of 1. not searched: none. no plan."
    ask(space, "commit", "find mug")
    assert ask(space, "track").endswith("not searched: none. open subgoal: find mug.")


def test_the_sum_leaves_progress_out_where_it_is_off() -> None:
    assert ask(workspace(Part.BELIEF), "track") == "you are at no place yet, holding nothing."


def test_a_subgoal_is_opened_with_what_belief_knows_of_it() -> None:
    space, blind = workspace(*Part), workspace(Part.PROGRESS)
    for each in (space, blind):
        each.absorb("You see a mug 1.", [Fact("mug 1", "at", "shelf 1")], 2)

    assert ask(space, "commit", "take mug | sing") == "plan: take mug | sing. now: take mug. seen: mug 1 at shelf 1."
    assert ask(blind, "commit", "take mug | sing") == "plan: take mug | sing. now: take mug"
    # A plan that isn't one opens nothing.
    assert ask(space, "commit", "sing | sing") == "not a plan: two subgoals have the same name"


def test_recall_asks_experience_and_names_its_entries() -> None:
    memory = Memory()
    space = workspace(*Part, memory=memory)

    assert space.answer(MetaAction("recall", "mugs"), 3) == Answer("mugs are in kitchens", (7,))
    assert memory.asked == [("mugs", 3)]


def test_recall_without_a_query_asks_about_the_task() -> None:
    memory = Memory()
    ask(workspace(*Part, memory=memory), "recall")

    assert memory.asked == [("bring the mug", 3)]


def test_a_note_is_kept_with_the_observation_behind_it() -> None:
    memory = Memory()
    space = workspace(*Part, memory=memory)
    space.absorb("The cabinet 1 is locked.", [], 2)

    assert ask(space, "note", "cabinets may be locked") == "noted"
    assert memory.kept == [("cabinets may be locked", 3, "The cabinet 1 is locked.")]


def test_a_noted_fact_goes_to_belief_and_not_to_experience() -> None:
    memory = Memory()
    space = workspace(*Part, memory=memory)

    assert ask(space, "note", "Fact : mug 1 | at | shelf 1") == "noted: mug 1 at shelf 1"
    assert ask(space, "track", "mug") == "mug 1 at shelf 1 (noted at step 3)"
    assert memory.kept == []


@pytest.mark.parametrize("argument", ["fact: mug 1 at shelf 1", "fact: mug 1 | at", "fact: mug 1 | | shelf 1", "fact:"])
def test_a_fact_has_three_parts(argument: str) -> None:
    space = workspace(*Part)

    assert ask(space, "note", argument) == "not noted: expected note [fact: a | relation | b]"
    assert space.belief.all() == []


def test_a_run_without_a_store_recalls_nothing() -> None:
    assert ask(workspace(*Part), "recall", "mugs") == "nothing relevant in experience"


def test_a_replay_restores_belief_and_progress_and_leaves_experience_alone() -> None:
    memory = Memory()
    space = workspace(*Part, memory=memory)
    for verb, argument in (
        ("commit", "find mug | take mug"),
        ("commit", "done"),
        ("note", "fact: mug 1 | at | shelf 1"),
        ("note", "mugs are on shelves"),
        ("recall", "mugs"),
    ):
        space.replay(MetaAction(verb, argument), 1)

    assert space.progress.summary() == "open subgoal: take mug"
    assert space.belief.track("mug") == "mug 1 at shelf 1 (noted at step 1)"
    assert (memory.asked, memory.kept) == ([], [])
