"""A task in the small repository, played action by action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from small_repository import CHECK, MENDED, WORK, play, write_files

from evoharness_cli.environments.workspace.adapter import WorkspaceAdapter, WorkspaceNeeds
from evoharness_cli.environments.workspace.checks import Check
from evoharness_cli.environments.workspace.environment import WorkspaceEnvironment
from evoharness_cli.environments.workspace.sandbox import Kind, sandboxes, search
from evoharness_cli.harness import Episode, Fact, Model, OutsideFault, Settings, Workspace
from evoharness_cli.models.scripted import ScriptedModel

Opened = Callable[..., WorkspaceEnvironment]


def test_the_first_observation_shows_what_is_there(opened: Opened) -> None:
    environment = opened()

    assert environment.brief.kind == "adding"
    assert environment.brief.world.startswith("adding@f252680c1a")
    assert environment.names() == {"file": [".gitignore", "README.md"], "folder": [".", "adding", "tests"]}
    assert Fact("README.md", "searched", "no") in environment.facts()


def test_reading_shows_lines_and_what_they_define(opened: Opened) -> None:
    environment = opened()

    assert play(environment, "read adding/add.py") == (
        'adding/add.py, lines 1-3:\n    1  def add(a, b):\n    2      """Return the sum."""\n    3      return a - b'
    )
    assert environment.facts() == [Fact("adding/add.py", "searched", "yes"), Fact("add", "at", "adding/add.py")]
    assert play(environment, "read adding/add.py 2-2").startswith("adding/add.py, lines 2-2 of 3:")
    assert play(environment, "read adding/add.py 4-9") == "not done: adding/add.py has lines 1-3; found 4-9"


def test_searching_and_listing_make_files_known(opened: Opened) -> None:
    environment = opened()

    assert play(environment, "search def test_sum") == "tests/test_add.py:10: def test_sum(self):"
    assert Fact("TestAdd.test_sum", "at", "tests/test_add.py") in environment.facts()
    assert play(environment, "list adding") == "__init__.py\nadd.py"
    assert "adding/add.py" in environment.names()["file"]
    assert play(environment, "search nothing of this") == "no line holds nothing of this"


def test_edits_and_commands_tell_what_is_changed(opened: Opened) -> None:
    environment = opened()

    assert play(environment, MENDED) == "changed adding/add.py, 3 lines"
    assert environment.facts() == [Fact("adding/add.py", "is", "changed")]
    assert play(environment, "run echo x > made.txt; echo y > made.log; echo done") == "done\n(exit code 0)"
    assert Fact("made.txt", "is", "changed") in environment.facts()
    assert play(environment, 'replace adding/add.py "a + b" with "a - b"') == "changed adding/add.py, 3 lines"
    assert Fact("adding/add.py", "is", "unchanged") in environment.facts()
    assert "+x" in play(environment, "diff")


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ('replace adding/add.py "a * b" with "a + b"', "not done: the text to replace is not in the file"),
        ('replace none.py "a" with "b"', "not done: there is no none.py"),
        ('write tests/test_add.py ""', "not done: tests/test_add.py is protected"),
        ('write adding "x"', "not done: adding is a folder"),
        ('write a.py "\\ud800"', "not done: the text holds half a character"),
        ("write a.py x", 'not done: expected write FILE "content"'),
        ("run " + "x" * 30_000, "not done: the command holds what no command can, or more than 20,000 characters"),
        ("read ../secret", "not done: ../secret is outside of the repository"),
        ("list none", "not done: there is no none"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(opened: Opened, action: str, answer: str) -> None:
    environment = opened()

    assert play(environment, action).startswith(answer)
    assert play(environment, "diff") == "nothing is changed"


def test_a_submission_that_fails_goes_on_and_one_that_passes_ends(opened: Opened, data_folder: Path) -> None:
    environment = opened()

    failed = environment.step("submit")
    assert not failed.done
    assert failed.text.startswith(f"not accepted yet, since a check fails\nfailed: {CHECK} (exit code 1)")
    assert "1 tests passed, 1 failed: TestAdd.test_sum" in failed.text
    assert set(environment.facts()) == {
        Fact("TestAdd.test_nothing", "is", "passed"),
        Fact("TestAdd.test_sum", "is", "failed"),
        Fact("the check", "is", "failed"),
    }

    play(environment, MENDED)
    passed = environment.step("submit")
    assert (passed.done, passed.success) == (True, True)
    (patch,) = (data_folder / "patches").iterdir()
    assert passed.remark == f"patch: {patch}"
    assert "+    return a + b" in patch.read_text()


def test_the_result_is_applied_where_the_person_wants_it(opened: Opened, repository: Path) -> None:
    environment = opened(apply_to=repository)
    play(environment, MENDED)

    assert environment.step("submit").remark.endswith(f"; applied to {repository}")
    assert "a + b" in (repository / "adding" / "add.py").read_text()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("<testsuite><testcase classname='t.T' name='test_x'/></testsuite>", "accepted"),
        ("<testsuite><testcase classname='t.T' name='test_x'><failure/></testcase></testsuite>", "T.test_x failed"),
        ("<testsuite/>", "report.xml reports no test"),
        ("nothing", "its report report.xml can't be read: it is no XML"),
        ("<testsuite><testcase name='test_y'/></testsuite>", "not reported as passed: test_x"),
    ],
)
def test_a_junit_report_counts(opened: Opened, written: str, said: str) -> None:
    check = Check(command=f'echo "{written}" > report.xml', junit="report.xml", tests=("test_x",))
    environment = opened(replace(WORK, checks=(check,)))

    assert said in play(environment, "submit")


def test_a_report_that_is_a_link_is_not_read(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text("<testsuite><testcase name='test_x'/></testsuite>")
    check = Check(command=f"ln -s {tmp_path}/report.xml report.xml", junit="report.xml")

    assert "is a link" in play(opened(replace(WORK, checks=(check,))), "submit")


def test_the_setup_prepares_each_copy_and_its_failure_ends_the_task(opened: Opened) -> None:
    made = replace(WORK, setup=("echo 5 > generated",), checks=(Check(command="test $(cat generated) = 5"),))
    environment = opened(made)
    assert play(environment, "run rm generated; cat generated").endswith("(exit code 1)")
    assert play(environment, "submit").startswith("accepted")

    with pytest.raises(OutsideFault, match=r"setup command 'echo no; exit 4' failed \(exit code 4\): no"):
        opened(replace(WORK, setup=("echo no; exit 4",)))
    with pytest.raises(OutsideFault, match=r"can't begin: the setup command 'sleep 1000' failed \(it ran longer"):
        opened(replace(WORK, setup=("sleep 1000",), limits=replace(WORK.limits, seconds=1)))


def test_recorded_steps_are_answered_the_same_again(unopened: Opened) -> None:
    replies = [
        "commit [change adding/add.py | pass test_sum]",
        "run ls -l; python3 -c 'import tempfile, time; print(tempfile.mkdtemp(), object(), time.time(), \"s\")'",
        MENDED,
        "commit [done]",
        "check",
        "commit [done]",
        "submit",
    ]

    def episode(model: Model) -> Episode:
        environment = unopened()
        return Episode(environment, model, Workspace("mend", environment.evidence), Settings())

    model = ScriptedModel.of(replies)
    first = episode(model)
    recorded = [step for step, _ in zip(first.play(), range(6), strict=False)]
    assert recorded[4].observation == "done: change adding/add.py. now: pass test_sum"

    second = episode(model)
    played = list(second.play(recorded))

    assert [step.number for step in played] == [6, 7]
    assert second.outcome is not None and second.outcome.value == "won"


def needs(repository: Path | str, **more: object) -> WorkspaceNeeds:
    return WorkspaceNeeds.model_validate(
        {"repository": str(repository), "request": "mend", "checks": [{"command": CHECK}], **more}
    )


def test_the_adapter_opens_what_a_task_file_says(repository: Path) -> None:
    adapter = WorkspaceAdapter()
    environment = adapter.open(needs(f"file://{repository}"), "the goal")
    try:
        environment.reset()
        assert environment.brief.goal == "the goal"
        assert play(environment, "check").startswith(f"failed: {CHECK}")
    finally:
        environment.close()
    assert not list(adapter.recognise(repository))


def test_without_a_sandbox_commands_are_refused_unless_a_person_allows_them(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "works", lambda kind: "" if kind is Kind.UNCONFINED else "not here")
    refused, allowed = (WorkspaceAdapter(unsafe=unsafe).open(needs(repository), None) for unsafe in (False, True))
    try:
        assert "start with --unsafe-no-sandbox" in refused.reset().remark
        assert play(refused, "run touch x").startswith("not done: commands are refused, since no sandbox works here")
        assert play(refused, "submit").startswith("not submitted: commands are refused")
        assert play(refused, "diff") == "nothing is changed"
        assert play(refused, MENDED) == "changed adding/add.py, 3 lines"

        assert allowed.reset().remark == "commands run without a sandbox"
        assert play(allowed, "run echo works") == "works\n(exit code 0)"
    finally:
        refused.close()
        allowed.close()
    _, finding = WorkspaceAdapter().examine()
    assert finding.remedy == "install bubblewrap, or start with --unsafe-no-sandbox"


def test_the_doctor_says_which_sandbox_is_used() -> None:
    if all(sandboxes().values()):
        pytest.skip("no sandbox works here")
    _, finding = WorkspaceAdapter().examine()

    assert finding.remedy is None
    assert finding.found.split(" — ")[0] in {kind.value for kind, why in sandboxes().items() if not why}


def test_a_copy_that_is_gone_ends_the_task_with_a_sentence(opened: Opened) -> None:
    environment = opened()
    environment.close()

    with pytest.raises(OutsideFault, match="stopped working"):
        environment.step("run ls")


def test_names_that_are_no_utf8_can_be_shown_and_stored(opened: Opened) -> None:
    environment = opened()

    answer = play(environment, "run touch $(printf 'a\\377b.txt')")
    answers = [answer, play(environment, "list ."), play(environment, "diff"), play(environment, "search x")]

    for each in answers:
        each.encode("utf-8")
    for fact in environment.facts():
        str(fact).encode("utf-8")
    assert "a?b.txt" in answers[1]


def test_a_large_file_and_a_long_line_are_shown_in_part(opened: Opened, repository: Path) -> None:
    write_files(repository, {"long.txt": "x" * 5000 + "\n" + "line\n" * 1000, "empty.txt": ""})
    environment = opened()

    shown = play(environment, "read long.txt")

    assert shown.startswith(f"long.txt, lines 1-200 of 1001:\n    1  {'x' * 400}…\n")
    assert play(environment, "read empty.txt") == "empty.txt is empty"
    assert play(environment, "run cat long.txt").count("characters left out") == 1
