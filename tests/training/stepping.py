"""Steps as an episode has them, for what is worked out from steps alone."""

from __future__ import annotations

from evoharness_cli.harness import Step


def opening(text: str = "You are in a room.") -> Step:
    """Return the first observation."""
    return Step(0, "environment", text)


def step(
    number: int,
    action: str,
    observation: str = "Nothing happens.",
    kind: str = "environment",
    *,
    charged: bool = True,
    invalid: bool = False,
    prompt: int = 0,
    written: int = 0,
) -> Step:
    """Return a reply and what came of it; a meta-action's kind is its verb."""
    return Step(
        number,
        kind,
        observation,
        action=action,
        charged=charged,
        invalid=invalid,
        prompt_tokens=prompt,
        completion_tokens=written,
    )
