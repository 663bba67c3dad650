"""A trained policy as the folder that ships: its adapter, its bank, and a card that says where it is from."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml

from ..evaluation.results import MethodResult, results
from ..experience.exchange.files import ExchangeFile
from ..experience.shown import RECALL_FORMAT
from ..experience.store import Store
from ..harness import OutsideFault, WrongUsage
from ..models.hashes import compute_sha256
from ..policies import ADAPTER, BANK, CARD
from .checkpoint import LOG, RunFolder, model_of
from .export import export_adapter

_LARGEST = 40_000_000
"""Bytes of an adapter that ships with the program."""


def write_policy(
    out: Path, folder: RunFolder, bank: Path, environment: str, what: str, evaluations: Sequence[Path]
) -> dict[str, Any]:
    """Write a policy's folder in place of the one that is at `out`, whole or not at all, and return its card.

    Raises NoRun, WrongUsage, CannotImport where the bank isn't one, and OutsideFault.
    """
    ExchangeFile(bank)
    recorded = folder.settings()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
    except OSError as error:
        raise OutsideFault(f"Expected to write {out}, found: {error.strerror or error}.") from error
    try:
        export_adapter(folder, made / ADAPTER)
        if (size := (made / ADAPTER).stat().st_size) > _LARGEST:
            raise WrongUsage(f"Expected an adapter of at most {_LARGEST:,} bytes, found {size:,}: train a lower rank.")
        shutil.copyfile(bank, made / BANK)
        card = {
            "what": what,
            "environment": environment,
            "model": model_of(recorded),
            "base_sha256": recorded["files"]["model"],
            "adapter_sha256": compute_sha256(made / ADAPTER),
            "bank_sha256": compute_sha256(made / BANK),
            "format": recorded["format"],
            "recall_format": RECALL_FORMAT,
            "recipe": _recipe(folder),
            "results": [result for path in evaluations for result in _results(path)],
        }
        text = yaml.safe_dump(card, sort_keys=False, allow_unicode=True, width=120)
        (made / CARD).write_text(text, encoding="utf-8")
        made.chmod(0o755)
        if out.exists():
            shutil.rmtree(out)
        made.rename(out)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return card


def _recipe(folder: RunFolder) -> list[dict[str, Any]]:
    """Return what was done, stage by stage, the first one first."""
    recorded = folder.settings()
    kind = "sft" if "sft" in recorded else "rl"
    settings: dict[str, Any] = dict(recorded[kind])
    stages: list[dict[str, Any]] = list(recorded["recipe"])
    if (before := settings.pop("start", None)) and (Path(before) / "settings.json").exists():
        stages = _recipe(RunFolder(Path(before)))
    for path, digest in zip(
        settings.pop("demonstrations", ()), recorded["files"].get("demonstrations", ()), strict=True
    ):
        if (told := Path(f"{path}.card.json")).exists():
            card = json.loads(told.read_text(encoding="utf-8"))
            stage = next((kind for kind in ("corrections", "best") if kind in card), "demos")
            if "tasks" in card:
                card["tasks"] = [_without_place(task) for task in card["tasks"]]
            stages.append({"stage": stage, **card, "sha256": digest})
    log = [json.loads(line) for line in (folder.path / LOG).read_text(encoding="utf-8").splitlines()]
    updates = [line for line in log if "update" in line and not line.get("validation")]
    hours = round(sum(_seconds(line) for line in updates) / 3600, 2)
    kept = {key: value for key, value in settings.items() if key not in ("model", "validation")}
    stages.append({"stage": kind, "updates": len(updates), "hours": hours, "machine": recorded["machine"], **kept})
    return stages


def _without_place(task: str) -> str:
    """Return what played games were asked for, without the folder that they are in on the machine of the training."""
    return Path(task).name if Path(task).is_absolute() else task


def _seconds(line: dict[str, Any]) -> float:
    """Return how long an update took; one of reinforcement learning tells it by part."""
    seconds = line.get("seconds", 0.0)
    return float(sum(seconds.values()) if isinstance(seconds, dict) else seconds)


def _results(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        raise WrongUsage(f"Expected the store of an evaluation, found no {path}.")
    with closing(Store.open(path)) as store:
        found, _ = results(store)
        names = [row["task"] for row in store.rows("SELECT task FROM episodes")]
    tasks = sorted({name.rpartition("/")[0] or name for name in names})
    return [_result(each, ", ".join(tasks)) for each in found]


def _result(found: MethodResult, tasks: str) -> dict[str, Any]:
    return {
        "tasks": tasks,
        "method": found.method,
        "decode": found.played_as["decode"],
        "bank": found.played_as["bank"]["name"],
        "n": found.n,
        "of": found.of,
        "won": found.successes,
        "success_rate": round(found.success_rate, 4),
        "interval": [round(found.ci_low, 4), round(found.ci_high, 4)],
        "by_type": {kind: f"{rate.successes} of {rate.n}" for kind, rate in found.by_type.items()},
        "steps": round(found.steps_mean, 2),
        "calls": {verb: round(mean, 2) for verb, mean in found.calls_by_verb.items()},
        "invalid": round(found.invalid_mean, 2),
    }
