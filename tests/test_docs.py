"""What the documents show is what the program takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from evoharness_cli.cli.app import app

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^ {4}(evoharness [^#\n]*)|`(evoharness [^`]+)`", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_and_options_shown_exist(document: Path) -> None:
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for match in COMMAND.finditer(document.read_text(encoding="utf-8")):
        _, *words = (match[1] or match[2]).split()
        path = []
        level = known
        for word in words:
            if not level or word.startswith("--"):
                break
            assert word in level, f"no such command: {match[0].strip()}"
            path.append(word)
            level = getattr(level[word], "commands", {})
        shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"}).stdout
        for option in re.findall(r"--[\w-]+", " ".join(words)):
            assert option in shown, match[0]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_files_linked_to_are_there(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def test_the_architecture_names_every_dependency_and_module() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    dependencies = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    assert dependencies
    for name in re.findall(r'"([\w-]+)', dependencies[1]):
        assert f"| {name} |" in text
    for folder in (ROOT / "evoharness_cli").iterdir():
        if folder.is_dir() and (folder / "__init__.py").exists():
            assert f"{folder.name}/" in text
