"""Tables for tests of throttling: definitions without a database."""

from __future__ import annotations

from typing import Any

from singletable.clock import ManualClock
from singletable.storage.definitions import (
    BillingMode,
    IndexDefinition,
    KeyAttribute,
    KeySchema,
    Projection,
    TableDefinition,
    Throughput,
)
from singletable.storage.tables import Table

PK, SK, STATUS = KeyAttribute("pk", "S"), KeyAttribute("sk", "S"), KeyAttribute("status", "S")


def table(
    *,
    billing: BillingMode = "PROVISIONED",
    reads: int = 0,
    writes: int = 0,
    index_reads: int = 0,
    index_writes: int = 0,
    settings: dict[str, Any] | None = None,
    index_settings: dict[str, Any] | None = None,
    age_s: int = 0,
) -> Table:
    """Return a table with a global index by status and a local one; ids are the same with every call."""
    by_status = IndexDefinition(
        id=2,
        name="by-status",
        is_global=True,
        key=KeySchema((STATUS,)),
        projection=Projection("ALL"),
        throughput=Throughput(index_reads, index_writes),
        settings=index_settings or {},
    )
    local = IndexDefinition(
        id=3, name="local", is_global=False, key=KeySchema((PK,), (STATUS,)), projection=Projection("ALL")
    )
    definition = TableDefinition(
        id=1,
        name="orders",
        uuid="00000000-0000-0000-0000-000000000000",
        created_us=ManualClock().now_us() - age_s * 1_000_000,
        key=KeySchema((PK,), (SK,)),
        attributes=(PK, SK, STATUS),
        indexes=(by_status, local),
        billing=billing,
        throughput=Throughput(reads, writes),
        settings=settings or {},
    )
    return Table(definition)
