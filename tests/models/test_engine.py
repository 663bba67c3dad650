from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conversations import OBSERVATIONS, SYSTEM, at_once, opening, play, step

from evoharness_cli.harness.constraint import Constraint, FreeText
from evoharness_cli.harness.protocols import ContextFull
from evoharness_cli.harness.transcript import Transcript
from evoharness_cli.models import LlamaModel
from evoharness_cli.models.lanes import Shape
from evoharness_cli.models.llama import Sampled, Session
from evoharness_cli.models.sampling import Sampling, log_probability
from evoharness_cli.models.scheduler import ModelClosed
from evoharness_cli.models.segments import EmptyConstraint
from evoharness_cli.models.slots import CHUNK, Slots
from evoharness_cli.models.writing import Writer

TURNS = 2


@pytest.fixture(scope="module")
def sampling(model_file: Path) -> Iterator[LlamaModel]:
    """A model that samples, with three slots."""
    with LlamaModel(model_file, context=1024, slots=3, shape=Shape(1, 1), temperature=1.0, top_p=0.95) as model:
        yield model


def game(model: LlamaModel, number: int) -> list[str]:
    """Play a game of some turns; every third is played without a constraint.

    With as many tokens before it, a token that llama.cpp computes by itself has other logits than one beside others.
    """
    rules = "Look before you take, and take one thing at a time. " * 16
    transcript = Transcript(f"{SYSTEM}\n{rules}", f"You are in the room {number}, with a desk 1 and a drawer 2.")
    return play(model.session(f"{number}"), transcript, None if number % 3 == 2 else step(), TURNS, 100 * number)


@pytest.fixture(scope="module")
def alone(model_file: Path) -> list[list[str]]:
    """The replies of eight games, each played by itself."""
    with LlamaModel(model_file, context=1024, temperature=1.0, top_p=0.95) as model:
        return [game(model, number) for number in range(8)]


@pytest.mark.parametrize(
    ("games", "slots", "shape"),
    [(4, 4, Shape(1, 1)), (8, 8, Shape(2, 1)), (8, 3, Shape(1, 2)), (8, 2, Shape(2, 1))],
    ids=str,
)
def test_replies_dont_depend_on_what_else_is_played(
    model_file: Path, alone: list[list[str]], games: int, slots: int, shape: Shape
) -> None:
    with LlamaModel(model_file, context=1024, slots=slots, shape=shape, temperature=1.0, top_p=0.95) as model:
        assert at_once([partial(game, model, number) for number in range(games)]) == alone[:games]
    assert len({reply for replies in alone for reply in replies}) > 5


def test_a_sequence_that_gave_up_its_slot_is_not_evaluated_again(model: LlamaModel) -> None:
    sessions = [model.session(f"{number}") for number in range(3)]
    transcripts = [opening(number) for number in range(3)]
    for session, transcript in zip(sessions, transcripts, strict=True):
        transcript.add(session.reply(transcript, step(), 16, 0).text, OBSERVATIONS[0])
    for session, transcript in zip(sessions, transcripts, strict=True):
        before = len(session.sequence.ids)
        assert session.sequence.slot is None or session is sessions[-1]
        reply = session.reply(transcript, step(), 16, 0)
        assert reply.evaluated_tokens == reply.prompt_tokens - before
        assert reply.evaluated_tokens < 60


def test_logits_are_the_same_bit_for_bit_after_a_slot_was_given_up(model_file: Path) -> None:
    texts = ["one two three four " * 30, "A B C D " * 30]
    with LlamaModel(model_file, context=512, slots=2, shape=Shape(1, 1)) as model:
        slots = model._engine._lanes._lanes[0].slots
        ids = [model.prompt_ids(Transcript("Be brief.", text))[:100] for text in texts]
        slots.evaluate({0: ids[0][:CHUNK]}, set())
        slots.evaluate({0: ids[0][CHUNK:99]}, set())
        state = slots.save(0)
        slots.evaluate({0: ids[0][99:]}, {0})
        expected = slots.logits(0).copy()
        slots.evaluate({0: ids[1][:20], 1: ids[1][:20]}, set())
        slots.restore(1, state, 99)
        slots.evaluate({1: ids[0][99:], 0: ids[1][20:21]}, {0, 1})
        assert np.array_equal(slots.logits(1), expected)
        assert not np.array_equal(slots.logits(0), expected)


