"""Tables that were deleted by a process that has ended: another one takes them away."""

from __future__ import annotations

from pathlib import Path

from singletable import Database
from singletable.clock import ManualClock
from singletable.engine.deletions import mark_deleted
from singletable.storage.store import Store
from support.backed_up import fill, names
from support.past_tables import turn_on
from support.sample_tables import create_single


def _mark(store: Store) -> None:
    """Do what a process does that is killed after it has marked a table."""
    (table,) = store.catalog_now()
    store.write(lambda transaction: mark_deleted(store, transaction, table.definition))


def test_process_that_has_the_file_open_goes_on_with_a_deletion(tmp_path: Path, clock: ManualClock) -> None:
    with (
        Database.open(tmp_path / "app.db", clock=clock) as ending,
        Database.open(tmp_path / "app.db", clock=ManualClock()) as other,
    ):
        create_single(ending)
        turn_on(ending)
        fill(ending, 10)
        _mark(ending._session.store)
        other_clock = other._session.store.clock
        assert isinstance(other_clock, ManualClock)
        other_clock.advance(1)
        other._session.store.workers.wait()
        assert other.list_tables()["TableNames"] == ["single"]  # its process may be at it
        other_clock.advance(60)
        other._session.store.workers.wait()
        assert other.list_tables()["TableNames"] == []
        assert names(other, BackupType="SYSTEM") == ["single$DeletedTableBackup"]
        assert other.check() == []
