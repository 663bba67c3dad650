"""A run is played once at a time, and what marks it as being played goes when that is over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evoharness_cli.experience import journal
from evoharness_cli.experience.claim import RunClaimed, playing
from evoharness_cli.experience.errors import NotFound
from evoharness_cli.experience.store import Store


def locks(store: Store) -> list[str]:
    return sorted(each.name for each in store.path.parent.glob("*.lock"))


def test_a_run_taken_up_again_counts_as_unfinished(store: Store) -> None:
    run = journal.begin_run(store, {})
    journal.finish_run(store, run, "interrupted")
    store.write("UPDATE runs SET pid = 1")

    with playing(store, run):
        record = journal.run(store, run)
        assert (record.status, record.finished, record.pid) == (None, None, os.getpid())
        assert locks(store) == [f"experience.db.run-{run}.lock"]
        journal.finish_run(store, run, "finished")

    assert journal.run(store, run).status == "finished"
    assert locks(store) == []


def test_a_run_being_played_is_refused_by_whatever_name_and_others_are_not(store: Store, tmp_path: Path) -> None:
    run, other = journal.begin_run(store, {}), journal.begin_run(store, {})
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(store.path)

    with playing(store, run), Store.open(link) as same:
        journal.finish_run(store, run, "fault")
        with pytest.raises(RunClaimed, match=f"Run {run} is being played already"), playing(same, run):
            pass
        assert journal.run(store, run).status == "fault"
        assert len(locks(store)) == 1
        with playing(same, other):
            assert len(locks(store)) == 2

    with playing(store, run):
        pass


def test_an_error_frees_the_run(store: Store) -> None:
    run = journal.begin_run(store, {})

    with pytest.raises(KeyboardInterrupt), playing(store, run):
        raise KeyboardInterrupt

    assert locks(store) == []
    with playing(store, run):
        assert locks(store) != []


@pytest.mark.parametrize("run", [99, 2**70])
def test_a_run_that_is_not_there_leaves_no_trace(store: Store, run: int) -> None:
    with pytest.raises(NotFound), playing(store, run):
        pass

    assert locks(store) == []
