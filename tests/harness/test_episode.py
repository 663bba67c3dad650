"""An episode is played to its end or to a limit, and can be played on from its record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rooms import FORMS, WINNING, Memory, Replies, TwoGoals, TwoRooms

from evoharness_cli.harness import (
    Constraint,
    Decode,
    Diverged,
    Episode,
    Fact,
    Limits,
    OneOf,
    Outcome,
    Part,
    Reply,
    Settings,
    Step,
    Transcript,
    Workspace,
)

LOOKS = ["look"] * 99


def episode(
    *replies: str, settings: Settings | None = None, parts: tuple[Part, ...] = tuple(Part), tokens: int = 5
) -> Episode:
    environment = TwoRooms()
    workspace = Workspace(environment.brief.goal, environment.evidence, Memory(), parts)
    return Episode(environment, Replies(replies, tokens), workspace, settings or Settings())


def played(*replies: str, limits: Limits | None = None) -> Episode:
    game = episode(*replies, settings=Settings(limits=limits or Limits()))
    assert list(game.play()) == game.steps
    return game


class TestPlaying:
    def test_achieving_the_task_wins(self) -> None:
        game = played(*WINNING)

        assert game.outcome is Outcome.WON
        assert [step.observation for step in game.steps] == [
            "There is a kitchen 1 and a hall 1.",
            "You are in the kitchen 1. You see a mug 1.",
            "You take the mug 1.",
            "You are in the hall 1. You see nothing.",
            "You drop the mug 1.",
        ]

    def test_the_end_without_success_is_a_loss(self) -> None:
        assert played("go to kitchen 1", "take mug 1", "smash mug 1").outcome is Outcome.LOST

    def test_a_step_records_reply_thought_action_facts_and_tokens(self) -> None:
        game = played("<think>mugs are there</think><action>go to kitchen 1</action>")
        first, step = game.steps

        assert (first.number, first.kind, first.charged, first.reply) == (0, "environment", False, "")
        assert step.reply == "<think>mugs are there</think><action>go to kitchen 1</action>"
        assert (step.number, step.kind, step.thought, step.action, step.charged, step.completion_tokens) == (
            1,
            "environment",
            "mugs are there",
            "go to kitchen 1",
            True,
            5,
        )
        assert step.facts == (
            Fact("you", "at", "kitchen 1"),
            Fact("kitchen 1", "searched", "yes"),
            Fact("mug 1", "at", "kitchen 1"),
        )

    def test_only_news_is_recorded_as_facts(self) -> None:
        assert played("go to hall 1", "go to hall 1").steps[2].facts == ()

    def test_a_meta_action_is_answered_and_recorded_by_its_verb(self) -> None:
        game = played("go to kitchen 1", "track [mug]", "recall [mugs]")

        assert [(step.kind, step.observation, step.recalled) for step in game.steps[2:]] == [
            ("track", "mug 1 at kitchen 1 (step 1)", ()),
            ("recall", "mugs are in kitchens", (7,)),
        ]

    def test_a_format_error_tells_the_model_what_was_expected(self) -> None:
        game = played("look\nlook", "note []")

        assert [(step.kind, step.charged) for step in game.steps[1:]] == [("format", True), ("format", True)]
        assert game.steps[1].observation == (
            "format error: the reply has more than one line; expected one action on one line"
        )
        assert game.steps[2].observation == "format error: expected note [...], with something between the brackets"

    def test_an_action_that_the_environment_cannot_read_names_all_forms(self) -> None:
        step = played("eat mug 1").steps[1]

        assert step.kind == "format"
        assert step.action == "eat mug 1"
        assert step.observation == (
            "format error: no such action: eat mug 1; expected go to {room}, take {object}, drop {object}, "
            "smash {object}, look, track [thing], commit [a | b | c], commit [done], recall [query], note [insight], "
            "note [fact: a | relation | b]"
        )


class TestPrompt:
    def test_the_system_prompt_tells_actions_and_calls(self) -> None:
        game = played("look")
        assert game.transcript is not None
        system = game.transcript.messages[0].text

        assert system.startswith("You are in a house of two rooms.\n")
        assert f"\nActions: {', '.join(FORMS)}\n" in system
        assert system.endswith("for example: go to hall 1")
        for form in ("track [thing]", "commit [done]", "recall [query]", "note [insight]"):
            assert form in system

    @pytest.mark.parametrize("off", list(Part))
    def test_a_part_that_is_off_is_not_advertised(self, off: Part) -> None:
        game = episode("look", parts=tuple(part for part in Part if part is not off))
        list(game.play())
        assert game.transcript is not None
        system = game.transcript.messages[0].text
        verb = {Part.BELIEF: "track", Part.PROGRESS: "commit", Part.EXPERIENCE: "recall"}[off]

        assert f"{verb} [" not in system

    def test_without_any_part_the_agent_is_told_of_no_calls(self) -> None:
        game = episode("track [mug]", parts=())
        steps = list(game.play())
        assert game.transcript is not None

        assert "[" not in game.transcript.messages[0].text
        assert steps[1].observation == "track is off in this run"

    def test_the_transcript_is_the_conversation(self) -> None:
        game = played("track []", "look", limits=Limits(steps=2))
        assert game.transcript is not None

        assert [message.role for message in game.transcript.messages] == [
            "system",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
        ]
        assert game.transcript.messages[1].text == (
            "There is a kitchen 1 and a hall 1.\n\nYour task is to: bring the mug to the hall"
        )
        assert game.transcript.messages[2].text == "track []"
        assert game.transcript.messages[5].text == "Nothing happens."

    def test_admissible_actions_are_shown_only_on_demand(self) -> None:
        game = episode("go to kitchen 1", settings=Settings(Limits(steps=1), show_admissible=True))
        steps = list(game.play())
        assert game.transcript is not None

        assert game.transcript.messages[1].text.endswith("\nadmissible actions: go to kitchen 1")
        assert game.transcript.messages[3].text == (
            "You are in the kitchen 1. You see a mug 1.\nadmissible actions: go to hall 1, take mug 1"
        )
        assert "admissible" not in steps[1].observation


class TestDecoding:
    @pytest.mark.parametrize(
        ("decode", "first"),
        [
            (Decode.GRAMMAR, ("go to ", OneOf(("kitchen 1", "hall 1")))),
            (Decode.ADMISSIBLE, (OneOf(("go to kitchen 1",)),)),
        ],
    )
    def test_each_step_has_its_constraint(self, decode: Decode, first: tuple[str | OneOf, ...]) -> None:
        game = episode("look", settings=Settings(decode=decode))
        list(game.play())
        assert isinstance(game.model, Replies)
        (constraint,) = game.model.constraints
        assert isinstance(constraint, Constraint)

        assert constraint.patterns[0] == first

    def test_names_join_the_grammar_once_they_are_seen(self) -> None:
        game = episode("go to kitchen 1", "look", settings=Settings(decode=Decode.GRAMMAR))
        list(game.play())
        assert isinstance(game.model, Replies)
        take = ("take ", OneOf(("mug 1",)))

        assert [take in constraint.patterns for constraint in game.model.constraints if constraint] == [False, True]

    def test_free_decoding_has_none(self) -> None:
        game = episode("look", settings=Settings(decode=Decode.FREE))
        list(game.play())
        assert isinstance(game.model, Replies)

        assert game.model.constraints == [None]

    def test_each_step_has_a_seed_that_follows_from_the_episodes(self) -> None:
        seeds = []
        for seed in (0, 0, 1):
            game = episode("look", "look", settings=Settings(seed=seed))
            list(game.play())
            assert isinstance(game.model, Replies)
            seeds.append(tuple(game.model.seeds))

        assert seeds[0] == seeds[1]
        assert len({*seeds[0], *seeds[2]}) == 4

    def test_a_reply_may_be_as_long_as_the_limit(self) -> None:
        game = episode("look", settings=Settings(limits=Limits(reply_tokens=33)))
        list(game.play())
        assert isinstance(game.model, Replies)

        assert game.model.lengths == [33]


class TestLimits:
    def test_steps(self) -> None:
        game = played(*LOOKS, limits=Limits(steps=3))

        assert (game.outcome, len(game.steps)) == (Outcome.STEPS, 4)

    def test_a_task_won_with_the_last_step_is_won(self) -> None:
        assert played(*WINNING, limits=Limits(steps=4)).outcome is Outcome.WON

    def test_meta_actions_cost_a_step(self) -> None:
        game = played("track []", "track []", *LOOKS, limits=Limits(steps=3))

        assert [step.kind for step in game.steps[1:]] == ["track", "track", "environment"]
        assert all(step.charged for step in game.steps[1:])

    def test_the_first_meta_actions_may_be_free(self) -> None:
        game = played("track []", "look", "commit [a]", "recall []", *LOOKS, limits=Limits(steps=3, free_meta=2))

        assert [(step.kind, step.charged) for step in game.steps[1:]] == [
            ("track", False),
            ("environment", True),
            ("commit", False),
            ("recall", True),
            ("environment", True),
        ]

    def test_completion_tokens(self) -> None:
        game = played(*LOOKS, limits=Limits(completion_tokens=12))

        assert (game.outcome, len(game.steps)) == (Outcome.TOKENS, 4)

    def test_seconds(self) -> None:
        game = played(*LOOKS, limits=Limits(seconds=0.0))

        assert (game.outcome, len(game.steps)) == (Outcome.SECONDS, 1)

    def test_format_errors_in_a_row(self) -> None:
        game = played("", "", "look", *[""] * 9, limits=Limits(format_errors=3))

        assert (game.outcome, len(game.steps)) == (Outcome.FORMAT, 7)

    def test_a_full_context(self) -> None:
        game = played("look")

        assert (game.outcome, len(game.steps)) == (Outcome.CONTEXT, 2)


class TestFullContext:
    REPLIES = (
        "commit [take mug | bring mug]",
        "go to kitchen 1",
        "take mug 1",
        "commit [done]",
        "go to hall 1",
        "drop mug 1",
    )

    def game(self, room: int = 3) -> Episode:
        environment = TwoRooms()
        workspace = Workspace(environment.brief.goal, environment.evidence, Memory())
        return Episode(environment, Replies(self.REPLIES, room=room), workspace)

    def test_the_oldest_exchanges_are_replaced_once_by_belief_and_progress(self) -> None:
        game = self.game()
        steps = list(game.play())
        assert game.transcript is not None

        assert game.outcome is Outcome.WON
        assert [step.compacted for step in steps] == [0, 0, 0, 0, 0, 2, 0]
        assert [message.text for message in game.transcript.messages[1:3]] == [
            "There is a kitchen 1 and a hall 1.\n\nYour task is to: bring the mug to the hall\n\n"
            "(The oldest steps are left out here.)\n"
            "Belief: you are at kitchen 1, holding mug 1. searched 1 of 2. not searched: hall 1.\n"
            "Known: mug 1 in hand.\n"
            "Plan: take mug (done) | bring mug. open subgoal: bring mug.",
            "take mug 1",
        ]
        assert game.transcript.replies == 6

    @pytest.mark.parametrize("count", range(1, 7))
    def test_a_resumed_episode_shows_the_same(self, count: int) -> None:
        whole, resumed = self.game(), self.game()
        steps = list(whole.play())
        list(resumed.play(steps[:count]))
        assert whole.transcript and resumed.transcript

        assert resumed.transcript.messages == whole.transcript.messages

    def test_what_does_not_fit_at_all_ends_the_episode(self) -> None:
        game = self.game(room=-1)

        assert [step.number for step in game.play()] == [0]
        assert game.outcome is Outcome.CONTEXT


class TestFurtherGoals:
    REPLIES = (*WINNING, "commit [done]", "take mug 1", "go to kitchen 1", "drop mug 1")

    def game(self, room: int = 99) -> Episode:
        environment = TwoGoals()
        workspace = Workspace(environment.brief.goal, environment.evidence, Memory())
        return Episode(environment, Replies(self.REPLIES, room=room), workspace)

    def test_the_workspace_aims_at_what_is_to_be_done_now(self) -> None:
        game = self.game()
        steps = list(game.play())

        assert game.outcome is Outcome.WON
        assert steps[5].observation == f"no subgoal is open; the task is: {TwoGoals.THEN}"
        assert game.workspace.progress.goal == TwoGoals.THEN

    def test_a_summary_says_what_is_to_be_done_now(self) -> None:
        game = self.game(room=4)
        list(game.play())
        assert game.transcript

        assert "Your task is to: bring the mug to the hall" in game.transcript.messages[1].text
        assert f"\nYour task is now to: {TwoGoals.THEN}\n" in game.transcript.messages[1].text

    @pytest.mark.parametrize("count", range(1, 9))
    def test_a_resumed_episode_goes_on_with_the_goal_that_it_had(self, count: int) -> None:
        whole, resumed = self.game(room=4), self.game(room=4)
        steps = list(whole.play())
        list(resumed.play(steps[:count]))
        assert whole.transcript and resumed.transcript

        assert resumed.outcome is Outcome.WON
        assert resumed.transcript.messages == whole.transcript.messages


class TestReplay:
    REPLIES = (
        "commit [find mug | take mug | bring mug needs take mug]",
        "go to kitchen 1",
        "commit [done]",
        "note [fact: hall 1 | is | cold]",
        "note [mugs are in kitchens]",
        "recall [mugs]",
        "",
        "eat mug 1",
        "take mug 1",
        "commit [done]",
        "go to hall 1",
        "drop mug 1",
    )

    def recorded(self, count: int) -> list[Step]:
        game = episode(*self.REPLIES)
        steps = list(game.play())
        assert game.outcome is Outcome.WON
        return steps[:count]

    @pytest.mark.parametrize("count", range(1, 14))
    def test_it_is_played_on_as_if_it_had_never_stopped(self, count: int) -> None:
        whole, resumed = episode(*self.REPLIES), episode(*self.REPLIES)
        list(whole.play())
        rest = list(resumed.play(self.recorded(count)))
        assert whole.transcript and resumed.transcript

        assert [step.number for step in rest] == list(range(count, 13))
        assert resumed.outcome is Outcome.WON
        assert resumed.transcript.messages == whole.transcript.messages
        assert resumed.workspace.belief.all() == whole.workspace.belief.all()
        assert resumed.workspace.belief.history == whole.workspace.belief.history
        assert resumed.workspace.progress.plan == whole.workspace.progress.plan

    def test_the_model_and_experience_are_not_asked_again(self) -> None:
        environment, memory = TwoRooms(), Memory()
        model = Replies(self.REPLIES)
        game = Episode(environment, model, Workspace(environment.brief.goal, environment.evidence, memory))
        list(game.play(self.recorded(11)))

        assert len(model.seeds) == 2
        assert (memory.asked, memory.kept, environment.resets) == ([], [], 1)

    def test_a_note_after_it_has_the_latest_observation_behind_it(self) -> None:
        environment, memory = TwoRooms(), Memory()
        workspace = Workspace(environment.brief.goal, environment.evidence, memory)
        list(Episode(environment, Replies(self.REPLIES), workspace).play(self.recorded(4)))

        assert memory.kept == [("mugs are in kitchens", 5, "You are in the kitchen 1. You see a mug 1.")]

    @pytest.mark.parametrize(
        ("limits", "outcome"),
        [
            (Limits(steps=6), Outcome.STEPS),
            (Limits(steps=5, free_meta=1), Outcome.STEPS),
            (Limits(completion_tokens=30), Outcome.TOKENS),
            (Limits(seconds=100), Outcome.SECONDS),
            (Limits(format_errors=2), Outcome.FORMAT),
        ],
    )
    def test_limits_count_what_was_recorded(self, limits: Limits, outcome: Outcome) -> None:
        steps = self.recorded(7)
        if limits.format_errors == 2:
            steps = self.recorded(9)
        if limits.seconds:
            steps[3] = replace(steps[3], model_seconds=101.0)
        if limits.free_meta:
            steps[1] = replace(steps[1], charged=False)
        game = episode(*self.REPLIES, settings=Settings(limits=limits))

        assert list(game.play(steps)) == []
        assert game.outcome is outcome

    def test_free_meta_actions_are_not_free_twice(self) -> None:
        settings = Settings(limits=Limits(free_meta=1))
        recorded = list(episode("track []", settings=settings).play())
        rest = list(episode("track []", "track []", settings=settings).play(recorded))

        assert [step.charged for step in recorded + rest] == [False, False, True]

    def test_another_first_observation_diverges(self) -> None:
        steps = self.recorded(1)
        with pytest.raises(Diverged, match=r"it begins with 'There is a kitchen 1.*, where 'There is a garden 1.' was"):
            list(episode().play([replace(steps[0], observation="There is a garden 1.")]))

    def test_another_answer_diverges(self) -> None:
        environment = TwoRooms(mug_in="hall 1")
        game = Episode(environment, Replies(()), Workspace(environment.brief.goal, environment.evidence))

        with pytest.raises(Diverged, match=r"step 2, 'go to kitchen 1', was .* nothing.', where 'You .* mug 1.' was"):
            list(game.play(self.recorded(5)))

    def test_an_action_that_can_no_longer_be_read_diverges(self) -> None:
        environment = TwoRooms()
        environment.forms = ("look",)
        game = Episode(environment, Replies(()), Workspace(environment.brief.goal, environment.evidence))

        with pytest.raises(Diverged, match="step 2, 'go to kitchen 1', can't be read any more, where"):
            list(game.play(self.recorded(5)))


class TestMethods:
    def test_panels_show_the_state_each_turn_and_only_the_latest(self) -> None:
        environment, memory = TwoRooms(), Memory()
        model = Watched(("commit [take mug | bring mug]", "go to kitchen 1", "take mug 1"))
        workspace = Workspace(environment.brief.goal, environment.evidence, memory)
        game = Episode(environment, model, workspace, Settings(Limits(steps=3), panels=True))
        list(game.play())

        assert game.transcript is not None
        assert model.shown[2][-1].endswith(
            "You are in the kitchen 1. You see a mug 1.\n\n"
            "Belief: you are at kitchen 1, holding nothing. searched 1 of 2. not searched: hall 1.\n"
            "Known: mug 1 at kitchen 1.\n"
            "Plan: take mug | bring mug. open subgoal: take mug.\n"
            "Experience: mugs are in kitchens"
        )
        assert "Belief:" not in "".join(model.shown[2][:-1])
        assert "Belief:" not in "".join(message.text for message in game.transcript.messages)
        assert memory.asked == [("bring the mug to the hall", 0)]

    def test_a_step_tells_whether_it_was_invalid(self) -> None:
        game = episode("take mug 1", "go to kitchen 1", "fly", "track []", settings=Settings(Limits(steps=4)))

        assert [step.invalid for step in game.play()] == [False, True, False, True, False]


class Watched(Replies):
    """Keeps what it was shown."""

    def __init__(self, replies: tuple[str, ...]) -> None:
        super().__init__(replies)
        self.shown: list[list[str]] = []

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        self.shown.append([message.text for message in transcript.messages])
        return super().reply(transcript, constraint, max_tokens, seed)
