from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evoharness_cli.harness.actions import FormatError, parse_reply
from evoharness_cli.harness.constraint import Constraint, Decode, FreeText, OneOf, constrain
from evoharness_cli.models import LlamaModel
from evoharness_cli.models.automaton import Automaton, Grammar
from evoharness_cli.models.chat import Piece
from evoharness_cli.models.sampling import Sampling
from evoharness_cli.models.segments import EmptyConstraint
from evoharness_cli.models.vocabulary import Vocabulary
from evoharness_cli.models.writing import Writer


@pytest.fixture(scope="session")
def grammar(model: LlamaModel) -> Grammar:
    return model._engine.grammar


@pytest.fixture(scope="session")
def vocabulary(model: LlamaModel) -> Vocabulary:
    return model._engine.vocabulary


def derives(grammar: Grammar, vocabulary: Vocabulary, constraint: Constraint, text: str) -> bool:
    """Tell whether the tokens of a text, as a tokeniser gives them, are allowed one after the other, and its end."""
    automaton = grammar.automaton(constraint)
    state = automaton.start
    for token in vocabulary.encode([Piece(text, "assistant")]):
        if token not in automaton.options(state).tokens:
            return False
        state = automaton.advance(state, token)
    return state.complete


def wander(automaton: Automaton, vocabulary: Vocabulary, seed: int) -> list[int]:
    """Return a walk through an automaton, by chance."""
    writer = Writer(vocabulary, automaton, Sampling(1.0), 500, seed)
    writer.force()
    while not writer.over:
        writer.choose(np.zeros(vocabulary.size, np.float32))
    return [written.token for written in writer.written]


def test_a_pattern_is_its_parts_in_order(grammar: Grammar, vocabulary: Vocabulary) -> None:
    constraint = Constraint((("take ", OneOf(("mug 1", "mug 10")), " from ", OneOf(("desk 1",))), ("look",)))
    for good in ("take mug 1 from desk 1", "take mug 10 from desk 1", "look"):
        assert derives(grammar, vocabulary, constraint, good), good
    for bad in ("take mug 2 from desk 1", "take mug 1", "take mug 1 from desk 10", "looks", "", "look look"):
        assert not derives(grammar, vocabulary, constraint, bad), bad


@pytest.mark.parametrize(
    "name",
    [
        'a "quoted" name',
        "back\\slash \\n",
        "[brackets] {1,2} (x|y)* +?",
        "naïve café",
        "日本語",
        "emoji 😀",
        "tab\there",
        "two\nlines",
        "# no comment",
        "a-b_c.d::=e",
        "<|im_end|>",
        "\x7f",
    ],
)
def test_every_character_of_a_name_stands_for_itself(grammar: Grammar, vocabulary: Vocabulary, name: str) -> None:
    constraint = Constraint((("go to ", OneOf((name, "x")), "; then ", OneOf(("wait", "look"))), (name,)))
    assert derives(grammar, vocabulary, constraint, f"go to {name}; then look")
    assert derives(grammar, vocabulary, constraint, name)
    assert not derives(grammar, vocabulary, constraint, f"go to {name[:-1]}; then look")


def test_free_text_is_one_line_without_brackets_of_a_length(grammar: Grammar, vocabulary: Vocabulary) -> None:
    constraint = Constraint((("note [", FreeText(1, 5), "]"),))
    for good in ("a", "a b", "é日本", "12345", 'a"\\"', "a.", "so )"):
        assert derives(grammar, vocabulary, constraint, f"note [{good}]"), good
    for bad in ("", "123456", " a", ":a", "a\nb", "a\rb", "a\u2028b", "a\x85b", "[", "a]b", "12345."):
        assert not derives(grammar, vocabulary, constraint, f"note [{bad}]"), bad


def test_free_text_may_be_empty_where_it_may(grammar: Grammar, vocabulary: Vocabulary) -> None:
    constraint = Constraint((("track [", FreeText(0, 5), "]"),))
    for good in ("track []", "track [ mug]", "track [mug]"):
        assert derives(grammar, vocabulary, constraint, good), good
    assert not derives(grammar, vocabulary, constraint, "track [ a mug]")


