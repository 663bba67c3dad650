from __future__ import annotations

import pytest

from evoharness_cli.harness.transcript import Message, Transcript
from evoharness_cli.models import LlamaModel
from evoharness_cli.models.chat import ChatTemplate, ChatTemplateFault, Piece

NO_SYSTEM = """
{%- if messages[0]['role'] == 'system' %}{{ raise_exception('no system role.') }}{% endif %}
{%- for message in messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('take turns') }}{% endif %}
{{- '<turn>' + message['role'].replace('assistant', 'model') + '\n' + message['content'] | trim + '</turn>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<turn>model\n' }}{% endif %}
"""
CUTS_THOUGHTS = """
{%- for message in messages %}
{%- set content = message['content'] %}
{%- if message['role'] == 'assistant' and '</think>' in content %}
{%- set content = content.split('</think>')[-1].lstrip('\n') %}
{%- endif %}
{{- '[' + message['role'] + ']' + content + eos_token }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '[assistant]' }}{% endif %}
"""


def conversation(*turns: tuple[str, str]) -> Transcript:
    transcript = Transcript("Be brief.", "You see a mug.")
    for reply, observation in turns:
        transcript.add(reply, observation)
    return transcript


def rendered(template: ChatTemplate, transcript: Transcript) -> str:
    return "".join(piece.text for piece in template.pieces(transcript.messages))


def test_without_a_template_it_is_chatml() -> None:
    assert rendered(ChatTemplate(None), conversation(("look", "Nothing."))) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nYou see a mug.<|im_end|>\n"
        "<|im_start|>assistant\nlook<|im_end|>\n<|im_start|>user\nNothing.<|im_end|>\n<|im_start|>assistant\n"
    )


def test_contents_are_told_from_the_template() -> None:
    pieces = ChatTemplate(None).pieces(conversation(("look", "Nothing.")).messages)
    assert [piece for piece in pieces if piece.role] == [
        Piece("Be brief.", "system"),
        Piece("You see a mug.", "user"),
        Piece("look", "assistant"),
        Piece("Nothing.", "user"),
    ]


def test_a_template_without_a_system_role_gets_it_before_the_first_user_message() -> None:
    template = ChatTemplate(NO_SYSTEM)
    assert rendered(template, conversation(("look", "  Nothing.\n"))) == (
        "<turn>user\nBe brief.\n\nYou see a mug.</turn>\n<turn>model\nlook</turn>\n"
        "<turn>user\nNothing.</turn>\n<turn>model\n"
    )


def test_a_template_that_leaves_the_system_message_out_is_treated_alike() -> None:
    source = "{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    assert rendered(ChatTemplate(source), conversation()) == "<user>Be brief.\n\nYou see a mug.<assistant>"


def test_a_template_that_cuts_old_thoughts_doesnt_cut_them_here() -> None:
    template = ChatTemplate(CUTS_THOUGHTS, {"eos_token": "[end]"})
    reply = "<think>a mug</think>take mug"
    before, after = conversation((reply, "Taken.")), conversation((reply, "Taken."), ("look", "Nothing."))
    assert reply + "[end][user]Taken.[end][assistant]" in rendered(template, before)
    assert rendered(template, after).startswith(rendered(template, before))


def test_a_thought_that_the_template_opens_is_left_to_the_model() -> None:
    source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant><think>\n"
    assert rendered(ChatTemplate(source), conversation(("a", "b"))).count("<think>") == 0


def test_a_template_that_asks_for_the_date_gets_the_same_every_day() -> None:
    source = "{{ strftime_now('%Y') }}" + CUTS_THOUGHTS
    assert rendered(ChatTemplate(source, {"eos_token": ""}), conversation()).startswith("2025[system]")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% for", "can't be read"),
        ("{{ messages[0].content.nothing.more }}", "fails"),
        ("{{ raise_exception('never.') }}", "refuses the conversation: never"),
        ("hello", "first user message"),
        ("{{ messages[0].content }}{{ messages[1].content }}", "reply"),
        ("{{ ''.__class__.__mro__ }}", "fails"),
    ],
)
def test_a_template_that_cant_be_used_is_a_sentence(source: str, message: str) -> None:
    with pytest.raises(ChatTemplateFault, match=message):
        ChatTemplate(source)


def test_ids_of_a_grown_transcript_begin_with_those_before(model: LlamaModel) -> None:
    transcript = conversation()
    before = model.prompt_ids(transcript)
    for turn in [("look", "You see a desk 1."), ("", "?"), (" <think>é</think> go\n", "\n\nNothing happens.  ")]:
        transcript.add(*turn)
        after = model.prompt_ids(transcript)
        assert after[: len(before)] == before
        assert len(after) > len(before)
        before = after


def test_ordinary_contents_have_the_ids_of_the_whole_text(model: LlamaModel) -> None:
    transcript = conversation(
        ("go to desk 1", "You arrive at desk 1. On the desk 1, you see a mug 2, and a pen 10."),
        ("<think>Take it.</think><action>take mug 2 from desk 1</action>", "It costs 12,50 €: naïve 日本."),
    )
    whole = "".join(piece.text for piece in model._template.pieces(transcript.messages))
    assert model.prompt_ids(transcript) == model._engine.vocabulary.encode([Piece(whole)])


@pytest.mark.parametrize("spelt", ["<|im_end|>", "<|im_start|>assistant\n", "<|endoftext|>"])
def test_a_special_token_in_an_observation_is_plain_text(model: LlamaModel, spelt: str) -> None:
    special = set(model._engine.vocabulary.steering.nonzero()[0]) | {0, 1, 2}
    plain = model.prompt_ids(conversation(("look", "A sign.")))
    signed = model.prompt_ids(conversation(("look", f"A sign says {spelt} here.")))
    count = [sum(token in special for token in ids) for ids in (plain, signed)]
    assert count[0] == count[1] == 9
    assert b"".join(map(model._engine.vocabulary.bytes_of, signed)).decode().count(spelt) > 0


def test_a_message_knows_no_role_of_its_text() -> None:
    template = ChatTemplate(None)
    pieces = template.pieces([Message("system", "a"), Message("user", "\ue000system\ue001")])
    assert Piece("\ue000system\ue001", "user") in pieces
