"""How long it takes to consolidate a hundred thousand entries, and whether only what says the same is merged.

    python -m benchmarks.consolidation [--entries 100000] [--seed 0]

A third of the entries say in other words or spelling what another entry says. The rest are all distinct, among them
many that differ from another entry in a number, a negation, an order, a place, or one word. The store lies on disk;
another process notes all the while, and none of its notes may wait for long or be lost. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from evoharness_cli.experience.drafts import draft_entry
from evoharness_cli.experience.noting import insert
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep.consolidate import consolidate, undo

THINGS_LISTED = """
    mug plate kettle spoon bottle box book lamp pillow knife pan towel clock vase candle laptop phone wallet
    tray basket brush bucket radio mirror carpet ladder hammer needle ribbon button
"""
PLACES_LISTED = """
    shelf drawer cabinet fridge desk sink table sofa bed oven basket counter bench closet locker crate chest
    balcony garage cellar attic hallway pantry porch studio
"""
VERBS_LISTED = """
    wash dry heat cool carry stack wrap count weigh label repair polish inspect measure paint sort pack hide
    borrow return fold
"""
ADJECTIVES_LISTED = """
    red blue green small large old new wooden metal plastic broken heavy light clean dirty round square tall
    short striped
"""

THINGS, PLACES, VERBS, ADJECTIVES = (
    tuple(listed.split()) for listed in (THINGS_LISTED, PLACES_LISTED, VERBS_LISTED, ADJECTIVES_LISTED)
)

NOTER = """
import sys, time
from pathlib import Path
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.store import Store
slowest, noted = 0.0, 0
with Store.open(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    while not Path(sys.argv[2]).exists():
        began = time.perf_counter()
        add_entry(store, "note", f"visitor number {noted} rang twice", "visits")
        slowest, noted = max(slowest, time.perf_counter() - began), noted + 1
        time.sleep(0.05)
print(noted, slowest)
"""


def main() -> None:
    """Fill a store, consolidate it, and compare with what was meant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "experience.db"
        with Store.open(path) as store:
            family = fill(store, options.entries, random.Random(options.seed))
            print(f"{len(family)} entries, of which {len(set(family.values()))} are distinct", file=sys.stderr)
            stop = Path(folder) / "stop"
            with subprocess.Popen(
                [sys.executable, "-c", NOTER, str(path), str(stop)], stdout=subprocess.PIPE, text=True
            ) as noter:
                assert noter.stdout is not None
                noter.stdout.readline()
                began, used = time.perf_counter(), time.process_time()
                try:
                    done = consolidate(store)
                finally:
                    stop.touch()
                seconds, used = time.perf_counter() - began, time.process_time() - used
                noted, slowest = noter.stdout.read().split()
            judged = judge(store, family)
            again = time.perf_counter()
            assert consolidate(store).merged == 0
            idle = time.perf_counter() - again
            assert undo(store)[1] == done.merged
            active = store.number("SELECT count(*) FROM entries WHERE status = 'active' AND scope != 'visits'")
            report: dict[str, float] = {
                "entries": len(family),
                "seconds": round(seconds, 1),
                "cpu_seconds": round(used, 1),
                "seconds_again": round(idle, 1),
                "merged": done.merged,
                **judged,
                "noted_meanwhile": int(noted),
                "lost_notes": int(noted) - store.number("SELECT count(*) FROM entries WHERE scope = 'visits'"),
                "slowest_note_s": round(float(slowest), 3),
                "undone": active == len(family),
                "sound": health(store).sound,
            }
    for name, value in report.items():
        print(f"{name:<18} {value}")
    print(json.dumps(report))


def fill(store: Store, count: int, rng: random.Random) -> dict[int, str]:
    """Add so many entries, a third of them said before; return what each says, by its number."""
    family: dict[int, str] = {}
    meanings = distinct(rng)
    while len(family) < count:
        with store.transaction():
            for _ in range(1000):
                text = next(meanings)
                family[insert(store, draft_entry("note", text, "alfworld"))] = text
                if rng.random() < 0.5 and len(family) < count:
                    family[insert(store, draft_entry("note", reworded(text, rng), "alfworld"))] = text
                if len(family) >= count:
                    break
    return family


def distinct(rng: random.Random) -> Iterator[str]:
    """Yield texts of which no two say the same, many of them only just."""
    seen: set[str] = set()
    while True:
        thing, other, place, verb = rng.choice(THINGS), rng.choice(THINGS), rng.choice(PLACES), rng.choice(VERBS)
        adjective, further, number = rng.choice(ADJECTIVES), rng.choice(PLACES), rng.randrange(1, 9)
        texts = [
            f"{verb} the {adjective} {thing} beside the {place} {number} and the {other}",
            f"never {verb} the {adjective} {thing} beside the {place} {number} and the {other}",
            f"{verb} the {adjective} {thing} before the {other} beside the {place} {number}",
            f"{verb} the {adjective} {thing} carried from the {place} to the {further}",
            f"{verb} the {adjective} {thing} carried from the {further} to the {place}",
        ]
        for text in texts:
            if text not in seen and thing != other and place != further:
                seen.add(text)
                yield text


def reworded(text: str, rng: random.Random) -> str:
    """Say the same with other articles, case, punctuation or plural, or with one word more."""
    way = rng.randrange(4)
    if way == 0:
        return text.replace("the ", "a ").capitalize() + "!"
    if way == 1:
        return text.replace(" the ", " ").upper()
    if way == 2:
        return text.replace("the ", "the very ", 1)
    return f"{text}."


def judge(store: Store, family: dict[int, str]) -> dict[str, int]:
    """Count distinct meanings that no active entry holds any more, and entries that still say what another says."""
    rows = store.rows("SELECT id FROM entries WHERE status = 'active'")
    left = [family[row["id"]] for row in rows if row["id"] in family]
    lost = set(family.values()) - set(left)
    wrong = 0
    for row in store.rows("SELECT id, superseded_by FROM entries WHERE status = 'superseded'"):
        wrong += row["id"] in family and family[row["id"]] != family[row["superseded_by"]]
    return {
        "distinct": len(set(family.values())),
        "distinct_lost": len(lost),
        "wrongly_merged": wrong,
        "left_apart": len(left) - len(set(left)),
    }


if __name__ == "__main__":
    main()
