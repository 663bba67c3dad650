"""How long a report of ten thousand episodes takes to write and to open, and how large it is.

    python -m benchmarks.report [--episodes 10000] [--work build/report]

Makes the store of an evaluation of five methods: rows as an untrained model leaves them, 8 to 50 steps an episode in
rooms drawn at random, and two thousand entries with votes. Then `evoharness report` writes it, as a process of its own.
Where playwright is installed and Chromium is on the path, the page is opened there, three times: until its list can be
used, and from a click until an episode's steps are there. Beside the time by the clock stands that of the processor
(of the page, its main thread's), which other work on the machine changes less. The last line is JSON.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from evoharness_cli.experience import journal
from evoharness_cli.experience.step_rows import ADD_STEP, row_of
from evoharness_cli.experience.store import Store, utc_now
from evoharness_cli.harness import Brief, Fact, Step
from evoharness_cli.runs.play import start
from evoharness_cli.runs.settings import Method, RunSettings
from evoharness_cli.runs.task import Task

METHODS = (Method.REACT, Method.BPE, Method.PANELS, Method.NO_BELIEF, Method.NO_EXPERIENCE)
KINDS = ("look_at_obj_in_light", "pick_and_place_simple", "pick_clean_then_place", "pick_heat_then_place")
THINGS = ("apple", "book", "bread", "cd", "cup", "egg", "fork", "kettle", "knife", "lettuce", "mug", "pan", "pencil")
PLACES = ("cabinet", "countertop", "desk", "diningtable", "drawer", "fridge", "shelf", "sidetable", "stoveburner")
ENTRIES, OPENINGS = 2_000, 3
LIMITS = {"steps": 50, "format_errors": 10, "reply_tokens": 256}


def main() -> None:
    """Make, write, open, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--work", type=Path, default=Path("build/report"))
    given = parser.parse_args()
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    store, page = given.work / "evaluation.db", given.work / "evaluation.html"
    steps = make(store, given.episodes)
    print(f"{given.episodes:,} episodes with {steps:,} steps, {store.stat().st_size / 1e6:.0f} MB")
    began = time.perf_counter()
    command = [sys.executable, "-m", "evoharness_cli", "report", str(store), "--out", str(page)]
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3
    megabytes = page.stat().st_size / 1e6
    print(f"written in {seconds:.1f} s, {cpu:.1f} of the processor; {megabytes:.1f} MB, with {memory:.0f} MB of memory")
    figures = {"episodes": given.episodes, "steps": steps}
    figures |= {"write_seconds": round(seconds, 1), "write_cpu_seconds": round(cpu, 1)}
    print(json.dumps({**figures, "megabytes": round(megabytes, 1), "memory_megabytes": round(memory), **opening(page)}))


def make(path: Path, episodes: int) -> int:
    """Make the store of an evaluation that has ended; return how many steps it holds."""
    rng, games = random.Random(0), episodes // len(METHODS)
    kinds = [rng.choice(KINDS) for _ in range(games)]
    tasks = [Task(f"{kind}/{number}", "benchmark", "alfworld", {}) for number, kind in enumerate(kinds)]
    settled = [Task(**{**vars(task), "limits": LIMITS, "decode": "grammar"}) for task in tasks]
    made = 0
    with closing(Store.open(path)) as store, store.transaction():
        for method in METHODS:
            settings = RunSettings("smollm2-135m", method=method, label=method.value, learn=False)
            run = start(store, settled, settings, {"sha256": "0" * 64, "engine": "llama.cpp"})
            for number, task in enumerate(settled):
                brief = Brief(
                    f"put some {rng.choice(THINGS)} on {rng.choice(PLACES)}.", kinds[number], f"{number:032x}"
                )
                stated = settings.stated(task)
                episode = journal.begin_episode(
                    store, run, number, task.name, "benchmark", "alfworld", brief, "alfworld", stated
                )
                count = rng.randint(8, 50)
                rows = [[episode, *row_of(step), utc_now()] for step in played(rng, method, count)]
                store.write_many(ADD_STEP, rows)
                ended = [utc_now(), "won" if count < 50 and rng.random() < 0.4 else "out of steps"]
                store.write(
                    "UPDATE episodes SET finished = ?1, outcome = ?2, success = (?2 = 'won') WHERE id = ?3",
                    [*ended, episode],
                )
                made += count
            journal.finish_run(store, run, "finished")
        learnt(store, rng, episodes)
    return made