@pytest.mark.parametrize("together", [[0, 1], [0, 2, 3], [0, 4], [1, 5], [0, 1, 2, 3, 4, 5]])
def test_a_token_has_the_same_logits_whatever_slots_are_evaluated_with_it(slots: Slots, together: list[int]) -> None:
    """Behind 300 tokens, where llama.cpp's kernel for a single token rounds otherwise than the one for several."""
    alone = {}
    for slot in together:
        slots.evaluate({slot: [500 + slot]}, {slot})
        alone[slot] = slots.logits(slot).copy()
        slots.cut(slot, 300)
    slots.evaluate({slot: [500 + slot] for slot in together}, set(together))
    for slot in together:
        assert np.array_equal(slots.logits(slot), alone[slot]), slot
        slots.cut(slot, 300)
    # However many tokens they come with, and what filled them up is forgotten.
    slots.evaluate({slot: [500 + slot, *range(slot)] for slot in together}, set())
    for slot in together:
        slots.cut(slot, 300)
        slots.evaluate({slot: [500 + slot, 7]}, set())
        slots.cut(slot, 300)
        slots.evaluate({slot: [500 + slot]}, {slot})
        assert np.array_equal(slots.logits(slot), alone[slot]), slot
        slots.cut(slot, 300)


@pytest.fixture(scope="module")
def slots(model_file: Path) -> Iterator[Slots]:
    """Six slots of 300 tokens, of which the last differ."""
    with LlamaModel(model_file, context=512, slots=6, shape=Shape(1, 1)) as model:
        found = model._engine._lanes._lanes[0].slots
        for start in range(0, 299, 46):
            found.evaluate({0: range(2000 + start, 2000 + min(start + 46, 299))}, set())
        state = found.save(0)
        for slot in range(1, 6):
            found.restore(slot, state, 299)
        found.evaluate({slot: [1000 + slot] for slot in range(6)}, set())
        yield found


def test_what_sessions_share_is_evaluated_once(sampling: LlamaModel) -> None:
    transcript = opening(50)
    length = len(sampling.prompt_ids(transcript))
    replies = at_once([partial(sampling.session("").reply, transcript, step(), 16, number) for number in range(3)])
    assert sorted(reply.evaluated_tokens for reply in replies)[:2] == [1, 1]
    assert sum(reply.evaluated_tokens for reply in replies) <= length + 2
    # The next game shares the system message with the ones that nobody goes on with.
    other = sampling.session("").reply(opening(51), step(), 16, 0)
    assert other.evaluated_tokens < length - len(sampling._engine.vocabulary.encode([])) - 30


def test_the_opening_of_a_conversation_that_ended_is_not_evaluated_again(model_file: Path) -> None:
    rules = "Look before you take, and take one thing at a time. " * 8
    first, other = Transcript(f"{SYSTEM}\n{rules}", "Room 1."), Transcript("Be brief.", "How are you?")
    with LlamaModel(model_file, context=512, slots=1, shape=Shape(1, 1)) as model:
        for transcript in (first, other):
            session = model.session("")
            session.reply(transcript, step(), 16, 0)
            session.close()
        length = len(model.prompt_ids(first))
        again = Transcript(f"{SYSTEM}\n{rules}", "Room 2.")
        assert length > 100
        assert model.session("").reply(again, step(), 16, 0).evaluated_tokens < 16


