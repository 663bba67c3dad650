"""Examples in one pass teach exactly what each would by itself."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import tiny  # noqa: E402

from evoharness_cli.training import lora  # noqa: E402
from evoharness_cli.training.examples import Example  # noqa: E402
from evoharness_cli.training.packing import pack, packs, shared_beginning  # noqa: E402
from evoharness_cli.training.scoring import log_probabilities, target_logits  # noqa: E402


def test_what_all_begin_with_leaves_each_a_token() -> None:
    first, second, third = tiny.examples()
    assert shared_beginning([first, second, third]) == 9
    assert shared_beginning([first, third]) == 10
    assert shared_beginning([first]) == len(first.ids) - 1
    assert shared_beginning([first, first]) == len(first.ids) - 1


def test_a_pack_scores_as_the_model_does_without_packs() -> None:
    model, examples = tiny.model(), tiny.examples()
    together = log_probabilities(model, pack(examples))
    model.set_attn_implementation("eager")
    for example in examples:
        logits = model(input_ids=torch.tensor([example.ids])).logits[0].log_softmax(-1)
        expected = torch.stack([logits[at, label] for at, label in zip(example.positions, example.labels, strict=True)])
        assert torch.allclose(together[: len(expected)], expected, atol=1e-5)
        together = together[len(expected) :]
    assert not len(together)


def test_a_pack_teaches_as_its_examples_do_one_by_one() -> None:
    gradients = []
    for most in (1000, 1):
        model = tiny.model()
        parameters = lora.attach(model.model, lora.LoraSettings(rank=2, alpha=4.0), seed=1)
        for name, parameter in parameters.items():
            if name.endswith("lora_b"):
                torch.nn.init.normal_(parameter, std=0.2, generator=torch.Generator().manual_seed(len(name)))
        made = list(packs(tiny.examples(), most))
        assert len(made) == (1 if most > 1 else 3)
        for each in made:
            (-log_probabilities(model, each).sum()).backward()
        gradients.append({name: parameter.grad for name, parameter in parameters.items()})
    for name, together in gradients[0].items():
        assert torch.allclose(together, gradients[1][name], rtol=1e-3, atol=1e-5), name
        assert together.abs().max() > 1e-4


def test_packs_keep_the_order_and_stay_below_their_size() -> None:
    examples = [Example((1, 2, 3, *range(10, 10 + length)), (3,), (length,)) for length in (3, 4, 20, 2, 2)]
    made = list(packs(examples, 12))
    assert [each.labels.tolist() for each in made] == [[3, 4], [20], [2, 2]]
    assert [len(each.ids) for each in made[:2]] == [9 - 2 + 1, 23]


def test_probabilities_are_among_the_tokens_that_were_allowed() -> None:
    model, made = tiny.model(), pack(tiny.examples()[:1])
    logits = target_logits(model, made)
    allowed = torch.zeros(3, tiny.VOCABULARY, dtype=torch.bool)
    for row, label in enumerate(made.labels.tolist()):
        allowed[row, label] = True
    allowed[0, [20, 33, 50]] = True
    found = log_probabilities(model, made, allowed)

    assert found[0].item() == pytest.approx((logits[0, 20] - logits[0, [20, 33, 50]].logsumexp(0)).item(), abs=1e-5)
    assert found[1:].tolist() == [0.0, 0.0]


def test_a_token_that_was_the_only_one_allowed_teaches_nothing() -> None:
    model, made = tiny.model(), pack(tiny.examples()[:1])
    parameters = lora.attach(model.model, lora.LoraSettings(rank=2), seed=1)
    allowed = torch.nn.functional.one_hot(made.labels, tiny.VOCABULARY).bool()
    log_probabilities(model, made, allowed).sum().backward()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in parameters.values())


def test_an_adapter_begins_as_the_base_and_can_be_switched_off() -> None:
    model, made = tiny.model(), pack(tiny.examples())
    base = target_logits(model, made)
    parameters = lora.attach(model.model, lora.LoraSettings(rank=2), seed=1)
    assert torch.equal(target_logits(model, made), base)
    lora.load(parameters, {name: torch.ones_like(parameter) for name, parameter in parameters.items()})
    assert not torch.allclose(target_logits(model, made), base, atol=0.1)
    with lora.switched_off(model):
        assert torch.equal(target_logits(model, made), base)
    assert not torch.allclose(target_logits(model, made), base, atol=0.1)


def test_only_the_last_blocks_are_adapted_where_that_is_asked_for() -> None:
    model = tiny.model()
    parameters = lora.attach(model.model, lora.LoraSettings(rank=2, layers=1), seed=1)
    assert {name.split(".")[1] for name in parameters} == {"1"}
    assert len(parameters) == 2 * len(lora.TARGETS)
    with pytest.raises(KeyError, match="other layers are adapted"):
        lora.load(parameters, {})
