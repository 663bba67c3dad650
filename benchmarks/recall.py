"""Recall's answers to labelled questions, how fast it gives them, and the same of what else could give them.

    python -m benchmarks.recall [--calibrate] [--scale N] [--only-quality]

The questions and how they were made: `benchmarks/recall_queries/README.md`. Every contender answers with five entries
at most, out of those that may be recalled where the question is asked, and with nothing below its floor. Each floor is
the one with the best F1 on the calibration half (ours is a constant of the code, and `--calibrate` finds it again);
every figure of quality comes from the test half. Contenders that aren't installed are named and left out. A time is the
best of three, which leaves out most of what other processes took meanwhile.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.ranking import FLOOR
from evoharness_cli.experience.recall import render, search
from evoharness_cli.experience.store import Store, utc_now
from evoharness_cli.experience.words import indexed, wording

from .recall_data import SHOWN, Item, Marks, Question, Ranked, best_floor, mark, read_bank, read_questions
from .recall_rivals import RIVALS, Bm25, open_mem0

SIZES = (10_000, 100_000)
TIMED_SEARCHES, TIMED_NOTES, TIMED_RIVAL = 400, 200, 60


class Taken(NamedTuple):
    """What something took, in milliseconds; on a busy machine the processor's time tells more."""

    wall: float
    cpu: float


def main() -> None:
    """Print the figures as a table and as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibrate", action="store_true", help="find our floor on the calibration half, and stop")
    parser.add_argument("--scale", type=int, action="append", default=[], help="also time a store of so many entries")
    parser.add_argument("--only-quality", action="store_true", help="time nothing")
    options = parser.parse_args()
    bank, questions = read_bank(), read_questions()
    if options.calibrate:
        calibrate(bank, questions)
        return
    figures = quality(bank, questions)
    if not options.only_quality:
        figures |= speed(bank, questions, [*SIZES, *options.scale])
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}))


def calibrate(bank: Sequence[Item], questions: Sequence[Question]) -> None:
    """Print how each floor does on the calibration half, and the best."""
    half = [each for each in questions if each.half == "calibration"]
    with _ours(bank) as answer:
        by_floor = {each / 100: mark(half, partial(answer, floor=each / 100), 0) for each in range(10, 61, 2)}
    for floor, marks in by_floor.items():
        print(f"floor {floor:.2f}  {_said(marks)}")
    best = max(marks.f1 for marks in by_floor.values())
    within = [floor for floor, marks in by_floor.items() if marks.f1 > best - 0.005]
    print(f"FLOOR is {FLOOR}; within 0.005 of the best F1: {', '.join(f'{floor:.2f}' for floor in within)}")


def quality(bank: Sequence[Item], questions: Sequence[Question]) -> dict[str, float]:
    """Return F1 and the share of rightly empty answers of every contender on the test half."""
    calibration = [each for each in questions if each.half == "calibration"]
    test = [each for each in questions if each.half == "test"]
    unfit = sum(not each.right for each in test)
    print(f"{len(bank)} entries; {len(test)} questions in the test half, nothing fits {unfit} of them")
    with _ours(bank) as answer:
        ours = mark(test, lambda question: answer(question, FLOOR), 0)
    print(f"{'ours':<20} floor {FLOOR:.2f}  {_said(ours)}")
    figures = {"f1": ours.f1, "empty_right": ours.empty_right}
    for rival in RIVALS:
        try:
            made = rival(bank)
        except ImportError as error:
            print(f"{rival.name:<20} is left out: {error}")
            continue
        answers = {question: made.answer(question) for question in questions}
        floor = best_floor(calibration, answers.__getitem__)
        marks = mark(test, answers.__getitem__, floor)
        print(f"{rival.name:<20} floor {floor:.2f}  {_said(marks)}")
        figures |= {f"f1_{rival.name}": marks.f1, f"empty_right_{rival.name}": marks.empty_right}
        if rival is Bm25:
            bare = mark(test, answers.__getitem__, float("-inf"))
            print(f"{'bm25 without floor':<20} floor  none {_said(bare)}")
    return figures


def speed(bank: Sequence[Item], questions: Sequence[Question], sizes: Sequence[int]) -> dict[str, float]:
    """Return the time of a recall (95th percentile) at each size and of a note at the first, in ms."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            with closing(Store.open(Path(folder) / f"{size}.db")) as store:
                fill(store, bank, size)
                asked = random.Random(1).choices(questions, k=TIMED_SEARCHES)
                times = [_milliseconds(partial(_recall, store, each)) for each in asked]
                figures[f"p95_ms_{size // 1000}k"], figures[f"cpu_p95_ms_{size // 1000}k"] = _p95(times)
                print(f"recall at {size:,}: {_in_words(times)}")
                rng = random.Random(2)
                texts = [_sentence(rng, bank) for _ in range(TIMED_NOTES)]
                notes = [_milliseconds(partial(add_entry, store, "note", text, "alfworld"), 1) for text in texts]
                figures = {"note_ms": _p95(notes).wall, "cpu_note_ms": _p95(notes).cpu} | figures
                print(f"note at {size:,}: {_in_words(notes)}")
    try:
        times = _time_mem0(bank, questions)
        figures["p95_ms_10k_mem0"], figures["cpu_p95_ms_10k_mem0"] = _p95(times)
        print(f"mem0 at 10,000: {_in_words(times)}")
    except ImportError as error:
        print(f"mem0 is left out: {error}")
    return figures


