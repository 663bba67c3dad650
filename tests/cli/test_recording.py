"""The picture of a run in the README is made by a script that works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from commands import ORACLE, ROOT

SVG = "{http://www.w3.org/2000/svg}"


def test_a_run_is_recorded_step_by_step(tmp_path: Path) -> None:
    out = tmp_path / "recording.svg"
    command = [sys.executable, "docs/record.py", "--task", "put-cd", "--model", f"scripted:{ORACLE}", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    picture = ElementTree.parse(out).getroot()
    frames = [
        " ".join("".join(group.itertext()).split())
        for group in picture.iter(f"{SVG}g")
        if "frame" in group.attrib.get("class", "")
    ]

    # One before each of the nine steps, one after the last, and the end.
    assert [int(found[1]) for frame in frames if (found := re.search(r"step (\d) of 50", frame))] == list(range(1, 10))
    assert "plan: find cd | take cd | put cd in drawer. now: find cd" in frames[2]
    assert "✓ find cd (done)" in frames[5]
    assert "put-cd: won 9 steps" in frames[-1]
    # It moves by itself, and fetches nothing.
    assert len(set(re.findall(r"animation-name: (\w+)", out.read_text()))) == len(frames)
    assert not re.search("https?://(?!www.w3.org/2000/svg)|<script|@import|url[(]", out.read_text())
