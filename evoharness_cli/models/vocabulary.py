"""A loaded model's vocabulary: text to token ids and back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from .chat import Piece
from .native import library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REMEMBERED = 4096


class Vocabulary:
    """Tokenises pieces of a prompt. The model it belongs to must outlive it."""

    def __init__(self, model: Any) -> None:
        self._llama = library()
        self.pointer = self._llama.llama_model_get_vocab(model)
        self.size: int = self._llama.llama_vocab_n_tokens(self.pointer)
        # A conversation is tokenised anew at each turn, and all but its last messages were seen before.
        self._remembered = lru_cache(_REMEMBERED)(self._tokenise)

    def encode(self, pieces: Iterable[Piece]) -> list[int]:
        """Return the ids of a prompt.

        Each piece is tokenised by itself, and only the template's own are read for special tokens: what an
        observation or a reply spells stays plain text. For contents that neither begin nor end with white
        space the ids are those of tokenising the whole text at once.
        """
        ids: list[int] = []
        for piece in pieces:
            ids += self._remembered(piece.text, not piece.role)
        first = self._llama.llama_vocab_bos(self.pointer)
        if self._llama.llama_vocab_get_add_bos(self.pointer) and ids[:1] != [first]:
            ids.insert(0, first)
        return ids

    def continuation(self, text: str, after: str) -> tuple[int, ...]:
        """Return the ids of a text within a piece of plain text, where it follows the character `after`, if any.

        Tokenisers that put a space before a text are asked for it after that character or a line's end instead.
        """
        raw = text.encode()
        ids = self._remembered(text, False)
        for before in (after or "\n", "\n"):
            if b"".join(map(self.bytes_of, ids)) == raw:
                break
            ids = self._remembered(before + text, False)[len(self._remembered(before, False)) :]
        return ids

    def bytes_of(self, token: int) -> bytes:
        """Return the bytes a token stands for, which may be a part of a character."""
        buffer = ctypes.create_string_buffer(64)
        length = self._llama.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True)
        if length < 0:
            buffer = ctypes.create_string_buffer(-length)
            length = self._llama.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True)
        return buffer.raw[:length]

    def ends(self, token: int) -> bool:
        """Tell whether a token ends the reply."""
        return bool(self._llama.llama_vocab_is_eog(self.pointer, token))

    def close_replies_with(self, text: str) -> None:
        """Have replies end with the token that a template's text after a reply holds, where one in it ends replies.

        Files name several such tokens, and which of them a model has learnt to say only its template tells.
        """
        self.end = next(filter(self.ends, self._remembered(text, True)), self.end)

    @cached_property
    def end(self) -> int:
        """The token with which a reply is to end; others may end one too."""
        turn: int = self._llama.llama_vocab_eot(self.pointer)
        return turn if turn >= 0 else int(self._llama.llama_vocab_eos(self.pointer))

    @cached_property
    def steering(self) -> NDArray[np.bool_]:
        """For each token, whether it steers the model without ending the reply, and so is no text."""
        import numpy as np

        is_control, is_end = self._llama.llama_vocab_is_control, self._llama.llama_vocab_is_eog
        marked = [is_control(self.pointer, token) and not is_end(self.pointer, token) for token in range(self.size)]
        return np.array(marked, np.bool_)

    def special_texts(self) -> dict[str, str]:
        """Return the texts of the tokens that chat templates name, by the names they have there."""
        tokens = {
            "bos_token": self._llama.llama_vocab_bos(self.pointer),
            "eos_token": self._llama.llama_vocab_eos(self.pointer),
        }
        return {name: self.bytes_of(token).decode() if token >= 0 else "" for name, token in tokens.items()}

    def _tokenise(self, text: str, special: bool) -> tuple[int, ...]:
        raw = text.encode()
        room = len(raw) + 2
        ids = (ctypes.c_int32 * room)()
        count = self._llama.llama_tokenize(self.pointer, raw, len(raw), ids, room, False, special)
        if count < 0:
            ids = (ctypes.c_int32 * -count)()
            count = self._llama.llama_tokenize(self.pointer, raw, len(raw), ids, len(ids), False, special)
        return tuple(ids[:count])
