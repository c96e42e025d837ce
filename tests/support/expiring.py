"""Tables whose items expire, for the tests of time to live."""

from __future__ import annotations

from typing import Any

from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.log import Entry, entries_after
from support.sample_tables import item, n

NOW_S = 1_700_000_000  # of a new ManualClock
ATTRIBUTE = "expires"


def enable(db: Database, table: str = "single", attribute: str = ATTRIBUTE) -> Any:
    return db.update_time_to_live(
        TableName=table, TimeToLiveSpecification={"AttributeName": attribute, "Enabled": True}
    )


def disable(db: Database, table: str = "single", attribute: str = ATTRIBUTE) -> Any:
    return db.update_time_to_live(
        TableName=table, TimeToLiveSpecification={"AttributeName": attribute, "Enabled": False}
    )


def described(db: Database, table: str = "single") -> Any:
    return db.describe_time_to_live(TableName=table)["TimeToLiveDescription"]


def put(db: Database, name: str, expires: int | str | dict[str, Any] | None, **more: Any) -> None:
    """Put an item of the single-table design that expires at a second, or has any value as its time."""
    if expires is not None:
        more[ATTRIBUTE] = expires if isinstance(expires, dict) else n(expires)
    db.put_item(TableName="single", Item=item(name, "1", **more))


def names(db: Database, **request: Any) -> list[str]:
    return sorted(found["PK"]["S"] for found in db.scan(TableName="single", **request)["Items"])


def seconds_after(clock: ManualClock, seconds: int) -> int:
    return clock.now_us() // 1_000_000 + seconds


def log_of(db: Database, table: str = "single") -> list[Entry]:
    """Return what the log of a table holds."""

    def read(execute: Any, catalog: Any) -> list[Entry]:
        return list(entries_after(execute, catalog.get(table).id, after=0, rows_max=100_000))

    return db._session.store.read(read)
