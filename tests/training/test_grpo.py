"""An update of the policy: its loss by hand, on a small model with random weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import tiny  # noqa: E402

from evoharness_cli.harness import Constraint  # noqa: E402
from evoharness_cli.models.writing import Written  # noqa: E402
from evoharness_cli.training.grpo import Batch, GrpoSettings, Learnt, Weighed, learn  # noqa: E402
from evoharness_cli.training.lora import LoraSettings, attach  # noqa: E402
from evoharness_cli.training.optimise import Optimiser  # noqa: E402
from evoharness_cli.training.recording import Turn  # noqa: E402
from evoharness_cli.training.trajectories import Allowed, trajectories  # noqa: E402

END = 2
ANY = Constraint((("any",),))
PROMPT = (1, 10, 11, 12)


class Choices:
    """Stands for an engine whose constraint allows the tokens below 32 everywhere."""

    vocabulary_size = tiny.VOCABULARY

    def allowed(self, constraint: Constraint, tokens: Sequence[int]) -> list[Any]:
        del constraint
        return [torch.arange(32).numpy() for _ in (*tokens, None)]


@dataclass
class Policy:
    """A small policy that can be asked and moved."""

    model: Any
    parameters: Any

    def log_probability(self, ids: Sequence[int], token: int, allowed: int = 32) -> float:
        from evoharness_cli.training.examples import Example
        from evoharness_cli.training.packing import pack
        from evoharness_cli.training.scoring import target_logits

        with torch.no_grad():
            logits = target_logits(self.model, pack([Example(tuple(ids), (len(ids) - 1,), (token,))]))
        return float(logits[0, :allowed].log_softmax(-1)[token])

    def learn(self, episodes: Sequence[Weighed], settings: GrpoSettings, rate: float = 1e-2) -> Learnt:
        batch = Batch(episodes, Allowed(Choices()), lambda token: token == END, 64)
        reference = {name: parameter.detach().clone() for name, parameter in self.parameters.items()}
        optimiser = Optimiser(self.parameters, settings.clip_norm)
        found = learn(self.model, self.parameters, optimiser, batch, reference, rate, settings, lambda: False)
        assert found is not None
        return found


@pytest.fixture
def policy() -> Policy:
    model = tiny.model()
    return Policy(model, attach(model.model, LoraSettings(rank=4, alpha=8.0), seed=1))


def turn(policy: Policy, prompt: Sequence[int], tokens: Sequence[int], end: int = END, off: float = 0.0) -> Turn:
    """Return a reply with the log-probabilities that an engine found that is `off` by so much."""
    ids, written = list(prompt), list[Written]()
    for token in (*tokens, end):
        written.append(Written(token, policy.log_probability(ids, token) - off))
        ids.append(token)
    return Turn(tuple(prompt), tuple(written[:-1]), written[-1], ANY)


def test_what_was_worth_more_becomes_likelier_and_the_rest_less_likely(policy: Policy) -> None:
    good, bad = turn(policy, PROMPT, [20, 21]), turn(policy, PROMPT, [25])
    before = policy.log_probability(PROMPT, 20), policy.log_probability(PROMPT, 25)
    learnt = policy.learn([Weighed([good], [1.0]), Weighed([bad], [-1.0])], GrpoSettings(kl=0.0))
    assert policy.log_probability(PROMPT, 20) > before[0]
    assert policy.log_probability(PROMPT, 25) < before[1]
    assert learnt.tokens == 5
    assert learnt.mismatch == pytest.approx(0.0, abs=1e-5)
    # Three tokens weigh 1 and two weigh -1, each with a ratio of 1.
    assert learnt.loss == pytest.approx(-(3 - 2) / 5, rel=1e-5)


def test_only_the_tokens_that_were_chosen_are_learnt(policy: Policy) -> None:
    chosen = turn(policy, PROMPT, [20, 21])
    forced = replace(chosen, written=(chosen.written[0], Written(21, forced=True)), end=Written(END, forced=True))
    assert policy.learn([Weighed([forced], [1.0])], GrpoSettings()).tokens == 1
    (found,) = trajectories([forced], lambda token: token == END)
    assert (found.example.ids, found.example.positions, found.example.labels) == (PROMPT, (3,), (20,))


def test_what_the_engine_held_less_likely_counts_more_up_to_a_bound(policy: Policy) -> None:
    near = policy.learn([Weighed([turn(policy, PROMPT, [20], off=0.1)], [1.0])], GrpoSettings(kl=0.0), rate=0.0)
    assert near.loss == pytest.approx(-(2.718281828**0.1), rel=1e-4)
    assert near.mismatch == near.mismatch_mean == pytest.approx(0.1, abs=1e-4)
    assert near.truncated == 0.0
    far = policy.learn([Weighed([turn(policy, PROMPT, [20], off=5.0)], [1.0])], GrpoSettings(kl=0.0), rate=0.0)
    assert (far.loss, far.truncated) == (pytest.approx(-2.0), 1.0)


def test_a_second_pass_goes_no_further_than_the_clip(policy: Policy) -> None:
    settings = GrpoSettings(passes=8, kl=0.0, clip_low=0.05, clip_high=0.05)
    learnt = policy.learn([Weighed([turn(policy, PROMPT, [20])], [1.0])], settings, rate=3e-2)
    # Clipped tokens gain what the bound gives them, and nothing moves them further.
    assert (learnt.clipped, learnt.norm) == (1.0, 0.0)
    assert learnt.loss == pytest.approx(-1.05)
    assert learnt.ratio > 0.05


def test_the_reference_holds_the_policy_back(policy: Policy) -> None:
    episodes = [Weighed([turn(policy, PROMPT, [20])], [1.0])]
    assert policy.learn(episodes, GrpoSettings(passes=3)).kl > 0
    first = policy.learn(episodes, GrpoSettings(passes=1))
    assert first.kl == pytest.approx(0.0, abs=1e-6)


def test_an_episode_is_one_conversation_though_a_word_was_spelt_otherwise(policy: Policy) -> None:
    first = turn(policy, PROMPT, [20, 21])
    # Read again, the reply is one token; then come its end and the observation.
    second = turn(policy, (*PROMPT, 30, END, 13), [22])
    third = turn(policy, (*PROMPT, 30, END, 13, 22, END, 14), [23])
    (found,) = trajectories([first, second, third], lambda token: token == END)
    assert found.example.ids == (*PROMPT, 20, 21, END, 13, 22, END, 14, 23)
    assert found.example.labels == (20, 21, END, 22, END, 23, END)
    assert found.chosen.turns == [0, 0, 0, 1, 1, 2, 2]
    assert found.chosen.tokens == [0, 1, 2, 0, 1, 0, 1]


def test_a_transcript_that_was_rewritten_begins_another_conversation(policy: Policy) -> None:
    turns = [turn(policy, PROMPT, [20]), turn(policy, (1, 15, 16), [21])]
    first, second = trajectories(turns, lambda token: token == END)
    assert (first.example.ids, second.example.ids) == ((*PROMPT, 20), (1, 15, 16, 21))
    assert second.chosen.turns == [1, 1]


def test_a_batch_holds_each_target_with_its_own_advantage_in_whatever_pack_it_is(policy: Policy) -> None:
    episodes = [
        Weighed([turn(policy, (1, 10, *range(12, 12 + number)), [20, 21])], [float(number)])
        for number in range(9, 2, -1)
    ]
    batch = Batch(episodes, Allowed(Choices()), lambda token: token == END, 24)
    assert len(batch.parts) > 1
    assert sorted(float(each) for part in batch.parts for each in part.advantages[::3]) == [3, 4, 5, 6, 7, 8, 9]
    for part in batch.parts:
        for place, length in enumerate(part.pack.lengths):
            # A prompt of `number` and two tokens more, and the reply but for its end.
            assert part.pack.shared + length - 4 == part.advantages[3 * place]
    assert batch.tokens == 21
