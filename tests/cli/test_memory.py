"""`--experience` and `--curator` of `run` and `eval`: what remembers, and what results say of it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import ORACLE, Command, wait_for_steps

SCRIPT = f"scripted:{ORACLE}"
GAMES = ("heat-egg", "put-cd", "look-at-book", "heat-apple")


def kept(evoharness: Command, scope: str) -> list[tuple[str, str, str]]:
    found = evoharness("inspect", "experience", "--scope", scope, "--limit", 100, "--json").objects
    return sorted((each["status"], each["kind"], each["text"]) for each in found)


def test_a_run_states_its_memory_and_keeps_in_its_own_scope(evoharness: Command) -> None:
    ended = evoharness("run", *GAMES, "--model", SCRIPT, "--experience", "expel", "--json")
    assert ended.code == 0
    assert {
        (each["settings"]["experience"], each["settings"]["curator"]) for each in ended.objects if "settings" in each
    } == {("expel", "deterministic stand-in")}
    (run,) = evoharness("inspect", "runs", "--json").objects
    assert run["settings"]["experience"] == "expel"
    assert run["settings"]["fingerprint"]["curator"] == "deterministic stand-in"
    assert [kind for _, kind, _ in kept(evoharness, "@expel/alfworld")] == ["skill"] * 4
    assert evoharness("inspect", "experience", "egg", "--scope", "alfworld").out == "nothing relevant in experience\n"

    shown = evoharness("run", "put-cd", "--model", SCRIPT, "--experience", "skillrl")
    assert "curator: deterministic stand-in" in shown.out
    assert "experience skillrl, curator deterministic stand-in" in evoharness("inspect", "run").out


def test_a_curator_is_a_model_by_name(evoharness: Command, tmp_path: Path) -> None:
    script = tmp_path / "curator.json"
    script.write_text(json.dumps({"put-cd": ["insert: Place it | to place a thing | go there first", "done"]}))
    arguments = ("run", "put-cd", "--model", SCRIPT, "--experience", "skillos", "--curator", f"scripted:{script}")
    shown = evoharness(*arguments)

    assert (shown.code, "stand-in" in shown.out) == (0, False)
    assert kept(evoharness, "@skillos/alfworld") == [("active", "skill", "Place it: go there first")]
    (run,) = evoharness("inspect", "runs", "--json").objects
    assert run["settings"]["fingerprint"]["curator"] == {"script": "curator.json"}


@pytest.mark.parametrize("policy", ["append", "expel", "skillos"])
def test_a_killed_run_that_is_resumed_learns_the_same(
    process: Callable[..., subprocess.Popen[str]], evoharness: Command, db: Path, tmp_path: Path, policy: str
) -> None:
    arguments = ("run", *GAMES, "--model", SCRIPT, "--experience", policy)
    running = process(*arguments, "--json")
    wait_for_steps(db, 20, running)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    assert evoharness("run", "--resume", 1, "--json").code == 0
    resumed = [each for each in kept(evoharness, f"@{policy}") if each[0] == "active"]

    whole = tmp_path / "whole.db"
    assert evoharness(*arguments, "--db", whole, "--json").code == 0
    found = evoharness("inspect", "experience", "--scope", f"@{policy}", "--db", whole, "--json").objects
    assert resumed == sorted((each["status"], each["kind"], each["text"]) for each in found) != []


def test_an_evaluation_compares_memories(evoharness: Command, db: Path, tmp_path: Path) -> None:
    for policy in ("append", "expel"):
        evoharness("run", *GAMES, "--model", SCRIPT, "--experience", policy, "--quiet")
    out = tmp_path / "evaluation.db"
    ended = evoharness(
        "eval", "heat-egg", "put-cd", "--model", SCRIPT, "--bank", db, "--out", out, "--json", "--experience", "append",
        "--method", "bpe", "--method", "bpe,experience=expel", "--method", "bpe,experience=none",
    )  # fmt: skip
    assert ended.code == 0
    played_as = {each["method"]: each["played_as"] for each in ended.objects[0]["results"]}
    assert played_as["bpe"]["fingerprint"]["experience"] == "append"
    assert played_as["bpe,experience=expel"]["fingerprint"]["curator"] == "deterministic stand-in"
    assert played_as["bpe,experience=none"]["experience"] == "none"
    recalls = {}
    for run in evoharness("inspect", "runs", "--db", out, "--json").objects:
        if run["settings"]["label"]:
            (first, *_) = evoharness("inspect", "run", run["run"], "--db", out, "--json").objects[0]["episodes"]
            recalls[run["settings"]["label"]] = first["steps"][0]["observation"]
    assert "note: " in recalls["bpe"]
    assert "go to fridge 1; open fridge 1" in recalls["bpe,experience=expel"]
    assert recalls["bpe,experience=none"] == "nothing relevant in experience"
    shown = evoharness("eval", "--resume", "--out", out)
    assert "curator: deterministic stand-in" in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "put-cd", "--experience", "memo"], "Expected a memory policy of append, bpe"),
        (["run", "put-cd", "--experience", "append", "--curator", SCRIPT], "append has no curator"),
        (["run", "put-cd", "--scope", "@expel/alfworld"], "is where a memory policy keeps what it learns"),
        (["eval", "put-cd", "--method", "bpe,experience=memo"], "Expected a memory policy of append, bpe"),
        (["eval", "put-cd", "--method", "bpe", "--curator", SCRIPT], "leave out --curator"),
    ],
)
def test_what_cannot_remember_is_one_sentence(evoharness: Command, db: Path, arguments: list[str], said: str) -> None:
    ended = evoharness(*arguments, "--model", SCRIPT)

    assert (ended.code, len(ended.err.strip().splitlines())) == (2, 1)
    assert said in ended.err
    assert not db.exists()


def test_a_published_skill_bank_is_shown_by_skillrl(evoharness: Command, tmp_path: Path) -> None:
    published = {
        "general_skills": [
            {"skill_id": "g1", "title": "Look", "principle": "look around", "when_to_apply": "always", "usage_count": 3}
        ],
        "task_specific_skills": {
            "pick_and_place": [
                {"skill_id": "p1", "title": "Drawers", "principle": "open the drawer", "when_to_apply": "a cd is put"}
            ],
            "heat": [{"skill_id": "h1", "title": "Heat", "principle": "use a microwave", "when_to_apply": "heating"}],
        },
        "common_mistakes": [
            {"mistake_id": "m1", "description": "going in circles", "why_it_happens": "x", "how_to_avoid": "remember"}
        ],
    }
    file = tmp_path / "skills.json"
    file.write_text(json.dumps(published))
    assert evoharness("import", file, "--scope", "@skillrl/alfworld").code == 0
    evoharness("run", "put-cd", "--model", SCRIPT, "--experience", "skillrl", "--quiet")

    steps = evoharness("inspect", "run", "--json").objects[0]["episodes"][0]["steps"]
    recalled = steps[0]["observation"]
    assert "open the drawer" in recalled.splitlines()[0]
    assert "look around" in recalled
    assert "going in circles" in recalled
    assert "microwave" not in recalled


def test_banks_and_exports_carry_the_items_of_a_policy(evoharness: Command, tmp_path: Path) -> None:
    script = tmp_path / "curator.json"
    curated = {game: ["done"] for game in GAMES} | {"heat-apple": ["add: look first", "done"]}
    script.write_text(json.dumps(curated))
    lost = evoharness("run", "heat-apple", "--model", SCRIPT, "--experience", "expel", "--max-steps", 5, "--quiet")
    assert lost.code == 1
    evoharness("run", *GAMES, "--model", SCRIPT, "--experience", "expel", "--curator", f"scripted:{script}", "--quiet")
    assert evoharness("banks", "freeze", "kept").code == 0
    out = tmp_path / "evaluation.db"
    evoharness(
        "eval", "heat-egg", "--method", "bpe,experience=expel", "--model", SCRIPT, "--bank", "kept@1", "--out", out
    )
    exported, other = tmp_path / "bank.jsonl", tmp_path / "other.db"
    evoharness("export", "-o", exported)
    evoharness("import", exported, "--db", other)
    evoharness("run", "heat-egg", "--model", SCRIPT, "--experience", "expel", "--db", other, "--quiet")

    for db in (out, other):
        (episode,) = evoharness("inspect", "run", "--json", "--db", db).objects[0]["episodes"]
        insight, trajectory, *_ = episode["steps"][0]["observation"].splitlines()
        assert "look first" in insight
        assert "go to fridge 1; open fridge 1" in trajectory


@pytest.mark.parametrize("policy", ["append", "expel"])
def test_a_live_bank_learns_by_the_memory_of_the_method(evoharness: Command, tmp_path: Path, policy: str) -> None:
    assert evoharness("banks", "create", "living").code == 0
    out, whole = tmp_path / "evaluation.db", tmp_path / "whole.db"
    ended = evoharness(
        "eval", *GAMES, "--method", f"bpe,experience={policy}", "--model", SCRIPT, "--bank", "living",
        "--evolve-every", 2, "--out", out, "--json",
    )  # fmt: skip
    assert ended.code == 0
    evoharness("run", *GAMES, "--model", SCRIPT, "--experience", policy, "--db", whole, "--quiet")

    scope = ("--scope", f"@{policy}", "--status", "active", "--json", "--db")
    learnt = evoharness("inspect", "experience", *scope, tmp_path / "banks" / "living.db").objects
    at_once = evoharness("inspect", "experience", *scope, whole).objects
    assert [each["text"] for each in learnt] == [each["text"] for each in at_once] != []
