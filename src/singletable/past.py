"""A database as it was: the reading methods of a database, answered for a moment of the past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, cast

from singletable.engine.history import Event, StoredVersion, changes
from singletable.metrics import Metrics
from singletable.storage.past_store import PastStore
from singletable.wire.execution import execute
from singletable.wire.forms import NATIVE
from singletable.wire.parameters import OperationContext

if TYPE_CHECKING:
    from singletable.wire import types

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class PastView:
    """The tables of a database as they were at one moment. Read-only; made by `Database.at`.

    Its methods take the requests, and give the answers, of those of `Database`. Share it between threads, and use
    it again: the first read through an index computes where items stood then, and later reads reuse that.
    """

    def __init__(self, session: OperationContext, at_us: int) -> None:
        self._past = past = PastStore(session.store, at_us)
        # Reads of the past have metrics of their own, and are not throttled.
        self._session = replace(session, past=past, throttle=None, patience=None, metrics=Metrics())
        self._at_us = at_us

    @property
    def time(self) -> datetime:
        """The moment that is shown."""
        return to_datetime(self._at_us)

    def close(self) -> None:
        """Delete the temporary files of indexes that were read. Else they go with the view."""
        self._past.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<PastView of {self._session.store.path} at {self.time.isoformat()}>"

    def get_item(self, **request: Unpack[types.GetItemInput]) -> types.GetItemOutput:
        """Read an item by its key."""
        return cast("types.GetItemOutput", self._call("GetItem", request))

    def batch_get_item(self, **request: Unpack[types.BatchGetItemInput]) -> types.BatchGetItemOutput:
        """Read up to 100 items by their keys."""
        return cast("types.BatchGetItemOutput", self._call("BatchGetItem", request))

    def query(self, **request: Unpack[types.QueryInput]) -> types.QueryOutput:
        """Read a page of one partition of a table or index, in the order of its sort key."""
        return cast("types.QueryOutput", self._call("Query", request))

    def scan(self, **request: Unpack[types.ScanInput]) -> types.ScanOutput:
        """Read a page of a whole table or index."""
        return cast("types.ScanOutput", self._call("Scan", request))

    def _call(self, operation: str, params: Mapping[str, Any]) -> Any:
        return execute(self._session, operation, params, NATIVE)


@dataclass(frozen=True, slots=True)
class Version:
    """One change of an item, and the item before and after it (None: it did not exist)."""

    at: datetime
    event: Event
    """INSERT, MODIFY, REMOVE; EXPIRE where its time to live was over."""
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def changes(self) -> dict[str, tuple[Any, Any]]:
        """The attributes that differ, sorted, with their values before and after (None: it was not there)."""
        return changes(self.before or {}, self.after or {})


def version_of(stored: StoredVersion) -> Version:
    """Return a version as callers in Python get it."""
    before, after = (None if raw is None else NATIVE.item(raw) for raw in (stored.before, stored.after))
    return Version(to_datetime(stored.at_us), stored.event, before, after)


def moment_us(time: datetime | float) -> int:
    """Return a point in time as microseconds since 1970; raise for an ambiguous or invalid one."""
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise ValueError(
                f"{time!r} has no time zone: write datetime(…, tzinfo=UTC), or datetime.now().astimezone()"
            )
        return (time - _EPOCH) // _MICROSECOND
    if isinstance(time, bool) or not isinstance(time, int | float):
        raise TypeError(f"a time is a datetime with a time zone, or seconds since 1970, not {time!r}")
    if time - time != 0:
        raise ValueError(f"{time!r} is no point in time")
    return round(time * 1_000_000)


def to_datetime(at_us: int) -> datetime:
    """Return a point in time, exact to the microsecond."""
    return _EPOCH + timedelta(microseconds=at_us)
