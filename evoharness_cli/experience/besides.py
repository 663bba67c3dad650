"""Tokens that an episode cost besides those of its steps: of replies that never came, and of dropped steps."""

from __future__ import annotations

from ..harness import Reply
from .store import Store

_KIND = "besides"
"""Where the sums of an episode's steps by kind keep them; such a sum counts no steps."""


def add_besides(store: Store, episode: int, spent: Reply) -> None:
    """Record tokens that no step holds."""
    store.write(
        "INSERT INTO step_sums VALUES (?, ?, 0, 0, ?, ?, ?, 0, 0, 0) ON CONFLICT DO UPDATE SET "
        "prompt_tokens = prompt_tokens + excluded.prompt_tokens, "
        "completion_tokens = completion_tokens + excluded.completion_tokens, "
        "evaluated_tokens = evaluated_tokens + excluded.evaluated_tokens",
        [episode, _KIND, spent.prompt_tokens, spent.completion_tokens, spent.evaluated_tokens],
    )


def keep_besides(store: Store, episode: int) -> None:
    """Record the tokens of an episode's steps, which are about to be dropped."""
    row = store.row(
        "SELECT coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), "
        "coalesce(sum(evaluated_tokens), 0) FROM steps WHERE episode = ?",
        [episode],
    )
    assert row is not None
    add_besides(store, episode, Reply("", *row))
