"""A reply ends with the token that the model has learnt to end with, also where a constraint lets it go on."""

from __future__ import annotations

from evoharness_cli.models import LlamaModel
from evoharness_cli.models.chat import CHATML, ChatTemplate


def test_what_follows_a_reply_is_told_by_the_template() -> None:
    assert ChatTemplate(CHATML).after_reply == "<|im_end|>\n<|im_start|>user\n"


def test_replies_end_with_the_token_of_the_template(model: LlamaModel) -> None:
    """The file also has <|endoftext|>, which its tokeniser calls the end of a turn and no reply ended with."""
    vocabulary = model._engine.vocabulary
    assert vocabulary.bytes_of(vocabulary.end) == b"<|im_end|>"
    assert vocabulary.ends(0)
    vocabulary.close_replies_with("\nuser:")
    assert vocabulary.bytes_of(vocabulary.end) == b"<|im_end|>"
