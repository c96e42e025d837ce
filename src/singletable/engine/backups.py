"""CreateBackup, DescribeBackup, ListBackups, DeleteBackup, RestoreTableFromBackup; and backups of all tables."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from singletable import limits
from singletable.engine.restores import RestoreTable, start_restore
from singletable.engine.tables import TableDescription
from singletable.errors import (
    BackupInUseError,
    BackupNotFoundError,
    DatabaseError,
    SingleTableError,
    TableAlreadyExistsError,
    TableInUseError,
    TableNotFoundError,
)
from singletable.errors.base import sentence_of
from singletable.storage.backups.folder import BackupKey, BackupRecord, Origin, backup_id
from singletable.storage.backups.making import Backups, WantedBackup
from singletable.storage.backups.restoring import (
    RestoreSource,
    is_backup_restored,
    verify_contents,
    verify_size,
)
from singletable.storage.catalog import Catalog
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction

TypeFilter = Literal["USER", "SYSTEM", "AWS_BACKUP", "ALL"]
NewSuffix = Callable[[], str]
"""Returns 8 hexadecimal digits that no other backup of the millisecond has."""

_NAME_LENGTH_MAX: Final = 255

_log = logging.getLogger("singletable.backups")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListBackups:
    """Which backups are asked for. Times are of their making: from `lower_us` on, and before `upper_us`."""

    table: str | None = None
    type: TypeFilter = "USER"
    lower_us: int | None = None
    upper_us: int | None = None
    after: BackupKey | None = None
    limit: int = limits.LIST_BACKUPS_MAX


class BackupPage(NamedTuple):
    records: list[BackupRecord]
    has_more: bool


# --- making -----------------------------------------------------------------------------------


def create_backup(store: Store, *, table: str, name: str, suffix: str) -> BackupRecord:
    """Back up a table as it is now. A large one is copied in a thread, while this answers."""
    _require_table(store.catalog_now(), table)
    created_us = store.clock.now_us() // 1000 * 1000
    key = BackupKey(backup_id(created_us, suffix), table)
    return store.backups.make([WantedBackup(key, name, created_us)])[0]


def backup_all(
    store: Store,
    *,
    label: str,
    origin: Origin,
    created_us: int,
    new_suffix: NewSuffix,
    is_wanted: Callable[[str], bool] = lambda uuid: True,
) -> list[BackupRecord]:
    """Back up all tables, or those with wanted uuids, as they are at one moment, and wait for that.

    Of more than a hundred tables, each hundred has a moment of its own. When some fail, the others are made.
    """
    definitions = [table.definition for table in store.catalog_now() if table.definition.is_ready]
    wanted = [
        WantedBackup(
            BackupKey(backup_id(created_us, new_suffix()), definition.name),
            f"{definition.name[: _NAME_LENGTH_MAX - len(label) - 1]}-{label}",
            created_us // 1000 * 1000,
            origin=origin,
        )
        for definition in definitions
        if is_wanted(definition.uuid)
    ]
    records: list[BackupRecord] = []
    failed: SingleTableError | None = None
    for start in range(0, len(wanted), limits.BACKUPS_TOGETHER_MAX):
        try:
            records += store.backups.make(wanted[start : start + limits.BACKUPS_TOGETHER_MAX], wait=True)
        except SingleTableError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return records


def _require_table(catalog: Catalog, name: str) -> None:
    table = catalog.named(name)
    # AWS says the same of one that is being made (ack-api-quirks, DDB-BACKUP-001).
    if table is None or table.definition.is_restoring:
        raise TableNotFoundError(f"Table not found: {name}")


# --- looking ----------------------------------------------------------------------------------


def describe_backup(backups: Backups, key: BackupKey, arn: str) -> BackupRecord:
    """Return a backup, also one that is being made."""
    record = backups.find(key)
    if record is None or _has_expired(backups, record):
        raise BackupNotFoundError(f"Backup not found: {arn}")
    return record


def list_backups(backups: Backups, wanted: ListBackups) -> BackupPage:
    """Return a page of backups, the oldest first. A backup with a damaged description is left out, and logged."""
    found: list[BackupRecord] = []
    for key in backups.existing(wanted.table):
        if not _is_asked_for(key, wanted):
            continue
        try:
            record = backups.find(key)
        except DatabaseError as error:
            _log.warning("a backup was left out of a list: %s", sentence_of(error))
            continue
        if record is None or _has_expired(backups, record):
            continue
        if len(found) == wanted.limit:
            return BackupPage(found, has_more=True)
        found.append(record)
    return BackupPage(found, has_more=False)


def _is_asked_for(key: BackupKey, wanted: ListBackups) -> bool:
    """Tell whether the name of a backup fits the request. Its JSON is read only if it is on the page."""
    if wanted.after is not None and key <= wanted.after:
        return False
    if wanted.type not in ("ALL", key.type):
        return False
    created_us = key.created_ms * 1000
    # To the millisecond, the lower bound included, the upper one not (ack-api-quirks, DDB-BACKUP-014).
    if wanted.lower_us is not None and created_us < wanted.lower_us // 1000 * 1000:
        return False
    return wanted.upper_us is None or created_us < wanted.upper_us // 1000 * 1000


def _has_expired(backups: Backups, record: BackupRecord) -> bool:
    return record.expires_us is not None and record.expires_us <= backups.steady.now_us()


# --- deleting ---------------------------------------------------------------------------------


def delete_backup(store: Store, key: BackupKey, arn: str) -> BackupRecord:
    """Delete a backup that nobody is restoring from."""
    withdrawn: list[BackupRecord] = []

    def work(transaction: Transaction) -> None:
        # In a transaction, so that no process begins to restore from it meanwhile. It may run twice.
        if withdrawn:
            return
        record = describe_backup(store.backups, key, arn)
        if store.backups.is_running(key):
            raise BackupInUseError(f"Backup is being created: {arn}")
        if is_backup_restored(transaction.execute, store.backups.folder.data_path(key)):
            raise BackupInUseError(f"Backup is being used to restore table: {arn}")
        store.backups.folder.withdraw(key)
        withdrawn.append(record)

    store.write(work)
    store.backups.folder.remove(key)  # behind it: to remove a large file takes long
    return withdrawn[0]


# --- restoring --------------------------------------------------------------------------------


def restore_from_backup(store: Store, request: RestoreTable, key: BackupKey, arn: str) -> TableDescription:
    """Make a new table from a backup. It is filled in the background, from a file that was verified before.

    Of a large file that takes too long for a request: it is done while the table is there, and empty.
    """
    backups = store.backups
    record = describe_backup(backups, key, arn)
    if backups.is_running(key):
        raise BackupInUseError(f"Backup is being created: {arn}")
    _check_target(store.catalog_now(), request.name)
    path = backups.folder.data_path(key)
    verify_size(path, record)
    is_small = record.file_bytes <= limits.SMALL_BACKUP_FILE_BYTES
    if is_small:
        verify_contents(path, record)

    def work(transaction: Transaction) -> TableDescription:
        _check_target(transaction.catalog, request.name)
        describe_backup(backups, key, arn)
        if is_backup_restored(transaction.execute, path):
            raise BackupInUseError(f"Backup is being used to restore another table: {arn}")
        source = RestoreSource(at_us=record.created_us, path=path, is_verified=is_small)
        return start_restore(transaction, request, record.definition, source, backup_arn=arn)

    description = store.write(work)
    if is_small:
        store.background.begin()
    else:
        store.verifying.start()
    return description


def _check_target(catalog: Catalog, name: str) -> None:
    """Refuse a name that is taken (ack-api-quirks, DDB-TABLE-219, 275)."""
    table = catalog.named(name)
    if table is None:
        return
    restore = table.definition.restore
    if restore is not None and restore.in_progress and restore.backup_arn is not None:
        raise TableInUseError(f"Table: {name} is already being restored from backup: {restore.backup_arn}")
    raise TableAlreadyExistsError(f"Table already exists: {name}")
