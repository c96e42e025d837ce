"""UpdateTimeToLive, DescribeTimeToLive: which attribute of a table's items says when they expire.

The rules and their words are answers of Amazon DynamoDB that the "ack-api-quirks" laboratory recorded in October
2026 (DDB-TABLE-115, 143 to 147).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

from singletable import limits
from singletable.engine.tables import changeable_table
from singletable.errors import ValidationError
from singletable.storage.catalog import Catalog
from singletable.storage.definitions import TableDefinition, TtlDefinition
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction

TimeToLiveStatus = Literal["ENABLING", "ENABLED", "DISABLED"]  # it is DISABLING for no time at all


class TableTimeToLive(NamedTuple):
    """Whether items of a table expire, and by which attribute."""

    status: TimeToLiveStatus
    attribute: str | None


def describe_time_to_live(store: Store, name: str) -> TableTimeToLive:
    """Tell whether items of a table expire. It is ENABLING until all of them are ordered by their times."""

    def work(catalog: Catalog) -> TableTimeToLive:
        definition = changeable_table(catalog, name).definition
        ttl = definition.ttl
        if ttl is None:  # the answer does not tell the old attribute (DDB-TABLE-144)
            return TableTimeToLive("DISABLED", None)
        return TableTimeToLive("ENABLED" if ttl.is_ready else "ENABLING", ttl.attribute)

    return store.read_catalog(work)


def update_time_to_live(store: Store, name: str, *, attribute: str, enabled: bool) -> None:
    """Let items of a table expire by an attribute, or no longer.

    Those that are there are put into the order of their times in the background. The first piece is done before
    this returns, so that a small table is ENABLED for the next request.
    """

    def work(transaction: Transaction) -> None:
        definition = changeable_table(transaction.catalog, name).definition
        check_change(definition, attribute=attribute, enabled=enabled, now_us=transaction.clock_us)
        ttl = None
        if enabled:
            ttl = TtlDefinition(id=transaction.new_id(), attribute=attribute, is_ready=False)
        transaction.alter_table(replace(definition, ttl=ttl, ttl_changed_us=transaction.clock_us))

    store.write(work)
    store.background.begin()


def check_change(definition: TableDefinition, *, attribute: str, enabled: bool, now_us: int) -> None:
    """Refuse a change as AWS does. The contents of the request are checked before its time (DDB-TABLE-143).

    Any attribute may be named, also one of the table's key (DDB-TABLE-146).
    """
    current = definition.ttl
    if current is None and not enabled:
        raise ValidationError("TimeToLive is already disabled")
    if current is not None and current.attribute != attribute:
        raise ValidationError(
            f"TimeToLive is active on a different AttributeName: current AttributeName is {current.attribute}"
        )
    if current is not None and enabled:
        raise ValidationError("TimeToLive is already enabled")
    if _is_recent(definition.ttl_changed_us, now_us):
        raise ValidationError("Time to live has been modified multiple times within a fixed interval")


def _is_recent(changed_us: int | None, now_us: int) -> bool:
    # "Any additional UpdateTimeToLive calls for the same table during this one hour duration result in a
    # ValidationException" (botocore). It was found to be half an hour (DDB-TABLE-143; Alternator's tests).
    # A change in the future was made by a clock that has been put back since.
    return changed_us is not None and abs(now_us - changed_us) < limits.TTL_CHANGE_S * 1_000_000
