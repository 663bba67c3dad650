from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evoharness_cli.harness import OutsideFault, Transcript, WrongUsage
from evoharness_cli.models import (
    CATALOGUE,
    LlamaModel,
    ModelFileError,
    UnknownModel,
    UnusableOption,
    anchored,
    load_model,
    resolve,
)
from evoharness_cli.models.load import BrokenScheme

START = Transcript("Be brief.", "You see a mug.")


def test_a_catalogue_name_is_the_models_name() -> None:
    model = load_model("smollm2-135m", context=256)
    assert isinstance(model, LlamaModel)
    assert model.name == "smollm2-135m"
    assert model.context == 256
    model.close()


def test_a_path_is_taken_as_it_is(model_file: Path) -> None:
    assert resolve(str(model_file)) == model_file
    with pytest.raises(ModelFileError, match="found nothing there"):
        load_model("no/such/file.gguf")


def test_an_unknown_name_lists_the_known_ones_and_what_was_meant() -> None:
    with pytest.raises(UnknownModel) as caught:
        load_model("smolm2-135m")
    assert str(caught.value) == (
        "No model is called 'smolm2-135m'. Did you mean smollm2-135m or smollm2-360m or smollm2-1.7b?"
        f" Known: {', '.join(CATALOGUE)}; a path that ends in .gguf also works."
    )
    with pytest.raises(UnknownModel, match=r"called 'zzz'. Known"):
        resolve("zzz")


def test_a_script_is_loaded_by_its_scheme(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("look\n")
    model = load_model(f"scripted:{tmp_path / 'a.txt'}")
    assert model.session("any").reply(START, None, 10, 0).text == "look"
    with pytest.raises(UnusableOption, match="takes no adapter"):
        load_model(f"scripted:{tmp_path / 'a.txt'}", adapter=tmp_path / "a.gguf")


def test_asking_for_what_there_is_not_is_wrong_usage_and_an_unreadable_file_is_not() -> None:
    assert issubclass(UnknownModel, WrongUsage)
    assert issubclass(UnusableOption, WrongUsage)
    with pytest.raises(OutsideFault):
        load_model("scripted:no/such/script.txt")
    with pytest.raises(OutsideFault):
        load_model("no/such/file.gguf")


@pytest.mark.parametrize("context", [0, -1])
def test_a_context_without_room_for_a_token_is_refused(context: int) -> None:
    with pytest.raises(UnusableOption, match=f"positive number of tokens as the context, found {context}"):
        load_model("smollm2-135m", context=context)


def test_a_tilde_is_the_home_folder(model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a:b.gguf").symlink_to(model_file)
    (tmp_path / "a.txt").write_text("look\n")
    assert load_model("scripted:~/a.txt").reply(START, None, 10, 0).text == "look"
    load_model("~/a:b.gguf", context=64).close()
    with pytest.raises(ModelFileError, match=re.escape(f"GGUF file at {tmp_path}/none.gguf, found nothing there")):
        load_model("smollm2-135m", adapter=Path("~/none.gguf"))


def test_a_path_is_anchored_in_a_folder_and_a_name_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    (tmp_path / "model").touch()
    for spec, meant in {
        "a/b.gguf": f"{tmp_path}/a/b.gguf",
        "../b.GGUF": f"{tmp_path.parent}/b.GGUF",
        "/a/b.gguf": "/a/b.gguf",
        "~/b.gguf": "/home/somebody/b.gguf",
        "model": f"{tmp_path}/model",
        "scripted:a.yaml": f"scripted:{tmp_path}/a.yaml",
        "scripted:/a.yaml": "scripted:/a.yaml",
        "scripted:~/a.yaml": "scripted:/home/somebody/a.yaml",
    }.items():
        assert anchored(spec, tmp_path) == meant
    for spec in ("smollm2-135m", "echo:a.yaml", "no-such-model", "scripted:", "openai:gpt", "openai-tools:org/m"):
        assert anchored(spec, tmp_path) == spec


def test_the_home_of_nobody_holds_nothing() -> None:
    with pytest.raises(ModelFileError, match="found nothing there"):
        load_model("~no-such-person/a.gguf")


def test_an_unknown_scheme_lists_the_known_ones() -> None:
    with pytest.raises(
        UnknownModel, match=r"No kind of model is called 'ftp'. Known: openai:, openai-tools:, scripted:"
    ):
        load_model("ftp:model")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with one scheme that works and one that doesn't."""
    info = tmp_path / "echo_model-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-model\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[evoharness.models]\necho = echo_model:make\nbroken = echo_model:none\n")
    (tmp_path / "echo_model.py").write_text(
        "from evoharness_cli.models import ScriptedModel\n"
        "def make(rest, **options):\n"
        "    return ScriptedModel.of([f'{rest} {options}'])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("installed")
def test_an_installed_package_adds_a_scheme() -> None:
    model = load_model("echo:a:b", temperature=0.5)
    assert model.reply(START, None, 10, 0).text == "a:b {'temperature': 0.5}"


@pytest.mark.usefixtures("installed")
def test_a_scheme_that_cant_be_imported_is_a_sentence() -> None:
    with pytest.raises(BrokenScheme, match="The scheme broken: of echo_model:none can't be imported"):
        load_model("broken:x")
    with pytest.raises(UnknownModel, match="broken:, echo:, openai:, openai-tools:, scripted:"):
        load_model("other:x")


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_importing_the_models_loads_no_engine() -> None:
    heavy = {"llama_cpp", "numpy", "jinja2", "yaml", "openai", "huggingface_hub"}
    code = f"import sys, evoharness_cli.models; print({heavy!r} & set(sys.modules))"
    assert run_python(code).stdout == "set()\n"


def test_a_model_says_nothing_on_the_terminal() -> None:
    code = (
        "from pathlib import Path\n"
        "from evoharness_cli.models import load_model, ModelFileError\n"
        "from evoharness_cli.harness.transcript import Transcript\n"
        "model = load_model('smollm2-135m', context=256)\n"
        "model.reply(Transcript('Be brief.', 'You see a mug.'), None, 3, 0)\n"
        "model.close()\n"
        "try: load_model('smollm2-135m', adapter=Path('none.gguf'))\n"
        "except ModelFileError: pass\n"
    )
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
