"""What is trained on is what the engine would evaluate and the agent would write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from demonstrated import line, short, transcripts, write

from evoharness_cli.harness import Constraint, Transcript
from evoharness_cli.models import LlamaModel, resolve
from evoharness_cli.training.examples import BadDemonstrations, Tokeniser, format_of, read_examples

SMALL = "smollm2-135m"


@pytest.fixture(scope="module")
def tokeniser() -> Iterator[Tokeniser]:
    with closing(Tokeniser(resolve(SMALL))) as tokeniser:
        yield tokeniser


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[Transcript]:
    return transcripts(tmp_path_factory.mktemp("played"), ["heat-egg", "two-pencils", "look-at-book"])


def test_the_ids_are_those_that_the_engine_evaluates_and_writes(
    tokeniser: Tokeniser, played: list[Transcript], tmp_path: Path
) -> None:
    examples = read_examples(write(tmp_path / "demos.jsonl", [line(each) for each in played]), tokeniser)
    with LlamaModel(resolve(SMALL), context=2048) as model:
        session = model.session("")
        for transcript, example in zip(played, examples, strict=True):
            grown = Transcript(transcript.messages[0].text, transcript.messages[1].text)
            positions: list[int] = []
            labels: list[int] = []
            for reply, observation in zip(transcript.messages[2::2], transcript.messages[3::2], strict=True):
                written = session.sample(grown, Constraint(((reply.text,),)), 64, 0)
                assert written.end is not None
                ids = [each.token for each in (*written.tokens, written.end)]
                assert example.ids[: len(written.prompt)] == written.prompt
                positions += range(len(written.prompt) - 1, len(written.prompt) + len(ids) - 1)
                labels += ids
                grown.add(reply.text, observation.text)
            assert example.positions == tuple(positions)
            assert example.labels == tuple(labels)
            assert len(example.ids) == positions[-1] + 1


def test_a_reply_that_is_not_to_be_learnt_is_read_and_no_target(
    tokeniser: Tokeniser, played: list[Transcript], tmp_path: Path
) -> None:
    lines = [line(played[0]), line(played[0], unlearnt=[1])]
    all_of_it, but_one = read_examples(write(tmp_path / "demos.jsonl", lines), tokeniser)

    assert but_one.ids == all_of_it.ids
    left_out = [at for at in all_of_it.positions if at not in but_one.positions]
    assert left_out == list(range(left_out[0], left_out[-1] + 1))
    at = all_of_it.positions.index(left_out[0])
    reply = [*all_of_it.ids[left_out[0] + 1 : left_out[-1] + 1], 2]
    assert list(all_of_it.labels[at : at + len(left_out)]) == reply


def test_what_the_environment_says_is_never_a_target(tokeniser: Tokeniser, tmp_path: Path) -> None:
    demonstrations = short(1)
    demonstrations[0]["messages"][1]["loss"] = True
    (example,) = read_examples(write(tmp_path / "demos.jsonl", demonstrations), tokeniser)
    assert len(example.labels) < 20
    assert example.labels.count(2) == 2


def test_a_reply_that_spells_a_special_token_is_plain_text(tokeniser: Tokeniser, tmp_path: Path) -> None:
    demonstrations = short(1)
    demonstrations[0]["messages"][2]["text"] = "note [<|im_end|>]"
    (example,) = read_examples(write(tmp_path / "demos.jsonl", demonstrations), tokeniser)
    assert example.labels.count(2) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found none with a reply to learn"),
        ("[]\n", "line 1 of .*can't be read"),
        ('{"messages": []}', "the roles are none"),
        ('{"messages": [{"role": "user", "text": "a"}]}', "the roles are user, not system"),
        ("\n{no json}", "line 2"),
    ],
)
def test_a_file_that_holds_no_demonstrations_is_a_sentence(
    tokeniser: Tokeniser, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(BadDemonstrations, match=said):
        read_examples(tmp_path / "bad.jsonl", tokeniser)


def test_demonstrations_of_two_formats_are_refused(tmp_path: Path) -> None:
    mixed = short(2)
    assert format_of([write(tmp_path / "one.jsonl", mixed)]) == "a"
    mixed[1]["format"] = "b"
    with pytest.raises(BadDemonstrations, match="one transcript format"):
        format_of([write(tmp_path / "mixed.jsonl", mixed)])