def test_free_text_has_a_shortest_length(grammar: Grammar, vocabulary: Vocabulary) -> None:
    constraint = Constraint((("note [", FreeText(3, 5), "]"),))
    for good in ("abc", "ab.", "abcde"):
        assert derives(grammar, vocabulary, constraint, f"note [{good}]"), good
    for bad in ("ab", "a.", "abcdef"):
        assert not derives(grammar, vocabulary, constraint, f"note [{bad}]"), bad


def test_free_text_may_stand_as_a_word_between_words(grammar: Grammar, vocabulary: Vocabulary) -> None:
    constraint = Constraint((("say ", FreeText(1, 12), " to ", OneOf(("Ada", "Bob"))), ("run ", FreeText(1, 12))))
    for good in ("say good day to Ada", "say 12 to Bob", "say to to to Ada", "run make all", "run 7", "run é日本"):
        assert derives(grammar, vocabulary, constraint, good), good
    for bad in ("say to Ada", "say hello to Eve", "run", "run ", "run  x", "run 1234567890123"):
        assert not derives(grammar, vocabulary, constraint, bad), bad


def test_a_constraint_that_nothing_meets_is_a_sentence(grammar: Grammar) -> None:
    with pytest.raises(EmptyConstraint, match="some reply can meet, found none"):
        grammar.automaton(Constraint(()))
    empty = constrain(Decode.GRAMMAR, ["go to {r}"], {"r": []}, [], [])
    assert empty is not None
    with pytest.raises(EmptyConstraint):
        grammar.automaton(empty)


@pytest.mark.parametrize("seed", range(6))
def test_what_a_constraint_allows_the_harness_can_read(
    grammar: Grammar, vocabulary: Vocabulary, seed: int, meets: Callable[[Constraint, str], bool]
) -> None:
    """Random walks through the constraint of a step, weighted to nothing but chance."""
    names = {"o": ["mug 1", "mug 2"], "r": ["desk 1", "drawer 10"]}
    constraint = constrain(Decode.GRAMMAR, ["take {o} from {r}", "look"], names, [], ["track", "commit", "note"])
    assert constraint is not None
    reply = b"".join(map(vocabulary.bytes_of, wander(grammar.automaton(constraint), vocabulary, seed))).decode()
    assert meets(constraint, reply)
    assert len(reply.splitlines()) == 1
    assert not isinstance(parse_reply(reply).action, FormatError)


def test_literal_text_is_tokenised_as_its_text_is(grammar: Grammar, vocabulary: Vocabulary) -> None:
    """The next prompt tokenises the text of a reply anew, and is evaluated from where the ids differ."""
    objects, places = ("mug 1", "cd 12", "pepper shaker 3"), ("desk 1", "coffee machine 1", "arm chair 2")
    constraint = Constraint(
        (
            ("move ", OneOf(objects), " to ", OneOf(places)),
            ("clean ", OneOf(objects), " with ", OneOf(places), ", please"),
            (OneOf(tuple(f"open {place}" for place in places)),),
            ("track [", FreeText(0, 0), "]"),
        )
    )
    automaton = grammar.automaton(constraint)
    replies = set()
    for seed in range(30):
        tokens = wander(automaton, vocabulary, seed)
        text = b"".join(map(vocabulary.bytes_of, tokens)).decode()
        assert tokens == vocabulary.encode([Piece(text, "assistant")])
        replies.add(text)
    assert len(replies) > 10


def test_where_only_one_continuation_is_possible_it_is_forced(grammar: Grammar, vocabulary: Vocabulary) -> None:
    constraint = Constraint((("go to ", OneOf(("desk 1", "drawer 2"))),))
    writer = Writer(vocabulary, grammar.automaton(constraint), Sampling(), 50, 0)
    (drawer,) = vocabulary.encode([Piece(" drawer", "assistant")])
    assert b"".join(map(vocabulary.bytes_of, writer.force())) == b"go to"
    wish = np.zeros(vocabulary.size, np.float32)
    wish[drawer] = 1
    assert b"".join(map(vocabulary.bytes_of, writer.choose(wish))) == b" drawer 2"
    assert writer.over
    assert [written.forced for written in writer.written] == [True, True, False, True, True]
    assert writer.end is not None
    assert writer.end.forced
