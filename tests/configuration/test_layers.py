"""Which value of a key counts, and where it was set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evoharness_cli.configuration.files import ConfigurationError
from evoharness_cli.configuration.keys import KEYS
from evoharness_cli.configuration.layers import Configuration, configure

Configure = Callable[..., Configuration]


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Return what counts, given what the user's file, the project's file and variables say."""
    for key in KEYS:
        monkeypatch.delenv(key.variable, raising=False)

    def configured(
        user: str = "", project: str = "", profile: str | None = None, model: str | None = None, **variables: str
    ) -> Configuration:
        (tmp_path / "config.yaml").write_text(user)
        (tmp_path / "evoharness.yaml").write_text(project)
        monkeypatch.setenv("EVOHARNESS_CONFIG", str(tmp_path / "config.yaml"))
        for name, value in variables.items():
            monkeypatch.setenv(f"EVOHARNESS_{name.upper()}", value)
        return configure(tmp_path, profile, model)

    return configured


def values(configuration: Configuration) -> dict[str, object]:
    return {key: each.value for key, each in configuration.values.items()}


PROFILES = """
profiles:
  small: {model: smollm2-135m, temperature: 0.2}
  big: {model: 'openai:qwen3', base_url: 'http://localhost:8000/v1', key_variable: VLLM_KEY, context: 32000}
  official: {model: 'openai:gpt-5'}
"""


SERVED = "model: 'openai:z'\nbase_url: 'http://a/v1'\nkey_variable: A\nprice: '1,2'"


def test_nothing_is_set_where_nobody_says_anything(configured: Configure) -> None:
    assert configured() == Configuration({}, {})


def test_a_variable_goes_before_the_project_and_that_before_the_user(configured: Configure, tmp_path: Path) -> None:
    found = configured(
        "scope: user\ntemperature: 0.1\ncontext: 1000\ndecode: free", "scope: project\ntemperature: 0.2", scope="own"
    )

    assert values(found) == {"scope": "own", "temperature": 0.2, "context": 1000, "decode": "free"}
    assert {key: (each.source.value, each.where) for key, each in found.values.items()} == {
        "scope": ("environment", "EVOHARNESS_SCOPE"),
        "temperature": ("project", f"{tmp_path / 'evoharness.yaml'}, line 2"),
        "context": ("user", f"{tmp_path / 'config.yaml'}, line 3"),
        "decode": ("user", f"{tmp_path / 'config.yaml'}, line 4"),
    }


def test_a_profile_counts_right_after_the_place_that_chose_it(configured: Configure, tmp_path: Path) -> None:
    user = f"profile: small\ncontext: 1000{PROFILES}"

    assert values(configured(user)) == {
        "profile": "small",
        "model": "smollm2-135m",
        "temperature": 0.2,
        "context": 1000,
    }
    assert values(configured(user, "temperature: 0.5"))["temperature"] == 0.5
    assert values(configured(user, "profile: big\ntemperature: 0.5"))["context"] == 32000
    chosen = configured(user, "temperature: 0.5", profile="big", context="2000")
    assert (chosen.values["context"].value, chosen.values["temperature"].value) == (32000, 0.5)
    assert chosen.values["context"].source == "profile"
    assert chosen.values["context"].where == f"{tmp_path / 'config.yaml'}, line 5"
    assert chosen.values["profile"].source == "command line"


@pytest.mark.parametrize(
    ("user", "chosen", "belongs"),
    [
        ("model: mine.gguf\nadapter: lora.gguf", {}, {"adapter"}),
        ("adapter: lora.gguf", {}, {"adapter"}),
        ("model: mine.gguf\nadapter: lora.gguf", {"adapter": "other.gguf"}, {"adapter"}),
        (PROFILES, {"profile": "small", "adapter": "other.gguf"}, set()),
        (f"profile: small{PROFILES}", {"adapter": "other.gguf"}, {"adapter"}),
        ("model: mine.gguf\nadapter: lora.gguf", {"model": "smollm2-135m"}, set()),
        ("adapter: lora.gguf", {"model": "smollm2-135m"}, set()),
        (f"adapter: lora.gguf{PROFILES}", {"profile": "small"}, set()),
        (SERVED, {"model": "openai:x"}, {"base_url", "key_variable", "price"}),
        (SERVED, {"model": "smollm2-135m"}, set()),
        (f"{SERVED}{PROFILES}", {"profile": "small"}, set()),
        (f"{SERVED}{PROFILES}", {"profile": "official"}, set()),
        (f"{SERVED}{PROFILES}", {"profile": "big"}, {"base_url", "key_variable"}),
        (PROFILES, {"profile": "big", "model": "openai:other"}, {"base_url", "key_variable"}),
    ],
)
def test_what_belongs_to_a_model_counts_with_that_model_only(
    configured: Configure, user: str, chosen: dict[str, str], belongs: set[str]
) -> None:
    found = values(configured(user, **chosen))

    assert found.keys() & {"adapter", "base_url", "key_variable", "price"} == belongs
    if chosen.get("profile") == "big":
        assert found["base_url"] == "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"user": PROFILES, "profile": "bigg"}, r"small, big, official\); found 'bigg'\. Did you mean big\?"),
        ({"user": "profile: big"}, r"\(which has none\); found 'big' \(set by .*config\.yaml, line 1\)"),
        ({"context": "many"}, "EVOHARNESS_CONTEXT to be a .* found 'many'"),
        ({"temperature": "-1"}, "EVOHARNESS_TEMPERATURE to be greater than or equal to 0; found '-1'"),
        (
            {"key_variable": "sk-1"},
            "EVOHARNESS_KEY_VARIABLE to be the name of an environment variable; found what isn't",
        ),
        ({"decode": "magic"}, "EVOHARNESS_DECODE to be 'free', 'grammar' or 'admissible'; found 'magic'"),
    ],
)
def test_what_cant_be_used_is_said(configured: Configure, given: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        configured(**given)


def test_upkeep_comes_from_the_users_file(configured: Configure) -> None:
    upkeep = configured("upkeep: {every: 10, capacity: 0}").upkeep

    assert {key: each.value for key, each in upkeep.items()} == {"every": 10, "capacity": 0}
