"""Files below a folder: what leads out of it is refused, and what is written is whole."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from evoharness_cli.environments.workspace.files import LARGEST, Files, Unusable, relative
from evoharness_cli.environments.workspace.searching import MOST, Hit, _by_hand, _by_ripgrep, search


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "sub" / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret").write_text("secret")
    return Files(tmp_path / "in")


@pytest.mark.parametrize(
    ("path", "within"), [(".", ""), ("./a//b", "a/b"), ("/workspace/a", "a"), ("/workspace", ""), (" a b ", "a b")]
)
def test_paths_are_those_of_the_repository(path: str, within: str) -> None:
    assert relative(path) == within


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../../x", ".git/config", "a/.GIT", "/workspacex", "a\0b", "a\nb"]
)
def test_other_paths_are_refused(path: str) -> None:
    with pytest.raises(Unusable):
        relative(path)


def test_links_are_not_followed(files: Files, tmp_path: Path) -> None:
    (files.root / "file").symlink_to(tmp_path / "out" / "secret")
    (files.root / "folder").symlink_to(tmp_path / "out")

    for attempt in (
        lambda: files.read("file"),
        lambda: files.read("folder/secret"),
        lambda: files.listed("folder"),
        lambda: files.write("file", b"x"),
        lambda: files.write("folder/new", b"x"),
    ):
        with pytest.raises(Unusable, match="is a link"):
            attempt()
    assert (tmp_path / "out" / "secret").read_text() == "secret"
    assert [path for path, _ in files.all()] == ["file", "folder", "sub/a.txt"]


def test_a_hard_link_elsewhere_is_not_written_through(files: Files, tmp_path: Path) -> None:
    os.link(tmp_path / "out" / "secret", files.root / "hard")

    files.write("hard", b"mine")

    assert (tmp_path / "out" / "secret").read_text() == "secret"
    assert files.read("hard") == b"mine"


def test_what_is_written_keeps_its_mode_and_leaves_nothing_beside(files: Files) -> None:
    (files.root / "run.sh").write_text("old")
    (files.root / "run.sh").chmod(0o755)

    files.write("run.sh", b"new")
    files.write("made/for/it.txt", b"text")

    assert (files.root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert files.text("made/for/it.txt") == "text"
    assert sorted(path for path, _ in files.all()) == ["made/for/it.txt", "run.sh", "sub/a.txt"]


def test_what_is_no_text_file_says_so(files: Files) -> None:
    os.mkfifo(files.root / "pipe")
    (files.root / "binary").write_bytes(b"\0")
    (files.root / "large").touch()
    os.truncate(files.root / "large", LARGEST + 1)

    for path, why in {
        "pipe": "no plain file",
        "sub": "a folder",
        "binary": "not a text file",
        "large": "10,485,761 bytes",
        "none": "there is no none",
        "sub/a.txt/x": "over a file",
    }.items():
        with pytest.raises(Unusable, match=why):
            files.text(path)


def test_searching_finds_lines_letter_by_letter(files: Files) -> None:
    (files.root / "b.py").write_text("x = 'o(n)e'\n")
    (files.root / "sub-b").write_text("o(n)e\n")
    (files.root / ".hidden").write_text("o(n)e")

    expected = [Hit(".hidden", 1, "o(n)e"), Hit("b.py", 1, "x = 'o(n)e'"), Hit("sub-b", 1, "o(n)e")]
    assert search(files, "o(n)e") == expected
    assert _by_hand(files, "o(n)e") == expected
    assert search(files, "O(N)E") == []


def test_ripgrep_and_python_find_the_same(files: Files) -> None:
    program = shutil.which("rg")
    if program is None:
        pytest.skip("ripgrep is not installed")
    for name in ("z/1", "z.py", "z-x/y/2", "a/b", "sub/c", "-e", ".git/x"):
        (files.root / name).parent.mkdir(exist_ok=True, parents=True)
        (files.root / name).write_text("one\nnone\r\n \tone: two\nONE\n")

    assert _by_ripgrep(program, files, "one") == _by_hand(files, "one")


def test_one_more_line_is_found_than_is_shown(files: Files) -> None:
    (files.root / "many").write_text("same\n" * 500)

    assert len(search(files, "same")) == MOST + 1
