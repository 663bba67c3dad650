from __future__ import annotations

import json
from pathlib import Path

import pytest

from evoharness_cli.harness.transcript import Transcript
from evoharness_cli.models import ScriptedModel, ScriptError, ScriptExhausted


def after(*replies: str) -> Transcript:
    transcript = Transcript("system", "opening")
    for reply in replies:
        transcript.add(reply, "Nothing happens.")
    return transcript


def answer(model: ScriptedModel, *replies: str) -> str:
    return model.reply(after(*replies), None, 10, 0).text


def script(folder: Path, name: str, content: str) -> ScriptedModel:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return ScriptedModel(path)


def test_a_text_file_has_one_reply_a_line(tmp_path: Path) -> None:
    model = script(tmp_path, "a.txt", "go to desk 1\n\n  \nlook  \n")
    assert model.name == "a"
    assert [answer(model), answer(model, "x")] == ["go to desk 1", "look  "]


def test_the_reply_depends_on_the_turn_and_on_nothing_else() -> None:
    model = ScriptedModel.of(["one", "two", "three"])
    assert answer(model, "a", "b") == "three"
    assert answer(model) == "one"
    assert answer(model.session("resumed"), "a") == "two"


def test_yaml_and_json_lists_may_hold_any_reply(tmp_path: Path) -> None:
    model = script(tmp_path, "a.yaml", "- look\n- ''\n- |-\n  <think>two\n  lines</think>go\n- 'note [a: b]'\n")
    assert answer(model, "1") == ""
    assert answer(model, "1", "2") == "<think>two\nlines</think>go"
    assert answer(script(tmp_path, "a.json", '["look", "é"]'), "1") == "é"


def test_each_task_has_its_own_replies(tmp_path: Path) -> None:
    model = script(tmp_path, "a.yml", "kitchen: [look, wait]\nhall:\n  - go to hall 1\n")
    assert answer(model.session("kitchen"), "1") == "wait"
    assert answer(model.session("hall")) == "go to hall 1"
    with pytest.raises(ScriptError, match=r"replies for the task attic .* found kitchen, hall"):
        answer(model.session("attic"))
    with pytest.raises(ScriptError, match="a task to be named"):
        answer(model)


def test_a_session_leaves_the_model_as_it_was() -> None:
    model = ScriptedModel.of({"a": ["one"], "b": ["two"]})
    a, b = model.session("a"), model.session("b")
    assert (answer(a), answer(b), answer(a)) == ("one", "two", "one")


def test_the_only_task_needs_no_naming() -> None:
    assert answer(ScriptedModel.of({"kitchen": ["look"]})) == "look"


def test_a_recorded_run_is_a_script(tmp_path: Path) -> None:
    steps = [{"reply": "look", "observation": "A room."}, {"reply": "wait", "observation": "Still."}]
    run = {"run": 3, "episodes": [{"task": "a", "steps": steps}, {"task": "b", "steps": []}]}
    model = script(tmp_path, "run.json", json.dumps(run))
    assert answer(model.session("a"), "look") == "wait"
    with pytest.raises(ScriptExhausted, match=r"reply number 1 in the script .*run.json for the task b, found 0"):
        answer(model.session("b"))


def test_a_task_may_be_called_episodes(tmp_path: Path) -> None:
    assert answer(script(tmp_path, "a.yaml", "episodes: [look]\nother: []\n").session("episodes")) == "look"


def test_a_script_that_was_extended_is_the_same_script(tmp_path: Path) -> None:
    before = script(tmp_path, "a.txt", "look\n").fingerprint
    assert script(tmp_path, "a.txt", "look\nwait\n").fingerprint == before == {"script": "a.txt"}
    assert script(tmp_path, "b.txt", "look\n").fingerprint != before


def test_when_replies_run_out_it_says_how_many_there_were() -> None:
    with pytest.raises(ScriptExhausted, match="reply number 2 in the script scripted, found 1"):
        answer(ScriptedModel.of(["look"]), "look")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "look", r"ends in .txt, .yaml, .yml or .json"),
        ("a.yaml", "- note [fact: a | b]", "found a mapping: put it in quotes"),
        ("a.yaml", "- look\n- yes\n", "reply 2 of the list .* found a yes or no: put it in quotes"),
        ("a.yaml", "kitchen: look", "list of replies as the task kitchen .* found a text"),
        ("a.yaml", "kitchen:\n- 1", "reply 1 of the task kitchen .* found a number"),
        ("a.yaml", "[unclosed", "can't be read as a list of replies"),
        ("a.yaml", "", "found nothing"),
        ("a.json", "look", "can't be read as a list of replies"),
        ("a.json", '"look"', "found a text"),
        ("a.json", '{"episodes": [{"steps": []}]}', "a task and its steps in episode 1 .* found steps"),
        ("a.json", '{"episodes": [{"task": "a", "steps": [{}]}]}', "reply 1 of the task a .* found nothing"),
        ("a.json", '{"episodes": [{"task": "a", "steps": []}, {"task": "a", "steps": []}]}', "a second one of a"),
    ],
)
def test_a_script_that_cant_be_used_is_a_sentence(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        script(tmp_path, name, content)


def test_a_script_that_cant_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="No such file"):
        ScriptedModel(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(ScriptError, match="not UTF-8"):
        ScriptedModel(tmp_path / "latin.txt")