def test_what_sessions_share_is_evaluated_once_by_all_contexts_together(model_file: Path) -> None:
    rules = "Look before you take, and take one thing at a time. " * 16
    transcript = Transcript(f"{SYSTEM}\n{rules}", "Room 1.")
    with LlamaModel(model_file, context=512, slots=8, shape=Shape(2, 1)) as model:
        replies = at_once([partial(model.session("").reply, transcript, step(), 16, number) for number in range(8)])
        assert sorted(reply.evaluated_tokens for reply in replies)[:7] == [1] * 7
        assert all(lane.placing.known(model.prompt_ids(transcript)) > 200 for lane in model._engine._lanes._lanes)


def test_a_conversation_that_began_anew_copies_what_another_has_of_it(sampling: LlamaModel) -> None:
    first, second = sampling.session("a"), sampling.session("b")
    long, short = opening(60), Transcript("Be brief.", "You see a mug.")
    first.reply(long, step(), 16, 0)
    second.reply(short, step(), 16, 0)
    assert second.reply(long, step(), 16, 0).evaluated_tokens == 1
    assert first.reply(short, step(), 16, 0).text == second.reply(short, step(), 16, 0).text


def test_forced_tokens_are_neither_sampled_nor_evaluated_one_by_one(
    sampling: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sampling.session("")
    only = Constraint((("go to desk 1",),))
    sampled = session.sample(opening(), only, 16, 0)
    assert sampled.text == "go to desk 1"
    assert sampled.evaluated_tokens == 0
    assert [written.forced for written in sampled.tokens] == [True] * 5
    calls = []
    slots = sampling._engine._lanes._lanes[0].slots
    evaluate = slots.evaluate
    monkeypatch.setattr(
        slots, "evaluate", lambda work, wanted: (calls.append(len(*work.values())), evaluate(work, wanted))
    )
    tagged = Constraint((("go to desk 1 and ", FreeText(1, 3)),))
    sampled = session.sample(opening(), tagged, 16, 0)
    assert [written.forced for written in sampled.tokens[:7]] == [*[True] * 6, False]
    assert sum(calls) == sampled.evaluated_tokens + len(sampled.tokens) - (
        sampled.end is not None and sampled.end.forced
    )
    assert len(calls) == -(-(sampled.evaluated_tokens + 6) // CHUNK) + len(sampled.tokens) - 7


def scores_from_scratch(model: LlamaModel, sampled: Sampled, constraint: Constraint | None) -> list[float]:
    """Return the log-probability of each token and of the end, where each is evaluated with all before it anew."""
    slots = model._engine._lanes._lanes[0].slots
    automaton = model._engine.grammar.automaton(constraint) if constraint else None
    state = automaton.start if automaton else None
    tokens = [written.token for written in sampled.tokens]
    scores = []
    for index, token in enumerate([*tokens, *([sampled.end.token] if sampled.end else [])]):
        slots.cut(0, 0)
        before = [*sampled.prompt, *tokens[:index]]
        for start in range(0, len(before), 50):
            slots.evaluate({0: before[start : start + 50]}, {0})
        logits = slots.logits(0)
        if automaton and state:
            options = automaton.options(state)
            allowed = [*options.tokens, *([model._engine.vocabulary.end] if options.complete else [])]
            scores.append(log_probability(logits[allowed], allowed.index(token)))
            state = automaton.advance(state, token)
        else:
            scores.append(log_probability(logits, token))
    return scores


def test_log_probabilities_are_those_of_an_evaluation_from_scratch(sampling: LlamaModel, model_file: Path) -> None:
    transcript = Transcript("Be brief.", "You see a mug 1, a desk 1, and a drawer 2.")
    with LlamaModel(model_file, context=1024) as judge:
        for constraint in (step(), Constraint((("note [", FreeText(1, 9), "]"),)), None):
            sampled = sampling.session("").sample(transcript, constraint, 8, 3)
            found = [written.log_probability for written in (*sampled.tokens, *([sampled.end] if sampled.end else []))]
            assert found == pytest.approx(scores_from_scratch(judge, sampled, constraint), abs=1e-3)
            assert min(found) < -0.01


def test_sampled_replies_meet_their_constraint(model_file: Path, meets: Callable[[Constraint, str], bool]) -> None:
    with LlamaModel(model_file, context=1024, slots=4, temperature=1.5) as model:

        def one(seed: int) -> str:
            return model.session("").reply(opening(), step(), 400, seed).text

        replies = at_once([partial(one, seed) for seed in range(6)])
        assert all(meets(step(), reply) for reply in replies), replies
        assert len(set(replies)) > 2
        assert one(3) == replies[3]


def test_a_fork_goes_on_separately_from_what_was_evaluated(sampling: LlamaModel) -> None:
    session = sampling.session("")
    transcript = opening(70)
    transcript.add(session.reply(transcript, step(), 16, 0).text, OBSERVATIONS[0])
    fork = session.fork()
    known = list(session.sequence.ids)
    session.close()
    assert fork.sequence.ids == known
    one, other = opening(70), opening(70)
    for branch in (one, other):
        branch.add(transcript.messages[2].text, OBSERVATIONS[0])
    one.add("look", OBSERVATIONS[1])
    other.add("go to desk 10", OBSERVATIONS[2])
    expected = [sampling.reply(branch, step(), 16, 5).text for branch in (one, other)]
    second = fork.fork()
    replies = at_once([partial(fork.reply, one, step(), 16, 5), partial(second.reply, other, step(), 16, 5)])
    assert [reply.text for reply in replies] == expected
    assert all(reply.prompt_tokens - reply.evaluated_tokens >= len(known) for reply in replies)


def test_saved_sequences_that_outgrow_their_room_are_evaluated_again(model_file: Path) -> None:
    with LlamaModel(model_file, context=512) as model:
        model._engine._lanes._lanes[0].placing._room = 0
        sessions: list[Session] = [model.session("") for _ in range(3)]
        first = [session.reply(opening(number), step(), 16, 0) for number, session in enumerate(sessions)]
        again = [session.reply(opening(number), step(), 16, 0) for number, session in enumerate(sessions)]
        assert [reply.text for reply in again] == [reply.text for reply in first]
        assert again[0].evaluated_tokens > 1


def test_what_fails_in_one_session_leaves_the_others_alone(sampling: LlamaModel, alone: list[list[str]]) -> None:
    def refused() -> str:
        with pytest.raises(EmptyConstraint):
            sampling.session("").reply(opening(), Constraint(()), 16, 0)
        with pytest.raises(ContextFull):
            sampling.session("").reply(Transcript("Be brief.", "a mug " * 900), None, 16, 0)
        return "refused"

    def broken() -> str:
        class Broken(Writer):
            def choose(self, logits: object) -> list[int]:
                raise ZeroDivisionError(str(type(logits)))

        session = sampling.session("")
        writer = Broken(sampling._engine.vocabulary, None, Sampling(), 5, 0)
        with pytest.raises(ZeroDivisionError):
            sampling._engine.write(session.sequence, sampling.prompt_ids(opening()), writer)
        return session.reply(opening(), step(), 16, 0).text

    def games(numbers: range) -> str:
        assert [game(sampling, number) for number in numbers] == [alone[number] for number in numbers]
        return "played"

    calls = [partial(games, range(3)), refused, broken, partial(games, range(3, 6))]
    first, second, third, fourth = at_once(calls)
    assert (first, second, fourth) == ("played", "refused", "played")
    assert third == sampling.reply(opening(), step(), 16, 0).text


def test_closing_ends_what_is_waited_for(model_file: Path) -> None:
    model = LlamaModel(model_file, context=4096)
    started = threading.Barrier(4)

    def wait() -> str:
        session = model.session("")
        started.wait()
        with pytest.raises(ModelClosed):
            session.reply(opening(), Constraint((("note [", FreeText(3000, 4000), "]"),)), 3000, 0)
        return "ended"

    def close() -> str:
        started.wait()
        model.close()
        return "closed"

    assert at_once([wait, wait, wait, close]) == ["ended"] * 3 + ["closed"]
    with pytest.raises(ModelClosed):
        model.session("").reply(opening(), None, 4, 0)
