"""Progress plans subgoals, asks for evidence where the environment knows any, and never says that all is done."""

from __future__ import annotations

import pytest
from rooms import believing

from evoharness_cli.harness import Belief, Condition, Progress, Status

NOTHING = Belief()
HOLDING = believing(("mug 1", "at", "hand"))


def _evidence(subgoal: str) -> Condition | None:
    if subgoal != "take mug":
        return None
    return lambda belief: None if belief.subjects("at", "hand") else "you hold nothing"


@pytest.fixture
def progress() -> Progress:
    """The plan of a task whose environment has evidence for `take mug` alone."""
    return Progress("put the mug on the desk", _evidence)


def statuses(progress: Progress) -> dict[str, Status]:
    return {subgoal.name: subgoal.status for subgoal in progress.plan}


def test_a_plan_opens_its_first_subgoal(progress: Progress) -> None:
    assert progress.summary() == "no plan"
    assert progress.commit("find mug | take mug |put mug", NOTHING) == (
        "plan: find mug | take mug | put mug. now: find mug"
    )
    assert progress.summary() == "open subgoal: find mug"


def test_done_closes_the_open_subgoal_and_opens_the_next(progress: Progress) -> None:
    progress.commit("take mug | put mug", NOTHING)

    assert progress.commit("done", HOLDING) == "done: take mug. now: put mug"
    assert statuses(progress) == {"take mug": Status.DONE, "put mug": Status.OPEN}


def test_without_its_evidence_a_subgoal_stays_open_and_says_what_is_missing(progress: Progress) -> None:
    progress.commit("take mug | put mug", NOTHING)

    assert progress.commit("done", NOTHING) == "not yet: you hold nothing. now: take mug"
    assert statuses(progress)["take mug"] is Status.OPEN


def test_where_no_evidence_is_known_the_word_counts_and_is_marked(progress: Progress) -> None:
    progress.commit("find mug | take mug", NOTHING)

    assert progress.commit("Done", NOTHING) == "done on your word: find mug. now: take mug"
    progress.commit("done", HOLDING)
    assert [str(subgoal) for subgoal in progress.plan] == ["find mug (done on your word)", "take mug (done)"]


def test_what_there_is_evidence_of_closes_with_the_subgoal_before_it(progress: Progress) -> None:
    progress.commit("find mug | take mug | put mug | sing", NOTHING)

    # Of putting nothing is known, so that it stays open until the agent says so.
    assert progress.commit("done", HOLDING) == "done on your word: find mug; done: take mug. now: put mug"
    assert list(statuses(progress).values()) == [Status.DONE, Status.DONE, Status.OPEN, Status.OPEN]
    assert [str(subgoal) for subgoal in progress.plan][:2] == ["find mug (done on your word)", "take mug (done)"]


def test_what_there_is_no_evidence_of_stays_open_after_the_one_before_it(progress: Progress) -> None:
    progress.commit("find mug | take mug", NOTHING)

    assert progress.commit("done", NOTHING) == "done on your word: find mug. now: take mug"


def test_when_every_subgoal_is_done_the_task_is_said_to_go_on(progress: Progress) -> None:
    progress.commit("take mug |", NOTHING)
    answer = progress.commit("done", HOLDING)

    assert answer == "done: take mug. every subgoal is done, but the task goes on: put the mug on the desk"
    assert progress.commit("done", HOLDING) == ("every subgoal is done, but the task goes on: put the mug on the desk")
    assert progress.summary() == "no subgoal is open"


def test_done_without_a_plan_names_the_task(progress: Progress) -> None:
    assert progress.commit("done", HOLDING) == "no subgoal is open; the task is: put the mug on the desk"


class TestOpening:
    """`commit [x]`"""

    def test_it_adds_a_subgoal_and_opens_it(self, progress: Progress) -> None:
        assert progress.commit("find mug", NOTHING) == "now: find mug"
        assert statuses(progress) == {"find mug": Status.OPEN}

    def test_it_closes_the_one_before_that_has_its_evidence(self, progress: Progress) -> None:
        progress.commit("take mug", NOTHING)

        assert progress.commit("put mug", HOLDING) == "done: take mug. now: put mug"
        assert statuses(progress)["take mug"] is Status.DONE

    def test_it_closes_the_one_before_on_the_word_and_says_so(self, progress: Progress) -> None:
        progress.commit("find mug", NOTHING)

        assert progress.commit("take mug", NOTHING) == "done on your word: find mug. now: take mug"

    def test_the_one_before_stays_open_without_its_evidence(self, progress: Progress) -> None:
        progress.commit("take mug", NOTHING)

        assert progress.commit("put mug", NOTHING) == "still open: take mug (you hold nothing). now: put mug"
        assert statuses(progress) == {"take mug": Status.OPEN, "put mug": Status.OPEN}

    def test_naming_the_open_subgoal_changes_nothing(self, progress: Progress) -> None:
        progress.commit("take mug | put mug", NOTHING)

        assert progress.commit("Take  Mug", HOLDING) == "now: take mug"
        assert statuses(progress) == {"take mug": Status.OPEN, "put mug": Status.OPEN}

    def test_a_done_or_blocked_subgoal_is_opened_again(self, progress: Progress) -> None:
        progress.commit("take mug | put mug", NOTHING)
        progress.commit("done", HOLDING)
        progress.commit("blocked: the desk is gone", HOLDING)

        assert progress.commit("take mug", HOLDING) == "now: take mug"
        assert progress.commit("done", NOTHING) == "not yet: you hold nothing. now: take mug"


