"""What checks report, test by test, and what sources define."""

from __future__ import annotations

import pytest

from evoharness_cli.environments.workspace.output import readable, shortened
from evoharness_cli.environments.workspace.results import UnreadableReport, missing, read_junit, read_printed
from evoharness_cli.environments.workspace.symbols import definitions

JUNIT = b"""<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="5">
<testcase classname="tests.test_a.TestA" name="test_good" time="0.1"/>
<testcase classname="tests.test_a.TestA" name="test_bad"><failure message="no">why</failure></testcase>
<testcase classname="tests.test_a" name="test_left"><skipped/></testcase>
<testcase classname="tests.test_a" name="test_twice[1-x]"/>
<testcase classname="tests.test_a" name="test_twice[1-x]"><error message="teardown"/></testcase>
</testsuite></testsuites>"""

UNITTEST = """test_bad (tests.test_a.TestA.test_bad) ... FAIL
test_good (tests.test_a.TestA.test_good)
It is good. ... ok
test_left (tests.test_a.TestA.test_left) ... skipped 'no'
test_loud (tests.test_a.TestA.test_loud) ... something printed
and more
ok
test_old (tests.test_a.TestA) ... ERROR
"""

PYTEST = """tests/test_a.py::test_good PASSED                        [ 50%]
tests/test_a.py::TestA::test_bad FAILED                  [100%]
FAILED tests/test_a.py::TestA::test_bad - assert 1 == 2
PASSED tests/test_a.py::test_other
"""


def test_junit_is_read_test_by_test() -> None:
    assert read_junit(JUNIT) == {"TestA.test_good": True, "TestA.test_bad": False, "test_a.test_twice[1-x]": False}


@pytest.mark.parametrize("report", [b"no xml", b'<!DOCTYPE x [<!ENTITY a "aa">]><testsuite/>', b"<testsuite>"])
def test_what_is_no_junit_is_refused(report: bytes) -> None:
    with pytest.raises(UnreadableReport):
        read_junit(report)


def test_what_unittest_prints_is_read() -> None:
    found = read_printed(UNITTEST)

    assert found == {"TestA.test_bad": False, "TestA.test_good": True, "TestA.test_loud": True, "TestA.test_old": False}


def test_what_pytest_prints_is_read() -> None:
    assert read_printed(PYTEST) == {"test_a.test_good": True, "TestA.test_bad": False, "test_a.test_other": True}


def test_wanted_tests_are_missing_unless_they_passed() -> None:
    results = {"TestA.test_good": True, "TestA.test_bad": False}

    assert missing(results, ("test_good", "TestA.test_good")) == []
    assert missing(results, ("test_bad", "test_none", "good")) == ["test_bad", "test_none", "good"]


def test_output_is_cleaned_and_the_same_again() -> None:
    shown = readable(b"\x1b[31mred\x1b[0m\r\nRan in 0.123s at 0x7f0012345678\x00 \xff in /tmp/tmpab12_x9z\n\n")

    assert shown == "red\nRan in _s at 0x_\ufffd \ufffd in /tmp/tmp_"


def test_what_ls_prints_is_the_same_again() -> None:
    shown = b"total 8\ndrwxr-xr-x 2 me me 4096 Dec  1 02:48 .\n-rw-r--r-- 1 me me 22 Nov 30  2025 a b\nDec  1 02:48 x"

    assert readable(shown).splitlines() == [
        *("total 8", "drwxr-xr-x 2 me me 4096 _ .", "-rw-r--r-- 1 me me 22 _ a b", "Dec  1 02:48 x")
    ]


def test_a_long_text_says_how_much_is_left_out() -> None:
    assert shortened("a" * 50 + "b" * 5000 + "c" * 50, 100) == f"{'a' * 50}\n… 5,000 characters left out …\n{'c' * 50}"


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", "import x\n\nclass A:\n    def f(self): ...\n\nasync def g(): ...\n", {"A": 3, "A.f": 4, "g": 6}),
        ("a.py", "def broken(:\n", {}),
        ("a.go", "package a\n\nfunc (s *Server) Start() {}\ntype Server struct {}\n", {"Start": 3, "Server": 4}),
        ("a.ts", "export default class Cart {}\nexport async function pay() {}\n", {"Cart": 1, "pay": 2}),
        ("a.rs", "pub(crate) fn run() {}\n", {}),
        ("a.rs", "pub fn run() {}\n", {"run": 1}),
        ("a.txt", "class of 1999\n", {}),
    ],
)
def test_definitions_are_found(path: str, text: str, found: dict[str, int]) -> None:
    assert definitions(path, text) == found
