"""Tables that several tests use."""

from __future__ import annotations

from typing import Any

from singletable import Database


def key_schema(*names: str) -> list[Any]:
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def attributes(**types: str) -> list[Any]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def index(name: str, *keys: str, projection: str = "ALL", include: list[str] | None = None) -> Any:
    shape: dict[str, Any] = {"ProjectionType": projection}
    if include:
        shape["NonKeyAttributes"] = include
    return {"IndexName": name, "KeySchema": key_schema(*keys), "Projection": shape}


def create_plain(db: Database, name: str = "plain") -> None:
    """A table with a partition key only."""
    db.create_table(
        TableName=name,
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S"),
        BillingMode="PAY_PER_REQUEST",
    )


def create_single(db: Database, name: str = "single", **more: Any) -> None:
    """A single-table design: PK and SK, one global index over GSI1PK and GSI1SK."""
    db.create_table(
        TableName=name,
        KeySchema=key_schema("PK", "SK"),
        AttributeDefinitions=attributes(PK="S", SK="S", GSI1PK="S", GSI1SK="S"),
        GlobalSecondaryIndexes=[index("GSI1", "GSI1PK", "GSI1SK")],
        BillingMode="PAY_PER_REQUEST",
        **more,
    )


def item(pk: str, sk: str, **more: Any) -> dict[str, Any]:
    """An item of the single-table design; other attributes are strings unless given typed."""
    typed = {name: value if isinstance(value, dict) else {"S": value} for name, value in more.items()}
    return {"PK": {"S": pk}, "SK": {"S": sk}, **typed}
