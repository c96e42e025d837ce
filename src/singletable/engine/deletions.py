"""Deleting a table that can be brought back: a backup of it is made first, and kept for 35 days.

Nobody reads or writes the table any more from the moment it is deleted. It is taken away when its backup exists;
after a kill, a process that has the file open goes on with that, or the next one that opens it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final

from singletable import limits
from singletable.errors import BackupInUseError, DatabaseClosedError, SingleTableError
from singletable.errors.base import sentence_of
from singletable.storage.backups.folder import SYSTEM_SUFFIX, BackupKey, backup_id
from singletable.storage.backups.making import WantedBackup
from singletable.storage.definitions import TableDefinition
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction

_RETRY_S: Final = 5.0
_LEFT_AFTER_US: Final = 10_000_000  # by then, a process that has not ended is long at it

_log = logging.getLogger("singletable.backups")


def mark_deleted(store: Store, transaction: Transaction, definition: TableDefinition) -> TableDefinition:
    """Let a table be there only for its backup."""
    deleting_us = transaction.clock_us
    while store.backups.folder.read(_key(definition.name, deleting_us)) is not None:
        deleting_us += 1000  # one of the same name was deleted in the same millisecond
    marked = replace(definition, deleting_us=deleting_us)
    transaction.is_dirty = True
    transaction.save(marked)
    return marked


def finish_deletion(store: Store, definition: TableDefinition, item_bytes: int) -> None:
    """Back up and take away a marked table: a small one now, a large one in a thread."""
    if item_bytes > limits.SMALL_BACKUP_BYTES:
        _resume(store, definition)
        return
    try:
        _finish(store, definition)
    except BackupInUseError:
        _resume(store, definition)  # a process that has just opened the file is at it
    except BaseException:
        try:
            store.write(lambda transaction: _unmark(transaction, definition))
        except SingleTableError:
            _resume(store, definition)  # as a disk that is full for both: it stays deleted
        raise


def watch_deletions(store: Store) -> None:
    """Resume deletions that ended processes have left: now, and at each look of the background for due chores."""
    for definition in _marked(store):
        _resume(store, definition)
    store.on_look = lambda: _resume_left(store)


def _resume_left(store: Store) -> None:
    now_us = store.clock.now_us()
    for definition in _marked(store):
        if definition.deleting_us is not None and now_us - definition.deleting_us >= _LEFT_AFTER_US:
            _resume(store, definition)


def _marked(store: Store) -> list[TableDefinition]:
    return [table.definition for table in store.catalog if table.definition.deleting_us is not None]


def _resume(store: Store, definition: TableDefinition) -> None:
    store.workers.start(f"delete-{definition.id}", lambda: _finish_in_time(store, definition))


def _finish_in_time(store: Store, definition: TableDefinition) -> None:
    while not store.workers.stopping.is_set():
        try:
            _finish(store, definition)
            return
        except DatabaseClosedError:
            return
        except BackupInUseError:
            pass  # another process is at it
        except Exception as error:  # any error: it is tried again
            _log.error(
                "table %s was deleted, and is not backed up yet: %s", definition.name, sentence_of(error)
            )
        store.workers.stopping.wait(_RETRY_S)


def _finish(store: Store, definition: TableDefinition) -> None:
    assert definition.deleting_us is not None
    key = _key(definition.name, definition.deleting_us)
    if store.backups.folder.read(key) is None and _is_marked(store, definition):
        wanted = WantedBackup(
            key,
            f"{definition.name}$DeletedTableBackup",
            definition.deleting_us // 1000 * 1000,
            origin="deletion",
            expires_us=(definition.deleting_us // 1000_000 + limits.SYSTEM_BACKUP_S) * 1_000_000,
        )
        store.backups.make([wanted], wait=True)
    store.write(lambda transaction: _take_away(transaction, definition))
    store.background.begin()


def _is_marked(store: Store, definition: TableDefinition) -> bool:
    table = store.read_catalog(lambda catalog: catalog.with_id(definition.id))
    return table is not None and table.definition.deleting_us == definition.deleting_us


def _take_away(transaction: Transaction, definition: TableDefinition) -> None:
    table = transaction.catalog.with_id(definition.id)
    if table is not None and table.definition.deleting_us is not None:
        transaction.delete_table(table)


def _unmark(transaction: Transaction, definition: TableDefinition) -> None:
    table = transaction.catalog.with_id(definition.id)
    if table is not None and table.definition.deleting_us is not None:
        transaction.is_dirty = True
        transaction.save(replace(table.definition, deleting_us=None))


def _key(table: str, deleting_us: int) -> BackupKey:
    return BackupKey(backup_id(deleting_us, SYSTEM_SUFFIX), table)