def played(rng: random.Random, method: Method, count: int) -> Iterator[Step]:
    """Yield the steps of an episode in a room of its own: what is where is drawn."""
    places = [f"{rng.choice(PLACES)} {number}" for number in range(1, 25)]
    seen = ", ".join(f"a {place}" for place in places)
    facts = tuple(Fact(place, "searched", "no") for place in places)
    yield Step(
        0, "environment", f"You are in the middle of a room. Looking quickly around you, you see {seen}.", facts=facts
    )
    verbs = ["recall", "commit", "track", "note"] if method.parts else []
    for number in range(1, count + 1):
        place, things = (
            rng.choice(places),
            [f"{rng.choice(THINGS)} {rng.randint(1, 4)}" for _ in range(rng.randint(1, 6))],
        )
        kind, action, facts, recalled = "environment", f"go to {place}", tuple[Fact, ...](), tuple[int, ...]()
        listed = ", ".join(f"a {thing}" for thing in things)
        observation = f"You arrive at {place}. On the {place}, you see {listed}."
        if verbs and rng.random() < 0.2:
            kind = rng.choice(verbs)
            action, observation = f"{kind} [{things[0]}]", f"{things[0]} at {place} (step {number})"
            if kind == "commit":
                action, observation = (
                    f"commit [find {things[0]} | take {things[0]}]",
                    f"plan: find. now: find {things[0]}",
                )
            if kind == "recall":
                recalled = tuple(rng.sample(range(1, ENTRIES), 3))
                observation = "\n".join(f'[{each}] note: "the {things[0]} is in {place}"' for each in recalled)
        else:
            facts = (Fact(place, "searched", "yes"), *(Fact(thing, "at", place) for thing in things))
        yield Step(
            number, kind, observation, action, action=action, charged=True, facts=facts, recalled=recalled,
            prompt_tokens=400 + 60 * number, completion_tokens=8, evaluated_tokens=60,
            model_seconds=rng.uniform(0.1, 2), environment_seconds=0.0007, harness_seconds=0.002,
        )  # fmt: skip


def learnt(store: Store, rng: random.Random, episodes: int) -> None:
    """Add entries, and what episodes said of them."""
    for number in range(1, ENTRIES + 1):
        text = f"the {rng.choice(THINGS)} is in {rng.choice(PLACES)} {number}"
        helped, hurt = rng.uniform(0, 3), rng.uniform(0, 2)
        store.write(
            "INSERT INTO entries (kind, scope, text, trust, status, helped, hurt, created, confirmed, because, normal, "
            "words) VALUES ('note', 'alfworld', ?1, 'agent', 'active', ?2, ?3, ?4, ?4, '', ?1, ?1)",
            [text, helped, hurt, utc_now()],
        )
        for kind, detail in (("noted", {}), ("helped", {"vote": helped}), ("hurt", {"vote": -hurt})):
            store.write(
                "INSERT INTO events (at, kind, entry, episode, step, detail) VALUES (?, ?, ?, ?, 1, ?)",
                [utc_now(), kind, number, rng.randint(1, episodes), json.dumps(detail)],
            )


def opening(page: Path) -> dict[str, float]:
    """Return the seconds until the page can be used and until an episode is shown, none without a browser."""
    chromium = shutil.which("chromium")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        print("not opened: it takes playwright (pip) and Chromium (apt-get install chromium)")
        return {}
    from playwright.sync_api import sync_playwright

    ready, cpu, shown = [], [], []
    with sync_playwright() as browsers:
        for _ in range(OPENINGS):
            with closing(browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])) as browser:
                tab = browser.new_page()
                inside = tab.context.new_cdp_session(tab)
                inside.send("Performance.enable", {"timeDomain": "threadTicks"})
                tab.goto(page.resolve().as_uri(), wait_until="commit")
                tab.wait_for_selector("html[data-ready] .row")
                ready.append(float(tab.get_attribute("html", "data-ready") or 0) / 1000)
                metrics = {each["name"]: each["value"] for each in inside.send("Performance.getMetrics")["metrics"]}
                cpu.append(metrics["TaskDuration"])
                began = time.perf_counter()
                tab.click(".row >> nth=3")
                tab.wait_for_selector(".step")
                shown.append(time.perf_counter() - began)
    taken = {"open_seconds": ready, "open_cpu_seconds": cpu, "episode_seconds": shown}
    figures = {name: round(statistics.median(values), 2) for name, values in taken.items()}
    print("usable after {open_seconds} s, {open_cpu_seconds} of the processor".format(**figures))
    print("an episode shown after {episode_seconds} s".format(**figures))
    return figures


if __name__ == "__main__":
    main()
