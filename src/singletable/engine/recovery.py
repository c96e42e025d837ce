"""UpdateContinuousBackups, DescribeContinuousBackups, RestoreTableToPointInTime.

The order and the words of the refusals are those that the "ack-api-quirks" laboratory recorded in October 2026
(DDB-TABLE-086, 100, 217, 272).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from singletable import limits
from singletable.engine.restores import RestoreTable, start_restore
from singletable.engine.tables import TableDescription
from singletable.errors import (
    ContinuousBackupsUnavailableError,
    InvalidRestoreTimeError,
    RecoveryUnavailableError,
    TableNotFoundError,
)
from singletable.storage.backups.restoring import RestoreSource, is_restored_from
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.definitions import RecoveryDefinition
from singletable.storage.past import RecoveryWindow, moment_text, require_dated
from singletable.storage.past_store import window_of
from singletable.storage.store import Store
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction

_SECOND_US: Final = 1_000_000


class Recovery(NamedTuple):
    """Whether a table can be brought back, and to which times."""

    days: int
    window: RecoveryWindow


def describe_recovery(store: Store, name: str) -> Recovery | None:
    """Tell to which times a table can be brought back; None where recovery is off."""
    return store.read(lambda execute, catalog: _recovery(store, execute, _table(catalog, name)))


def update_recovery(store: Store, name: str, *, enabled: bool, days: int | None) -> Recovery | None:
    """Turn recovery on or off, or change its days. The past that is kept stays, unless recovery is turned off."""

    def work(transaction: Transaction) -> Recovery | None:
        definition = _table(transaction.catalog, name).definition
        recovery = _plan(definition.recovery, enabled=enabled, days=days, now_us=transaction.now_us)
        if recovery is None and is_restored_from(transaction.execute, definition.id):
            raise ContinuousBackupsUnavailableError(
                f"Another table is being restored from the table: {name}. Please retry later"
            )
        if recovery != definition.recovery:
            transaction.alter_table(replace(definition, recovery=recovery))
        return _recovery(store, transaction.execute, _table(transaction.catalog, name))

    return store.write(work)


def _plan(
    current: RecoveryDefinition | None, *, enabled: bool, days: int | None, now_us: int
) -> RecoveryDefinition | None:
    """Plan the new setting. "If no value is provided, the value will default to 35" (botocore)."""
    if not enabled:
        return None
    since_us = now_us if current is None else current.since_us
    return RecoveryDefinition(days=days or limits.RECOVERY_DAYS_MAX, since_us=since_us)


def restore_to_point_in_time(
    store: Store, source: str, request: RestoreTable, *, at_us: int | None
) -> TableDescription:
    """Make a new table with the items that a table had at a moment; None is the latest.

    The first piece is done before this returns: of a small table, that is all of it.
    """

    def work(transaction: Transaction) -> TableDescription:
        table = _table(transaction.catalog, source)
        window = window_of(store, transaction.execute, table)
        if window is None:
            raise RecoveryUnavailableError(f"Point in time recovery is not enabled for table '{source}'")
        moment_us = transaction.now_us if at_us is None else _moment(at_us, window)
        if at_us is not None:
            require_dated(transaction.execute, table, window, moment_us, store.clock)
        read_from = RestoreSource(moment_us, table_id=table.id)
        return start_restore(transaction, request, table.definition, read_from)

    description = store.write(work)
    store.background.begin()
    return description


def _moment(at_us: int, window: RecoveryWindow) -> int:
    # Older boto3s send whole seconds: the earliest time as it was described must not be too early then.
    if window.earliest_us - _SECOND_US < at_us < window.earliest_us:
        return window.earliest_us
    if not window.holds(at_us):
        raise InvalidRestoreTimeError(
            f"RestoreDateTime '{moment_text(at_us)}' must be within EarliestRestorableDateTime "
            f"'{moment_text(window.earliest_us)}' and LatestRestorableDateTime '{moment_text(window.latest_us)}'"
        )
    return at_us


def _recovery(store: Store, execute: Execute, table: Table) -> Recovery | None:
    recovery = table.definition.recovery
    window = window_of(store, execute, table)
    return None if recovery is None or window is None else Recovery(recovery.days, window)


def _table(catalog: Catalog, name: str) -> Table:
    """Return a table; one that is still being restored is not there for these operations (DDB-TABLE-217)."""
    table = catalog.get(name)
    if table is None:
        raise TableNotFoundError(f"Table not found: {name}")
    return table
