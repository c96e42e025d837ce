"""Tables whose past is kept, for the tests of time travel."""

from __future__ import annotations

from typing import Any

from singletable import Database
from singletable.storage.log import select_end

DAY_S = 24 * 3600


def turn_on(db: Database, table: str = "single", days: int | None = None) -> Any:
    """Keep the past of a table."""
    wanted: Any = {"PointInTimeRecoveryEnabled": True}
    if days is not None:
        wanted["RecoveryPeriodInDays"] = days
    return db.update_continuous_backups(TableName=table, PointInTimeRecoverySpecification=wanted)


def turn_off(db: Database, table: str = "single") -> Any:
    return db.update_continuous_backups(
        TableName=table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False}
    )


def recovery(db: Database, table: str = "single") -> Any:
    """Return what is said of the recovery of a table."""
    described = db.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    assert described["ContinuousBackupsStatus"] == "ENABLED"
    return described["PointInTimeRecoveryDescription"]


def end_of_log(db: Database, table: str = "single") -> int:
    """Return the time of the last change that a table's log knows."""
    return db._session.store.read(
        lambda execute, catalog: select_end(execute, catalog.named(table).id).at_us  # type: ignore[union-attr]
    )
