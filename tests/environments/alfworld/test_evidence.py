"""A subgoal is done when belief has its evidence; until then the missing part is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.evidence import evidence
from evoharness_cli.environments.alfworld.games import GameFile
from evoharness_cli.environments.alfworld.goal import Goal
from evoharness_cli.harness import Belief, Fact

PUT = Goal("mug", "desk")
CLEAN = Goal("mug", "desk", state="clean")
TWO = Goal("mug", "desk", count=2)
LAMP = Goal("mug", lamp="desklamp")
MUG_HELD = ("mug 1", "at", "hand")


def missing(subgoal: str, *facts: tuple[str, str, str], goal: Goal | None = PUT) -> str | None:
    belief = Belief()
    belief.absorb([Fact(*fact) for fact in facts], 1)
    condition = evidence(subgoal, goal)
    assert condition is not None, subgoal
    return condition(belief)


@pytest.mark.parametrize(
    ("subgoal", "facts", "what"),
    [
        ("find mug", [], "no mug was seen"),
        ("find mug", [("mugcake 1", "at", "desk 1")], "no mug was seen"),
        ("find mug", [("mug 2", "at", "desk 1")], None),
        ("find the second mug", [("mug 2", "at", "desk 1")], "only one mug was seen"),
        ("find second mug", [("mug 2", "at", "desk 1"), ("mug 1", "at", "bed 1")], None),
        ("find mug 1", [("mug 12", "at", "desk 1")], "no mug 1 was seen"),
        ("find fridge", [("fridge 1", "searched", "no")], None),
        ("take mug", [], "you hold nothing"),
        ("take mug", [("pan 1", "at", "hand")], "you hold pan 1, not mug"),
        ("Pick up the mug.", [MUG_HELD], None),
        ("take mug 1 from desk 2", [MUG_HELD], None),
        ("take mug 2", [MUG_HELD], "you hold mug 1, not mug 2"),
        ("clean mug", [("mug 1", "hot", "yes")], "no mug is clean"),
        ("wash mug with sinkbasin 1", [("mug 1", "clean", "yes")], None),
        ("heat mug", [("mug 1", "hot", "no")], "no mug is hot"),
        ("heat mug in microwave", [("mug 1", "hot", "yes")], None),
        ("cool mug", [], "no mug is cool"),
        ("chill mug", [("mug 1", "cool", "yes")], None),
        ("slice apple", [("apple 1", "sliced", "yes")], None),
        ("clean both mug", [("mug 1", "clean", "yes")], "only one mug is clean"),
        ("open fridge", [("fridge 1", "open", "no")], "no fridge is open"),
        ("open the fridge 1", [("fridge 1", "open", "yes")], None),
        ("go to desk", [], "you are at no place yet"),
        ("go to desk 2", [("you", "at", "desk 1")], "you are at desk 1"),
        ("go to desk", [("you", "at", "desk 1")], None),
    ],
)
def test_a_step_on_the_way(subgoal: str, facts: list[tuple[str, str, str]], what: str | None) -> None:
    assert missing(subgoal, *facts) == what


class TestPlacing:
    """`put mug in desk`"""

    def test_a_held_thing_is_not_placed(self) -> None:
        assert missing("put mug in desk", MUG_HELD) == "no mug is at desk, you still hold mug 1"

    def test_a_thing_elsewhere_is_not_placed(self) -> None:
        assert missing("put mug in desk", ("mug 1", "at", "bed 1")) == "no mug is at desk"

    @pytest.mark.parametrize(
        "subgoal", ["put mug in desk", "place a mug in/on the desk", "move mug 1 to desk 1", "store mug on desk"]
    )
    def test_a_placed_thing_is_placed(self, subgoal: str) -> None:
        assert missing(subgoal, ("mug 1", "at", "desk 1")) is None

    def test_the_tasks_own_thing_has_to_be_in_the_tasks_state(self) -> None:
        placed = ("mug 1", "at", "desk 1")

        assert missing("put mug in desk", placed, goal=CLEAN) == "mug 1 is at desk but not clean"
        assert missing("put mug in desk", placed, ("mug 1", "clean", "yes"), goal=CLEAN) is None

    def test_another_place_asks_for_no_state(self) -> None:
        assert missing("put mug in bed", ("mug 1", "at", "bed 1"), goal=CLEAN) is None

    def test_a_state_may_be_part_of_the_subgoal(self) -> None:
        assert missing("put a hot mug in desk", ("mug 1", "at", "desk 1")) == "mug 1 is at desk but not hot"
        assert missing("put cold mug in desk", ("mug 1", "at", "desk 1"), ("mug 1", "cool", "yes")) is None

    def test_one_in_the_state_is_enough_wherever_the_others_are(self) -> None:
        facts = (("mug 1", "at", "desk 1"), ("mug 2", "at", "desk 1"), ("mug 3", "at", "desk 2"))

        assert missing("put mug in desk", *facts, ("mug 3", "clean", "yes"), goal=CLEAN) is None


class TestTwo:
    """`put two mug in desk`"""

    def test_the_first_is_placed_like_any(self) -> None:
        assert missing("put mug in desk", ("mug 1", "at", "desk 1"), goal=TWO) is None

    @pytest.mark.parametrize("subgoal", ["put second mug in desk", "put two mug in desk", "put the other mug on desk"])
    def test_both_have_to_be_at_one_place(self, subgoal: str) -> None:
        first = ("mug 1", "at", "desk 1")
        apart, together = ("mug 2", "at", "desk 2"), ("mug 2", "at", "desk 1")
        only = "only mug 1 is at desk 1; both have to be at the same place"

        assert missing(subgoal, first, goal=TWO) == only
        assert missing(subgoal, first, apart, goal=TWO) == only
        assert missing(subgoal, first, together, goal=TWO) is None

    def test_the_second_is_taken_after_the_first_was_placed(self) -> None:
        assert missing("take second mug", MUG_HELD, goal=TWO) == "the first mug is not at desk"
        assert missing("take second mug", MUG_HELD, ("mug 2", "at", "desk 1"), goal=TWO) is None


class TestLamps:
    """`use desklamp`, `look at mug under desklamp`"""

    ON = ("desklamp 1", "on", "yes")

    @pytest.mark.parametrize("subgoal", ["use desklamp", "turn on the desklamp", "look at mug under desklamp"])
    def test_the_lamp_has_to_be_on(self, subgoal: str) -> None:
        assert missing(subgoal, MUG_HELD, ("desklamp 1", "on", "no"), goal=LAMP) == "no desklamp is on"

    def test_the_lamp_is_on_but_the_hands_are_empty(self) -> None:
        assert missing("use desklamp", self.ON, goal=LAMP) == "the desklamp is on but you don't hold mug"
        assert missing("examine mug with desklamp", self.ON, goal=LAMP) == "you hold nothing"

    @pytest.mark.parametrize("subgoal", ["use desklamp 1", "examine the mug with the desklamp"])
    def test_the_lamp_is_on_and_the_thing_is_held(self, subgoal: str) -> None:
        assert missing(subgoal, self.ON, MUG_HELD, goal=LAMP) is None

    def test_in_another_task_a_lamp_only_has_to_be_on(self) -> None:
        assert missing("use desklamp", self.ON) is None


@pytest.mark.parametrize(
    "subgoal",
    ["tidy up", "find", "search the cabinets", "find mug and take it", "put mug", "heat mug and put it in desk"],
)
def test_where_the_wording_is_not_known_only_the_agent_can_tell(subgoal: str) -> None:
    assert evidence(subgoal, PUT) is None


@pytest.mark.parametrize(
    ("words", "plan"),
    [
        ("RemoteControl", ["find remotecontrol", "take remotecontrol", "put remotecontrol in sofa"]),
        ("Cloth", ["find cloth", "take cloth", "clean cloth", "put cloth in drawer"]),
        ("Apple", ["find apple", "take apple", "heat apple", "put apple in diningtable"]),
        ("Tomato", ["find tomato", "take tomato", "cool tomato", "put tomato in diningtable"]),
        ("Book", ["find book", "take book", "find desklamp", "use desklamp"]),
        (
            "Pencil",
            [
                "find pencil",
                "take pencil",
                "put pencil in dresser",
                "take second pencil",
                "put second pencil in dresser",
            ],
        ),
    ],
)
def test_the_walkthrough_of_each_type_of_task_proves_its_plan_in_order(
    opened: Callable[[str], AlfworldEnvironment], sample: Callable[[str], GameFile], words: str, plan: list[str]
) -> None:
    environment, belief = opened(words), Belief()
    environment.reset()
    belief.absorb(environment.facts(), 0)
    left, won = list(plan), False
    for step, action in enumerate(sample(words).walkthrough, 1):
        assert left, "the plan was proven before the task was achieved"
        observation = environment.step(action)
        belief.absorb(environment.facts(), step)
        while left and (condition := environment.evidence(left[0])) and condition(belief) is None:
            left.pop(0)
        won = observation.success

    assert left == []
    assert won


def test_what_was_taken_and_brought_to_its_place_counts_as_taken() -> None:
    facts = [MUG_HELD, ("mug 1", "at", "desk 1")]

    assert missing("take mug", *facts) is None
    assert missing("take mug", MUG_HELD, ("mug 1", "at", "shelf 1")) == "you hold nothing"
    assert missing("take mug", ("mug 1", "at", "desk 1")) == "you hold nothing"
    assert missing("take second mug", *facts, goal=TWO) == "you hold nothing"
    assert missing("take second mug", *facts, ("mug 2", "at", "hand"), ("mug 2", "at", "desk 1"), goal=TWO) is None


def test_a_plural_means_the_type() -> None:
    assert missing("find two mugs", ("mug 1", "at", "bed 1"), ("mug 2", "at", "bed 1"), goal=TWO) is None
    assert missing("find two mugs", ("mug 1", "at", "bed 1"), goal=TWO) == "only one mugs was seen"


def test_a_state_that_is_named_has_to_be_so() -> None:
    assert missing("take clean mug", MUG_HELD) == "you hold mug 1, but it is not clean"
    assert missing("take clean mug", MUG_HELD, ("mug 1", "clean", "yes")) is None
    assert missing("find a clean mug", ("mug 1", "at", "bed 1")) == "no clean mug was seen"
