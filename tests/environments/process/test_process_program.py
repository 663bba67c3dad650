"""However a program behaves, it is one sentence, and the program and what it started are gone."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evoharness_cli.environments.process.program import LONGEST_LINE, Program, ProgramFault

Start = Callable[..., Program]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a shell script or a Python program as `The program`."""
    started: list[Program] = []

    def begin(script: str, timeout: float = 20.0, python: bool = False) -> Program:
        command = [sys.executable, "-c", script] if python else ["sh", "-c", script]
        started.append(Program(command, tmp_path, timeout, "The program"))
        return started[-1]

    yield begin
    for program in started:
        program.close()


def is_gone(pid: int) -> bool:
    """Wait until a process, which need not be a child of this one, has ended."""
    try:
        ends = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([ends], [], [], 20)[0])
    finally:
        os.close(ends)


needs_pidfd = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="the end of a process that isn't a child is told by a pidfd"
)


def test_each_request_is_one_line_of_ascii_and_is_answered_with_one(start: Start) -> None:
    program = start('while read -r line; do printf \'{"heard": %s}\\n\' "$line"; done')

    assert program.ask({"reset": {}}) == {"heard": {"reset": {}}}
    assert program.ask({"step": "go «left»\nnow"}) == {"heard": {"step": "go «left»\nnow"}}


def test_the_request_is_spelled_as_the_documents_say(start: Start) -> None:
    program = start('read -r line; test "$line" = \'{"step": "go \\u00e9"}\' && echo \'{}\'; cat')
    assert program.ask({"step": "go é"}) == {}


def test_a_request_longer_than_a_pipe_and_an_answer_as_long_pass_at_once(start: Start) -> None:
    program = start("import sys\nfor line in sys.stdin: print(line, end='', flush=True)", python=True)
    long = {"step": "x" * 300_000}
    assert program.ask(long) == long


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "The program ended with exit code 3."),
        ("read -r line; echo 'no such puzzle' >&2; exit 1", "ended with exit code 1. It last said: no such puzzle"),
        ("read -r line; kill -9 $$", "The program ended by signal 9."),
        ("read -r line; exec >&-; sleep 600", "The program closed its output."),
        ("read -r line; echo hello", "Expected one JSON object on one line of The program, found 'hello'."),
        ("read -r line; echo '[1]'", "Expected one JSON object on one line of The program, found '[1]'."),
        ("read -r line; echo", "Expected one JSON object on one line of The program, found an empty line."),
        ("read -r line; printf '\\377\\376{\\n'", "Expected one JSON object"),
        ("read -r line; yes '[' | head -100000 | tr -d '\\n'; echo", "Expected one JSON object"),
        ("read -r line; yes | tr -d '\\n'", f"said a line of more than {LONGEST_LINE:,} bytes"),
    ],
)
def test_what_is_no_answer_is_one_sentence(start: Start, script: str, said: str) -> None:
    program = start(script)

    with pytest.raises(ProgramFault) as caught:
        program.ask({"reset": {}})

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(ProgramFault, match="was ended before"):
        program.ask({"step": "look"})


@needs_pidfd
def test_a_program_that_hangs_is_ended_with_what_it_started(start: Start, tmp_path: Path) -> None:
    program = start("read -r line; sleep 600 & echo $! >pid; trap '' TERM; wait; wait", timeout=0.5)

    with pytest.raises(ProgramFault, match=r"didn't answer in 0\.5 seconds"):
        program.ask({"reset": {}})

    assert is_gone(int((tmp_path / "pid").read_text()))
    assert is_gone(program._process.pid)


def test_noise_on_standard_error_neither_blocks_nor_counts(start: Start) -> None:
    program = start("while read -r line; do yes noise | head -200000 >&2; echo '{}'; done")

    assert [program.ask({"step": "look"}) for _ in range(2)] == [{}, {}]


def test_endless_noise_is_too_slow(start: Start) -> None:
    program = start("read -r line; yes noise >&2", timeout=0.5)
    with pytest.raises(ProgramFault, match=r"didn't answer in 0\.5 seconds\. It last said: noise"):
        program.ask({"reset": {}})


@pytest.mark.parametrize("more", ["echo '{\"more\": 1}'", "yes '{}'"])
def test_what_is_said_unasked_is_no_answer_to_the_next_request(start: Start, more: str) -> None:
    program = start(f"read -r line; printf '{{}}\\n{{\"more\": 1}}\\n'; {more}; cat")
    assert program.ask({"reset": {}}) == {}

    with pytest.raises(ProgramFault, match="said something unasked"):
        program.ask({"step": "look"})


def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProgramFault, match=r"The program can't be started in .*: No such file or directory"):
        Program(["./nothing"], tmp_path, 1, "The program")


@needs_pidfd
def test_closing_ends_what_does_not_listen_and_may_be_repeated(start: Start) -> None:
    program = start("trap '' TERM HUP; read -r line; echo '{}'; while :; do sleep 600; done")
    with closing(program):
        assert program.ask({"reset": {}}) == {}
    program.close()
    assert is_gone(program._process.pid)
