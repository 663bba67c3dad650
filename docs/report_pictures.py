"""Makes the pictures of the report's page.

    python docs/report_pictures.py [--training FOLDER]

Plays and compares the sample games by a script of replies, writes the reports, and takes pictures of them in Chromium;
with the folder of a training run, of that as well. It takes playwright (pip) and Chromium (apt-get install chromium).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).parent
SCRIPT = f"scripted:{DOCS.parent / 'tests' / 'scripts' / 'alfworld-oracle.yaml'}"
METHODS = ("bpe", "bpe,steps=12", "react,steps=10")
DESK, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}


def main() -> None:
    """Play, write and picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--training", type=Path)
    training = parser.parse_args().training
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as browsers:
        work = Path(folder)
        for _ in range(3):
            evoharness(work, "run", "alfworld", "--model", SCRIPT, "--json")
        compared = [part for method in METHODS for part in ("--method", method)]
        evoharness(work, "eval", "alfworld", "--model", SCRIPT, *compared, "--out", "compared.db", "--json")
        evoharness(work, "report", "--out", "store.html")
        evoharness(work, "report", "compared.db")
        chromium = shutil.which("chromium")
        with closing(browsers.chromium.launch(executable_path=chromium)) as browser:
            picture(opened(browser, work / "compared.html", DESK), "report-evaluation.png")
            page = opened(browser, work / "store.html", DESK, "#episode=18", dark=True)
            read_on(page)
            picture(page, "report-trajectory.png")
            page = opened(browser, work / "store.html", PHONE, "#episode=18")
            read_on(page)
            picture(page, "report-phone.png")
            if training:
                evoharness(work, "report", training.resolve(), "--out", "training.html")
                picture(opened(browser, work / "training.html", {**DESK, "height": 620}), "report-training.png")


def evoharness(folder: Path, *arguments: object) -> None:
    """Run a command in a folder, with a store there."""
    command = [sys.executable, "-m", "evoharness_cli", *map(str, arguments)]
    kept = {**os.environ, "EVOHARNESS_DB": str(folder / "experience.db")}
    subprocess.run(command, check=True, cwd=folder, env=kept, stdout=subprocess.DEVNULL)


def opened(browser: Browser, path: Path, size: dict[str, int], at: str = "", *, dark: bool = False) -> Page:
    """Open a page, light or dark."""
    page = browser.new_page(viewport=size, color_scheme="dark" if dark else "light")
    page.goto(path.as_uri() + at)
    return page


def read_on(page: Page) -> None:
    """Go on to the third step of the episode that is open."""
    page.wait_for_selector(".step")
    for _ in range(4):
        page.keyboard.press("ArrowDown")


def picture(page: Page, name: str) -> None:
    """Write what is in view."""
    page.screenshot(path=DOCS / name)


if __name__ == "__main__":
    main()