class TestNeeds:
    """`b needs a`"""

    def test_a_subgoal_waits_for_what_it_needs(self, progress: Progress) -> None:
        progress.commit("put mug needs take mug, find desk | take mug | find desk", NOTHING)

        assert progress.summary() == "open subgoal: take mug"
        assert progress.commit("done", HOLDING) == "done: take mug. now: find desk"
        assert progress.commit("done", HOLDING) == "done on your word: find desk. now: put mug"

    def test_opening_it_early_says_what_is_open(self, progress: Progress) -> None:
        progress.commit("find desk | take mug | put mug needs take mug", NOTHING)

        assert progress.commit("put mug", NOTHING) == ("not yet: put mug needs take mug, which is open. now: find desk")
        assert statuses(progress)["find desk"] is Status.OPEN

    def test_opening_it_closes_what_it_needs_where_that_is_open_and_has_its_evidence(self, progress: Progress) -> None:
        progress.commit("take mug | put mug needs take mug", NOTHING)

        assert progress.commit("put mug", HOLDING) == "done: take mug. now: put mug"

    def test_opening_it_says_what_is_missing_of_what_it_needs(self, progress: Progress) -> None:
        progress.commit("take mug | put mug needs take mug", NOTHING)

        assert progress.commit("put mug", NOTHING) == (
            "still open: take mug (you hold nothing). not yet: put mug needs take mug, which is open. now: take mug"
        )

    def test_a_blocked_need_blocks_what_needs_it(self, progress: Progress) -> None:
        progress.commit("take mug | put mug needs take mug", NOTHING)

        assert progress.commit("blocked: the cabinet is locked", NOTHING) == (
            "blocked: take mug. no subgoal can go on: take mug (blocked: the cabinet is locked); "
            "put mug needs take mug, which is blocked"
        )

    def test_a_new_subgoal_cannot_need_what_is_not_planned(self, progress: Progress) -> None:
        progress.commit("find mug", NOTHING)

        assert progress.commit("put mug needs take mug", NOTHING) == (
            "not opened: take mug is needed but not in the plan"
        )
        assert statuses(progress) == {"find mug": Status.OPEN}

    def test_a_plan_may_need_what_was_done_before_it(self, progress: Progress) -> None:
        progress.commit("take mug", NOTHING)
        progress.commit("done", HOLDING)

        assert progress.commit("put mug needs take mug | look", HOLDING) == "plan: put mug | look. now: put mug"


class TestPlans:
    """`commit [a | b | c]`"""

    @pytest.mark.parametrize(
        ("plan", "why"),
        [
            ("put mug needs take mug | look", "take mug is needed but not in the plan"),
            ("a | A", "two subgoals have the same name"),
            ("a needs b | b needs c | c needs a", "its subgoals need each other in a circle"),
            ("a | b needs b", "its subgoals need each other in a circle"),
            ("|", "expected commit [a | b | c]"),
        ],
    )
    def test_what_is_no_plan_is_refused_and_changes_nothing(self, progress: Progress, plan: str, why: str) -> None:
        progress.commit("find mug", NOTHING)

        assert progress.commit(plan, NOTHING) == f"not a plan: {why}"
        assert progress.summary() == "open subgoal: find mug"

    def test_a_new_plan_keeps_what_is_done_and_drops_the_rest(self, progress: Progress) -> None:
        progress.commit("take mug | put mug | leave", NOTHING)
        progress.commit("done", HOLDING)
        progress.commit("clean mug | put mug", HOLDING)

        assert statuses(progress) == {"take mug": Status.DONE, "clean mug": Status.OPEN, "put mug": Status.OPEN}

    def test_what_is_done_and_planned_anew_is_to_be_done_again(self, progress: Progress) -> None:
        progress.commit("take mug | put mug", NOTHING)
        progress.commit("done", HOLDING)

        assert progress.commit("take mug | put mug", HOLDING) == "plan: take mug | put mug. now: take mug"
        assert [subgoal.name for subgoal in progress.plan] == ["take mug", "put mug"]


class TestBlocking:
    """`commit [blocked: why]`"""

    def test_it_goes_on_with_the_next(self, progress: Progress) -> None:
        progress.commit("find mug | find cup", NOTHING)

        assert progress.commit("Blocked: no mug | no cup either", NOTHING) == "blocked: find mug. now: find cup"
        assert str(progress.plan[0]) == "find mug (blocked: no mug | no cup either)"

    def test_a_reason_may_be_left_out(self, progress: Progress) -> None:
        progress.commit("find mug | find cup", NOTHING)
        progress.commit("blocked", NOTHING)

        assert str(progress.plan[0]) == "find mug (blocked: no reason given)"

    def test_without_an_open_subgoal_there_is_nothing_to_block(self, progress: Progress) -> None:
        assert progress.commit("blocked: why", NOTHING).startswith("nothing to block: no subgoal is open")


def test_done_may_carry_a_remark(progress: Progress) -> None:
    progress.commit("take mug | put mug", NOTHING)

    assert progress.commit("done: I have it", NOTHING) == "not yet: you hold nothing. now: take mug"
    assert progress.commit("Done.", HOLDING) == "done: take mug. now: put mug"
    assert list(statuses(progress)) == ["take mug", "put mug"]


def test_a_need_said_later_is_kept(progress: Progress) -> None:
    progress.commit("take mug | put mug | wash mug", NOTHING)

    assert progress.commit("wash mug needs put mug", HOLDING) == (
        "not yet: wash mug needs put mug, which is open. now: take mug"
    )
    assert progress.plan[2].needs == ("put mug",)
    assert progress.commit("put mug needs wash mug", HOLDING).startswith("not opened: put mug and what it needs")