def fill(store: Store, bank: Sequence[Item], size: int) -> None:
    """Make a store of so many entries: the bank, and sentences of its words and of invented ones by Zipf's law."""
    rng = random.Random(0)
    for each in bank:
        add_entry(store, each.kind, each.text, each.scope, each.when, each.world)
    scopes = [("alfworld", None), ("alfworld", "house-a"), ("software/orders", None), ("compliance", None)]
    now = utc_now()
    for begin in range(len(bank), size, 5000):
        rows = []
        for _ in range(min(5000, size - begin)):
            text = _sentence(rng, bank)
            scope, world = rng.choices(scopes, (60, 5, 20, 15))[0]
            rows.append([scope, world, text, now, now, wording(text).normal, indexed(text)])
        store.write_many(
            "INSERT INTO entries (kind, scope, world, text, trust, status, created, confirmed, because, normal, words) "
            "VALUES ('note', ?, ?, ?, 'agent', 'active', ?, ?, '', ?, ?)",
            rows,
        )


@contextmanager
def _ours(bank: Sequence[Item]) -> Iterator[Callable[..., Ranked]]:
    """Keep the bank in a store and answer from it."""
    with tempfile.TemporaryDirectory() as folder, closing(Store.open(Path(folder) / "bank.db")) as store:
        names = {
            add_entry(store, each.kind, each.text, each.scope, each.when, each.world)[0].id: each.id for each in bank
        }

        def answer(question: Question, floor: float) -> Ranked:
            known = search(store, question.text, question.scope, question.world, floor=floor, limit=SHOWN)
            return [(names[each.entry.id], each.score) for each in known.entries]

        yield answer


def _recall(store: Store, question: Question) -> str:
    return render(search(store, question.text, question.scope, question.world)).text


def _time_mem0(bank: Sequence[Item], questions: Sequence[Question]) -> list[Taken]:
    """Time mem0's search among 10,000; the vectors beside the bank's are random, which takes a search as long."""
    import numpy as np

    memory = open_mem0()
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((10_000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = random.Random(0)
    payloads = [{"data": _sentence(texts, bank), "user_id": "alfworld|"} for _ in vectors]
    memory.vector_store.insert(vectors.tolist(), payloads, [str(uuid.uuid4()) for _ in vectors])
    asked = random.Random(1).choices(questions, k=TIMED_RIVAL)
    filters = {"user_id": "alfworld|"}
    return [_milliseconds(partial(memory.search, each.text, filters=filters, top_k=SHOWN)) for each in asked]


_VOCABULARY: list[str] = []


def _sentence(rng: random.Random, bank: Sequence[Item]) -> str:
    """Return a sentence whose words are the bank's and 4,000 invented ones, the n-th as frequent as 1 / (n + 20)."""
    if not _VOCABULARY:
        made = random.Random(3)
        known = sorted({word for each in bank for word in each.said.split() if word.isalpha()})
        made.shuffle(known)
        invented = [
            "".join(made.choices(("ba", "ro", "ti", "ku", "len", "mas", "pi", "vor"), k=3)) for _ in range(4000)
        ]
        mixed = known + invented[: len(known)]
        made.shuffle(mixed)
        _VOCABULARY.extend(mixed + invented[len(known) :])
        _WEIGHTS.extend(1 / (place + 20) for place in range(len(_VOCABULARY)))
    return " ".join(rng.choices(_VOCABULARY, _WEIGHTS, k=rng.randint(8, 16)))


_WEIGHTS: list[float] = []


def _milliseconds(do: Callable[[], object], times: int = 3) -> Taken:
    taken = []
    for _ in range(times):
        begun, worked = time.perf_counter(), time.thread_time()
        do()
        taken.append(Taken((time.perf_counter() - begun) * 1000, (time.thread_time() - worked) * 1000))
    return min(taken)


def _p95(times: Sequence[Taken]) -> Taken:
    """Return the 95th percentiles, of each time by itself."""
    return Taken(*(sorted(each)[int(len(times) * 0.95)] for each in zip(*times, strict=True)))


def _in_words(times: Sequence[Taken]) -> str:
    wall, cpu = _p95(times)
    median = sorted(times)[len(times) // 2].wall
    return f"median {median:.2f} ms, p95 {wall:.2f} ms, p95 of the processor's time {cpu:.2f} ms"


def _said(marks: Marks) -> str:
    return (
        f"F1 {marks.f1:.3f}  precision {marks.precision:.3f}  recall {marks.recall:.3f}  "
        f"rightly empty {marks.empty_right:.3f}"
    )


if __name__ == "__main__":
    main()
