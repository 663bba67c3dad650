"""The policies that come along fit this program: its base, its transcripts, its recall; and they play by default."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evoharness_cli import policies as shipped
from evoharness_cli.cli.options import adapter_of
from evoharness_cli.experience.recall import search
from evoharness_cli.experience.shown import RECALL_FORMAT
from evoharness_cli.experience.store import Store
from evoharness_cli.models import resolve
from evoharness_cli.models.hashes import compute_sha256, sha256_of
from evoharness_cli.policies import Policy, made_for, named, of_adapter, policies
from evoharness_cli.policies.bank import bring
from evoharness_cli.runs.find import find_tasks

LARGEST = 40_000_000


@pytest.fixture(params=policies(), ids=lambda policy: policy.name)
def policy(request: pytest.FixtureRequest) -> Policy:
    found: Policy = request.param
    return found


def test_a_policy_was_trained_on_what_it_is_shown_here(policy: Policy) -> None:
    pytest.importorskip("torch")
    from evoharness_cli.training.transcript_format import transcript_format

    assert policy.card["format"] == transcript_format()
    assert policy.card["recall_format"] == RECALL_FORMAT


def test_a_policy_is_what_its_card_says(policy: Policy) -> None:
    assert policy.card["base_sha256"] == sha256_of(resolve(policy.model))
    assert policy.card["adapter_sha256"] == compute_sha256(policy.adapter)
    assert policy.card["bank_sha256"] == compute_sha256(policy.bank)
    assert policy.adapter.stat().st_size < LARGEST
    for result in policy.card["results"]:
        low, high = result["interval"]
        assert result["n"] == result["of"]
        assert low <= result["won"] / result["n"] <= high


def test_a_bank_is_taken_in_once_and_what_is_dropped_of_it_stays_so(policy: Policy, tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        brought = bring(policy, store)
        assert brought is not None
        assert brought.places > 300
        assert search(store, "mug", "alfworld").places[0].counts
        store.write("DELETE FROM place_finds WHERE object = 'mug'")

        assert bring(policy, store) is None
        assert not search(store, "mug", "alfworld").places


def test_a_policy_plays_the_tasks_it_was_trained_for_and_no_others(policy: Policy) -> None:
    games, others = find_tasks([policy.environment]), find_tasks(["workspace"])

    assert adapter_of(None, games, policy.model) == str(policy.adapter)
    assert adapter_of(policy.name, others, policy.model) == str(policy.adapter)
    assert adapter_of("none", games, policy.model) is None
    assert adapter_of(None, others, policy.model) is None
    assert adapter_of(None, [*games, *others], policy.model) is None
    assert adapter_of(None, games, "another-model") is None


def test_a_policy_is_known_by_its_adapter(policy: Policy, tmp_path: Path) -> None:
    copied = shutil.copy(policy.adapter, tmp_path)

    assert of_adapter(str(policy.adapter)) == policy == named(policy.name) == made_for(policy.model, ["alfworld"])
    assert of_adapter(str(copied)) is of_adapter(None) is named("no-such-policy") is None


def test_folders_without_a_card_are_no_policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half").mkdir()
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)

    assert policies() == []
    assert named("half") is made_for("smollm2-135m", ["alfworld"]) is None
