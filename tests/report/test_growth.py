"""What became of entries is counted as it stands now, whatever was undone or summed up on the way."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from report_reading import named, table

from evoharness_cli.experience.drafts import draft_entry
from evoharness_cli.experience.entries import record_event
from evoharness_cli.experience.noting import add_entry, insert
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep import consolidate, prune
from evoharness_cli.experience.upkeep.prune import Policy
from evoharness_cli.report import opened


@pytest.fixture
def store(learnt: Path, tmp_path: Path) -> Path:
    """A store in which entries were merged and pruned after its episodes; one pruning was undone."""
    path = tmp_path / "grown.db"
    shutil.copy(learnt, path)
    with named(path)() as grown:
        for text in ("open the fridge first", "open fridge first", "Open the fridge first!"):
            insert(grown, draft_entry("skill", text, "alfworld"))
        bad, _ = add_entry(grown, "skill", "jump out of every window", "alfworld")
        grown.write("UPDATE entries SET hurt = 3 WHERE id = ?", [bad.id])
        record_event(grown, "contradicted", bad.id, 5, 2, saw="a closed window", observation="It is closed.")
        assert consolidate.consolidate(grown).merged == 2
        policy = Policy(min_helped_rate=0.3)
        prune.apply(grown, prune.plan(grown, policy), policy)
        prune.undo(grown)
        prune.apply(grown, prune.plan(grown, policy), policy)
    return path


def count(path: Path, status: str) -> int:
    """Return how many entries stand so."""
    with named(path)() as store:
        return store.number("SELECT count(*) FROM entries WHERE status = ?", [status])


def ends(path: Path) -> dict[str, str]:
    """Return where each curve of experience ends, by its title."""
    with opened(None, named(path)) as subject:
        return {plot.title: plot.says for plot in subject.sections[1].plots}


def test_the_curves_end_at_what_the_store_holds(store: Path) -> None:
    says = ends(store)
    entries = sum(count(store, status) for status in ("active", "superseded", "pruned"))

    assert says["Entries that can be recalled"].endswith(f"to {count(store, 'active')}")
    became = dict(part.split(" from ") for part in says["What became of entries"].split("; "))
    assert {name: curve.split(" to ")[1] for name, curve in became.items()} == {
        "noted": str(entries), "merged": str(count(store, "superseded")), "removed": "1"
    }  # fmt: skip


def test_the_curves_are_the_same_once_old_events_are_summed_up(store: Path) -> None:
    before = ends(store)
    with Store.open(store) as grown:
        grown.write("UPDATE events SET kind = 'condensed', detail = '{\"merged\": 1}' WHERE kind = 'merged'")
    assert ends(store) == before


def test_merges_and_removals_are_listed_with_their_reasons(store: Path) -> None:
    with opened(None, named(store)) as subject:
        pruned, undone, merged, *_ = table(subject, "Merges and removals")
        (worst,) = table(subject, "Least useful")

    assert (pruned["what"], pruned["entries"], pruned["undone"]) == ("pruning", "1", "")
    assert "helped" in pruned["why, of some"][0]
    assert (undone["what"], undone["entries"]) == ("pruning", "0")
    assert undone["undone"].startswith("20")
    assert merged["what"] == "consolidation"
    assert any("It says the same as entry" in reason for reason in merged["why, of some"])
    assert (worst["what it says"], worst["status"], worst["record"]) == ("jump out of every window", "pruned", "0.20")
    assert worst["why"][0].text == "episode 5: contradicted, hurt by 1.00: saw a closed window"
