from __future__ import annotations

import numpy as np
import pytest

from evoharness_cli.harness.actions import FormatError, parse_reply
from evoharness_cli.harness.constraint import Constraint, Decode, FreeText, OneOf, constrain
from evoharness_cli.models import LlamaModel
from evoharness_cli.models.chat import Piece
from evoharness_cli.models.grammar import EmptyConstraint, to_gbnf
from evoharness_cli.models.sampling import Grammar, GrammarFault, Sampling
from evoharness_cli.models.vocabulary import Vocabulary


@pytest.fixture
def vocabulary(model: LlamaModel) -> Vocabulary:
    return model._vocabulary


def derives(vocabulary: Vocabulary, constraint: Constraint, text: str) -> bool:
    """Tell whether llama.cpp lets a model that wants to say exactly this text say it and end there."""
    grammar = Grammar(to_gbnf(constraint), vocabulary, Sampling())
    random = np.random.default_rng(0)
    try:
        for token in (*vocabulary.encode([Piece(text, "assistant")]), 2):
            wish = np.zeros(vocabulary.size, np.float32)
            wish[token] = 1
            if grammar.choose(wish, random) != token:
                return False
            if token != 2:
                grammar.accept(token)
        return True
    finally:
        grammar.close()


def test_a_pattern_is_its_parts_in_order(vocabulary: Vocabulary) -> None:
    constraint = Constraint((("take ", OneOf(("mug 1", "mug 10")), " from ", OneOf(("desk 1",))), ("look",)))
    for good in ("take mug 1 from desk 1", "take mug 10 from desk 1", "look"):
        assert derives(vocabulary, constraint, good)
    for bad in ("take mug 2 from desk 1", "take mug 1", "take mug 1 from desk 10", "looks", "", "look look"):
        assert not derives(vocabulary, constraint, bad)


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
        "\x7f",
    ],
)
def test_every_character_of_a_name_stands_for_itself(vocabulary: Vocabulary, name: str) -> None:
    constraint = Constraint((("go to ", OneOf((name,))), (name,)))
    assert derives(vocabulary, constraint, f"go to {name}")
    assert derives(vocabulary, constraint, name)
    assert not derives(vocabulary, constraint, f"go to {name[:-1]}")


def test_free_text_is_one_line_without_brackets_of_a_length(vocabulary: Vocabulary) -> None:
    constraint = Constraint((("note [", FreeText(1, 5), "]"),))
    for good in ("a", "a b", "é日本", "12345", 'a"\\"'):
        assert derives(vocabulary, constraint, f"note [{good}]")
    for bad in ("", "123456", " a", ":a", "a\nb", "a\rb", "a\u2028b", "a\x85b", "[", "a]b"):
        assert not derives(vocabulary, constraint, f"note [{bad}]")


def test_free_text_may_be_empty_where_it_may(vocabulary: Vocabulary) -> None:
    constraint = Constraint((("track [", FreeText(0, 5), "]"),))
    assert derives(vocabulary, constraint, "track []")
    assert derives(vocabulary, constraint, "track [ mug]")
    assert not derives(vocabulary, constraint, "track [ a mug]")


def test_a_constraint_that_nothing_meets_is_a_sentence() -> None:
    with pytest.raises(EmptyConstraint, match="some reply can meet, found one without patterns"):
        to_gbnf(Constraint(()))
    empty = constrain(Decode.GRAMMAR, ["go to {r}"], {"r": []}, [], [])
    assert empty is not None
    with pytest.raises(EmptyConstraint):
        to_gbnf(empty)


def test_a_grammar_that_cant_be_read_is_a_sentence(vocabulary: Vocabulary) -> None:
    with pytest.raises(GrammarFault, match=r"can't read the grammar"):
        Grammar('root ::= "unclosed', vocabulary, Sampling())


@pytest.mark.parametrize("seed", range(5))
def test_what_a_grammar_allows_the_harness_can_read(vocabulary: Vocabulary, seed: int) -> None:
    """Random walks through the grammar of a step, weighted to nothing but chance."""
    names = {"o": ["mug 1", "mug 2"], "r": ["desk 1", "drawer 10"]}
    constraint = constrain(Decode.GRAMMAR, ["take {o} from {r}", "look"], names, [], ["track", "commit", "note"])
    assert constraint is not None
    random = np.random.default_rng(seed)
    grammar = Grammar(to_gbnf(constraint), vocabulary, Sampling(1.0))
    written = b""
    while not vocabulary.ends(token := grammar.choose(np.zeros(vocabulary.size, np.float32), random)):
        grammar.accept(token)
        written += vocabulary.bytes_of(token)
    grammar.close()
    reply = written.decode()
    assert reply
    assert len(reply.splitlines()) == 1
    assert not isinstance(parse_reply(reply).action, FormatError)
