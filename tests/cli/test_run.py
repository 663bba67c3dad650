"""`evoharness run` plays real games and records them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from commands import ORACLE, ROOT, Command, wait_for_steps

from evoharness_cli.environments.alfworld.games import read_game
from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store

Process = Callable[..., "subprocess.Popen[str]"]
SCRIPT = f"scripted:{ORACLE}"


def script(tmp_path: Path, *replies: str) -> str:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(replies))
    return f"scripted:{file}"


def test_the_oracle_wins_every_sample_and_a_second_run_recalls_what_the_first_found(evoharness: Command) -> None:
    first = evoharness("run", ROOT / "sample_tasks" / "alfworld", "--model", SCRIPT, "--json")

    assert first.code == 0
    assert len(first.objects) == 12
    assert {each["outcome"] for each in first.objects} == {"won"}
    assert set(first.objects[0]) >= {"task", "outcome", "success", "steps", "calls", "run"}
    kinds = evoharness("inspect", "--json").objects[0]["by_kind"]
    assert sorted((each["kind"], each["won"]) for each in kinds) == [
        ("look_at_obj_in_light", 2),
        ("pick_and_place_simple", 2),
        ("pick_clean_then_place_in_recep", 2),
        ("pick_cool_then_place_in_recep", 2),
        ("pick_heat_then_place_in_recep", 2),
        ("pick_two_obj_and_place", 2),
    ]

    evoharness("run", "heat-egg", "--model", SCRIPT, "--quiet")
    (episode,) = evoharness("inspect", "run", "2", "--json").objects[0]["episodes"]
    recalled = episode["steps"][0]["observation"]
    assert recalled.startswith("egg here: fridge 1\nplaces for egg: fridge 1 of 2")
    number = re.search(r'^\[(\d+)\] note: "the egg is in fridge 1"', recalled, re.MULTILINE)
    assert number
    entry = evoharness("inspect", "entry", number[1], "--json").objects[0]
    noted = episode["steps"][5]
    assert (entry["recalled"], entry["strength"], noted["action"]) == (1, 2, "note [the egg is in fridge 1]")
    assert [event["kind"] for event in entry["events"]][:3] == ["noted", "activated", "recalled"]
    assert entry["helped"] == pytest.approx(1 - 3 / 4)


def test_the_embedded_model_plays_and_its_steps_can_be_read(evoharness: Command) -> None:
    played = evoharness("run", "look-at-keychain", "--max-steps", 3)
    shown = evoharness("inspect", "run")

    assert played.code == 1
    assert "out of steps  3 steps" in played.out
    assert "run 1: 0 of 1 won" in played.out
    assert "the keychain with the desklamp" in shown.out
    assert re.findall(r"^ +(\d)  \w+", shown.out, re.MULTILINE) == ["1", "2", "3"]
    (episode,) = evoharness("inspect", "run", "--json").objects[0]["episodes"]
    assert all(step["completion_tokens"] > 0 and step["model_seconds"] > 0 for step in episode["steps"])
    # Each turn costs its new tokens only.
    assert episode["steps"][2]["evaluated_tokens"] < episode["steps"][2]["prompt_tokens"] / 2


def test_react_is_played_without_the_harness(evoharness: Command, tmp_path: Path) -> None:
    model = script(tmp_path, "recall [egg]", "track []", "look")
    played = evoharness("run", "heat-egg", "--model", model, "--method", "react", "--max-steps", 3, "--json")
    (episode,) = evoharness("inspect", "run", "--json").objects[0]["episodes"]

    assert played.objects[0]["outcome"] == "out of steps"
    assert episode["steps"][0]["observation"] == "recall is off in this run"
    assert episode["steps"][1]["observation"] == "track is off in this run"


def test_free_calls_are_not_charged(evoharness: Command, tmp_path: Path) -> None:
    model = script(tmp_path, *["track []"] * 3, *["look"] * 2)
    played = evoharness("run", "heat-egg", "--model", model, "--free-meta", 3, "--max-steps", 2, "--json")

    assert played.objects[0]["steps"] == 5
    assert played.objects[0]["calls"] == 3


def test_admissible_actions_are_shown_on_request(evoharness: Command, tmp_path: Path) -> None:
    evoharness("run", "heat-egg", "--model", script(tmp_path, "look"), "--max-steps", 1, "--show-admissible")
    assert "admissible actions shown" in evoharness("inspect", "run").out


def test_a_task_that_fails_outside_is_a_fault_and_the_next_is_played(evoharness: Command, tmp_path: Path) -> None:
    broken = tmp_path / "game.tw-pddl"
    broken.write_text('{"pddl_domain": "", "grammar": "", "pddl_problem": ""}')
    (tmp_path / "a.yaml").write_text("environment: {name: alfworld, game: game.tw-pddl}")
    good = yaml.safe_load(ORACLE.read_text())["put-cd"]
    model = script(tmp_path, *good)

    played = evoharness("run", tmp_path / "a.yaml", "put-cd", "--model", model, "--json")

    assert played.code == 3
    assert [each["outcome"] for each in played.objects] == ["fault", "won"]
    assert "states no task" in played.objects[0]["fault"]


def test_a_script_that_ends_early_is_a_fault_that_can_be_resumed(evoharness: Command, tmp_path: Path) -> None:
    replies = yaml.safe_load(ORACLE.read_text())["put-cd"]
    model = script(tmp_path, *replies[:4])
    failed = evoharness("run", "put-cd", "--model", model, "--json")
    assert (failed.code, failed.objects[0]["outcome"], failed.objects[0]["steps"]) == (3, "fault", 4)

    script(tmp_path, *replies)
    resumed = evoharness("run", "--resume", 1, "--json")

    assert (resumed.code, resumed.objects[0]["outcome"]) == (0, "won")
    (episode,) = evoharness("inspect", "run", 1, "--json").objects[0]["episodes"]
    assert [step["action"] for step in episode["steps"]] == replies
    again = evoharness("run", "--resume", 1, "--json")
    assert (again.code, again.objects[0]["outcome"], again.objects[0]["steps"]) == (0, "won", len(replies))


def test_a_changed_environment_starts_the_episode_over(evoharness: Command, tmp_path: Path) -> None:
    samples = {path.parent.parent.name.split("-")[1]: path for path in (ROOT / "sample_tasks").rglob("game.tw-pddl")}
    game = tmp_path / "game.tw-pddl"
    game.write_bytes(samples["CD"].read_bytes())
    (tmp_path / "task.yaml").write_text("environment: {name: alfworld, game: game.tw-pddl}")
    oracle = yaml.safe_load(ORACLE.read_text())
    model = script(tmp_path, *oracle["put-cd"][:3])
    assert evoharness("run", tmp_path / "task.yaml", "--model", model, "--json").objects[0]["steps"] == 3

    game.write_bytes(samples["Egg"].read_bytes())
    script(tmp_path, *oracle["heat-egg"])
    resumed = evoharness("run", "--resume", 1, "--json")

    assert resumed.objects[0]["outcome"] == "won"
    (episode,) = evoharness("inspect", "run", 1, "--json").objects[0]["episodes"]
    assert [step["action"] for step in episode["steps"]] == oracle["heat-egg"]
    egg = read_game(game)
    assert (episode["goal"], episode["kind"], episode["world"]) == (egg.task, egg.task_type, egg.world)


def test_a_run_is_played_again_from_its_record(evoharness: Command, tmp_path: Path) -> None:
    evoharness("run", "heat-egg", "--model", SCRIPT, "--quiet")
    recorded = tmp_path / "recorded.json"
    recorded.write_text(evoharness("inspect", "run", "--json").out)

    assert evoharness("run", "heat-egg", "--model", f"scripted:{recorded}", "--json").objects[0]["outcome"] == "won"


def test_an_interrupted_run_says_how_to_go_on(process: Process, db: Path, evoharness: Command) -> None:
    running = process("run", "alfworld", "--model", SCRIPT)
    wait_for_steps(db, 3, running)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)

    assert running.returncode == 130
    assert "interrupted; go on with: evoharness run --resume 1" in err
    assert "Traceback" not in err
    resumed = evoharness("run", "--resume", 1, "--json")
    assert resumed.code == 0
    episodes = evoharness("inspect", "run", 1, "--json").objects[0]["episodes"]
    assert [each["outcome"] for each in episodes] == ["won"] * 12


@pytest.mark.parametrize("steps", [1, 6, 14])
def test_a_killed_run_keeps_every_step_and_goes_on(process: Process, db: Path, evoharness: Command, steps: int) -> None:
    running = process("run", "put-cd", "two-pencils", "--model", SCRIPT)
    wait_for_steps(db, steps, running)
    running.kill()
    running.communicate()

    resumed = evoharness("run", "--resume", 1, "--json")

    assert resumed.code == 0
    oracle = yaml.safe_load(ORACLE.read_text())
    episodes = evoharness("inspect", "run", 1, "--json").objects[0]["episodes"]
    assert {each["task"]: [step["action"] for step in each["steps"]] for each in episodes} == {
        task: oracle[task] for task in ("put-cd", "two-pencils")
    }


def test_a_run_that_is_being_played_is_not_resumed(process: Process, db: Path, evoharness: Command) -> None:
    running = process("run", "alfworld", "--model", SCRIPT)
    wait_for_steps(db, 1, running)
    resumed = evoharness("run", "--resume", 1)
    running.kill()
    running.communicate()

    assert resumed.code == 3
    assert f"Run 1 is being played already, by process {running.pid}." in resumed.err


def test_eight_processes_share_one_store(process: Process, db: Path) -> None:
    tasks = ("put-cd", "look-at-book")
    running = [process("run", *tasks, "--model", SCRIPT, "--json") for _ in range(8)]
    for each in running:
        out, err = each.communicate(timeout=300)
        assert (each.returncode, err) == (0, "")
        assert [json.loads(line)["outcome"] for line in out.splitlines()] == ["won", "won"]

    oracle = yaml.safe_load(ORACLE.read_text())
    with closing(Store.open(db)) as store:
        for run in range(1, 9):
            for episode in journal.episodes(store, run):
                actions = [step.action for step in journal.steps(store, episode.id)[1:]]
                assert actions == oracle[episode.task]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "Expected either tasks to run or --resume RUN"),
        (["heat-egg", "--resume", 1], 2, "Expected either tasks to run or --resume RUN"),
        (["heat-eg"], 2, "No task 'heat-eg': it is no file, no folder and no sample task. Did you mean heat-egg"),
        (["alfworld:valid_seen/3"], 2, "There are no ALFWorld games at"),
        (["alfworld:"], 2, "expected alfworld:SPLIT, SPLIT/N or SPLIT/N-M; found alfworld:"),
        (["heat-egg", "--model", "gpt"], 2, "smollm2-135m"),
        (["heat-egg", "--model", "none.gguf"], 3, "none.gguf"),
        (["heat-egg", "--adapter", "none.gguf"], 3, "none.gguf"),
        (["heat-egg", "--model", "scripted:none.txt"], 3, "none.txt can't be read"),
        (["--resume", 7], 2, "There is no store at"),
        (["--resume", 7, "--seed", 1, "--model", "x"], 2, "leave out --model, --seed"),
        (["README.md"], 2, "README.md holds no task"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(
    evoharness: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    ended = evoharness("run", *arguments)

    assert ended.code == code
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1


HOSTILE = "\x1bc reset \x07 \x9b2J \u202eright"


def test_what_a_model_or_a_game_says_never_reaches_the_terminal_as_code(evoharness: Command, tmp_path: Path) -> None:
    (sample,) = [path for path in (ROOT / "sample_tasks").rglob("game.tw-pddl") if "-Egg-" in str(path)]
    data = json.loads(sample.read_text())
    escaped = json.dumps(f"You see {HOSTILE}.")[1:-1]
    data["grammar"] = data["grammar"].replace("You are not carrying anything.", escaped)
    game = tmp_path / "game.tw-pddl"
    game.write_text(json.dumps(data))
    model = script(tmp_path, f"note {HOSTILE}", f"note [{HOSTILE} [bold]x[/bold]]", "inventory")

    played = evoharness("run", game, "--model", model, "--max-steps", 3)
    shown = evoharness("inspect", "run")
    printed = evoharness("inspect", "run", "--json")
    listed = evoharness("inspect", "experience")

    for text in (played.out, shown.out, printed.out, listed.out):
        assert not set("\x1b\x07\x9b\u202e") & set(text)
    assert "You see \ufffdc reset \ufffd \ufffd2J \ufffdright." in shown.out
    assert "[bold]x[/bold]" in shown.out
    assert "[bold]x[/bold]" in listed.out
    assert printed.objects[0]["episodes"][0]["steps"][2]["observation"] == f"You see {HOSTILE}."


def test_wrong_usage_makes_no_store(evoharness: Command, db: Path) -> None:
    for arguments in (["run", "nosuch"], ["run", "--resume", 1], ["inspect"], ["inspect", "runs"], ["prune", "--undo"]):
        assert evoharness(*arguments).code == 2
    assert list(db.parent.glob("experience*")) == []
