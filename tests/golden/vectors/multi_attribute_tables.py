"""A table with a global index over one partition attribute and four sort attributes, and its items."""

from __future__ import annotations

from golden.vectors.tables import table
from golden.vectors.vector import Wire

DYNOXIDE = "Answer of the service, recorded in dynoxide 1.3 (tests/multi_attribute_keys.rs, October 2026)"
PARITY = (
    "Answer of the service, recorded by paritysuite/dynamodb-conformance "
    "(tests/tier1/query/multiAttributeGsiKey.test.ts, October 2026)"
)
LOCAL = "DynamoDB Local 3.3.1, AWS's own; not seen in the service"


def elements(*keys: tuple[str, str]) -> list[Wire]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in keys]


def wide_index(name: str, partition: str, sort: str, *, projection: str = "ALL") -> Wire:
    """Return an index whose attributes have names of one letter, or of several between spaces."""
    return {
        "IndexName": name,
        "KeySchema": elements(
            *((key, "HASH") for key in partition.split()), *((key, "RANGE") for key in sort.split())
        ),
        "Projection": {"ProjectionType": projection},
    }


ORDERS = table(
    "MultiOrders",
    "pk",
    types=dict.fromkeys(("pk", "h", "a", "b", "c", "d"), "S"),
    GlobalSecondaryIndexes=[wide_index("gsi", "h", "a b c d")],
)


def order(pk: str, **more: str | None) -> Wire:
    given = {"pk": pk, "h": "o1", **more}
    return {name: {"S": value} for name, value in given.items() if value is not None}


ITEMS = [
    order("p1", a="T", b="live", c="b", d="r1"),
    order("p2", a="T", b="live", c="a", d="r2"),
    order("p3", a="T", b="live", c="a", d="r1"),
    order("p4", a="T", b="draft", c="c", d="r1"),
    order("p5", a="F", b="live", c="a", d="r0"),
    order("p6", a="T", b="live", d="r1"),
]
BY_PK = {item["pk"]["S"]: item for item in ITEMS}
