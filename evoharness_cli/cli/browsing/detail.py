"""All that is known of one step, as text."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from ...harness import Step
from ..live import action_text, plan_text
from ..screen import line
from .record import PlayedEpisode
from .states import State


def step_detail(played: PlayedEpisode, place: int) -> Text:
    """Return the step at a place of the episode: what was done and answered, and the workspace after it."""
    step, state = played.steps[place], played.states[place]
    parts = [
        ("thought", line(step.thought)),
        ("action", _action(step)),
        ("remark", line(step.remark)),
        ("answer", line(step.observation)),
        ("recalled", Text("\n").join(_recalled(played, step))),
        ("progress", plan_text(state.plan, state.current) if state.plan is not None else Text()),
        ("belief", _belief(state, step.number)),
        ("spent", line(_spent(step))),
    ]
    titled = [line((f"{title}\n", "bold underline")).append_text(text) for title, text in parts if text]
    return Text("\n\n").join(titled)


def _action(step: Step) -> Text:
    if not step.number:
        return Text()
    remarks = [
        *([] if step.charged else ["free"]),
        *(["invalid"] if step.invalid else []),
        *([f"the oldest {step.compacted} exchanges were left out before it"] if step.compacted else []),
    ]
    return action_text(step).append(f"  ({', '.join(remarks)})" if remarks else "")


def _recalled(played: PlayedEpisode, step: Step) -> Iterator[Text]:
    for number in step.recalled:
        each = played.recalled[number]
        yield line((f"[{number}] ", "bold"), each.text)
        if each.record:
            yield line((f"    this episode: {each.vote}; in all: {each.record}", "dim"))


def _belief(state: State, number: int) -> Text:
    if state.belief is None:
        return Text()
    # What this step showed stands out.
    now = f"(step {number})", f"(noted at step {number})"
    facts = (line((known, "bold" if known.endswith(now) else "")) for known in state.belief.facts)
    return Text("\n").join([line(state.belief.situation), *facts])


def _spent(step: Step) -> str:
    seconds = step.model_seconds + step.environment_seconds + step.harness_seconds
    return (
        f"{seconds:.2f} s (model {step.model_seconds:.2f}, environment {step.environment_seconds:.2f}, "
        f"harness {step.harness_seconds:.2f}); {step.prompt_tokens:,} prompt tokens of which "
        f"{step.evaluated_tokens:,} evaluated, {step.completion_tokens:,} completion tokens"
    )
