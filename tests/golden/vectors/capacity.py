"""What the vectors about units share: tables, items of a known size, requests and answers."""

from __future__ import annotations

from typing import Any

from golden.vectors.tables import table
from golden.vectors.vector import Vector
from support.sample_tables import index

Wire = dict[str, Any]

# The shape of the tables with which the figures of single writes and transactions were measured in the service: a
# global index that holds little, and a local one that holds everything.
UNITS = table(
    "Units",
    "pk",
    "sk",
    types={"pk": "S", "sk": "S", "g": "S", "l": "S"},
    GlobalSecondaryIndexes=[index("gsi", "g", projection="INCLUDE", include=["proj"])],
    LocalSecondaryIndexes=[index("lsi", "pk", "l")],
)
# The same with a local index that holds as little.
UNITS_NARROW = table(
    "UnitsNarrow",
    "pk",
    "sk",
    types={"pk": "S", "sk": "S", "g": "S", "l": "S"},
    GlobalSecondaryIndexes=[index("gsi", "g", projection="INCLUDE", include=["proj"])],
    LocalSecondaryIndexes=[index("lsi", "pk", "l", projection="INCLUDE", include=["proj"])],
)
# The table of the examples of the AWS CLI: "AlbumTitleIndex" orders the songs of an artist by album.
MUSIC = table(
    "MusicCollection",
    "Artist",
    "SongTitle",
    types={"Artist": "S", "SongTitle": "S", "AlbumTitle": "S"},
    LocalSecondaryIndexes=[index("AlbumTitleIndex", "Artist", "AlbumTitle")],
)

SUITE = "Measured in eu-west-2 by the public conformance suite (nubo-db/dynamodb-conformance)"
DYNOXIDE = "Measured in eu-west-2, August 2026, by the authors of dynoxide"
SCYLLA = "ScyllaDB's test_returnconsumedcapacity.py, which passes against the service"
GUIDE = 'AWS guide, "DynamoDB read and write operations"'
GLOBAL_GUIDE = 'AWS guide, "Global secondary indexes", "Write capacity units"'
LOCAL_GUIDE = 'AWS guide, "Local secondary indexes", "Read capacity units"'
AWS_CLI = "Example in the reference of the AWS CLI"


def key(pk: str = "a", sk: str = "1") -> Wire:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def item(pk: str = "a", sk: str = "1", **texts: str) -> Wire:
    return {**key(pk, sk), **{name: {"S": text} for name, text in texts.items()}}


MEMBER = item(g="g", l="l", proj="p", rest="o")


def sized(texts: Wire, item_bytes: int, *, by: str = "x") -> Wire:
    """Return an item of texts with one more of them, which brings it to this size."""
    rest = sum(len(name) + len(value["S"]) for name, value in texts.items())
    return {**texts, by: {"S": "x" * (item_bytes - rest - len(by))}}


def consumed(
    table_units: float,
    *,
    gsi: float | None = None,
    lsi: float | None = None,
    table: str = "Units",
    split: str | None = None,
) -> Wire:
    """Return a ConsumedCapacity as INDEXES gives it; a transaction names its units twice (`split`)."""

    def units(value: float) -> Wire:
        return {"CapacityUnits": value} if split is None else {"CapacityUnits": value, split: value}

    answer = {
        "TableName": table,
        **units(table_units + (gsi or 0) + (lsi or 0)),
        "Table": units(table_units),
    }
    if gsi is not None:
        answer["GlobalSecondaryIndexes"] = {"gsi": units(gsi)}
    if lsi is not None:
        answer["LocalSecondaryIndexes"] = {"lsi": units(lsi)}
    return answer


def total(units: float, *, table: str = "Units", split: str | None = None) -> Wire:
    """Return a ConsumedCapacity as TOTAL gives it."""
    answer: Wire = {"TableName": table, "CapacityUnits": units}
    return answer if split is None else {**answer, split: units}


def put(
    name: str, stored: Wire | None, new: Wire, answer: Wire, evidence: str, *, on: Wire = UNITS, **more: Any
) -> Vector:
    """A PutItem over what is stored, if anything is."""
    return Vector(
        name,
        operation="PutItem",
        tables=[on],
        given={} if stored is None else {on["TableName"]: [stored]},
        request={"TableName": on["TableName"], "Item": new, "ReturnConsumedCapacity": "INDEXES", **more},
        answer={"ConsumedCapacity": answer},
        evidence=evidence,
    )


def update(
    name: str,
    stored: Wire | None,
    expression: str | None,
    values: dict[str, str],
    answer: Wire,
    evidence: str,
    *,
    on: Wire = UNITS,
) -> Vector:
    """An UpdateItem of the item with the key ("a", "1")."""
    request: Wire = {"TableName": on["TableName"], "Key": key(), "ReturnConsumedCapacity": "INDEXES"}
    if expression is not None:
        request["UpdateExpression"] = expression
    if values:
        request["ExpressionAttributeValues"] = {f":{place}": {"S": text} for place, text in values.items()}
    return Vector(
        name,
        operation="UpdateItem",
        tables=[on],
        given={} if stored is None else {on["TableName"]: [stored]},
        request=request,
        answer={"ConsumedCapacity": answer},
        evidence=evidence,
    )


def delete(
    name: str, stored: Wire | None, answer: Wire, evidence: str, *, on: Wire = UNITS, **more: Any
) -> Vector:
    return Vector(
        name,
        operation="DeleteItem",
        tables=[on],
        given={} if stored is None else {on["TableName"]: [stored]},
        request={"TableName": on["TableName"], "Key": key(), "ReturnConsumedCapacity": "INDEXES", **more},
        answer={"ConsumedCapacity": answer},
        evidence=evidence,
    )
