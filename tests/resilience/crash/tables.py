"""The tables of the crash tests: one with two global indexes, one with a stream, one that all share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from resilience.crash.workload import (
    ACCOUNT_START,
    ACCOUNTS,
    COUNTER_KEY,
    EVENTS,
    LEDGER,
    SHARED,
    account_key,
)

if TYPE_CHECKING:
    from singletable import Database

LEDGER_KEYS = ("PK", "SK")
INDEX_KEYS = {"ByGroup": ("Group", "Rank"), "ByFlag": ("Flag",)}
INDEX_ALL = {"ByGroup": True, "ByFlag": False}  # whether the index holds whole items, or keys only

_TABLE_KEYS: list[Any] = [
    {"AttributeName": "PK", "KeyType": "HASH"},
    {"AttributeName": "SK", "KeyType": "RANGE"},
]
_TABLE_ATTRIBUTES: list[Any] = [
    {"AttributeName": "PK", "AttributeType": "S"},
    {"AttributeName": "SK", "AttributeType": "S"},
]


def create_ledger(db: Database) -> None:
    """Create a table with an index that holds everything and a sparse one that holds keys."""
    by_group: Any = {
        "IndexName": "ByGroup",
        "KeySchema": [
            {"AttributeName": "Group", "KeyType": "HASH"},
            {"AttributeName": "Rank", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "ALL"},
    }
    by_flag: Any = {
        "IndexName": "ByFlag",
        "KeySchema": [{"AttributeName": "Flag", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    db.create_table(
        TableName=LEDGER,
        KeySchema=_TABLE_KEYS,
        AttributeDefinitions=[
            *_TABLE_ATTRIBUTES,
            {"AttributeName": "Group", "AttributeType": "S"},
            {"AttributeName": "Rank", "AttributeType": "N"},
            {"AttributeName": "Flag", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[by_group, by_flag],
        BillingMode="PAY_PER_REQUEST",
    )


def create_events(db: Database) -> None:
    """Create a table whose changes are logged."""
    db.create_table(
        TableName=EVENTS,
        KeySchema=_TABLE_KEYS,
        AttributeDefinitions=_TABLE_ATTRIBUTES,
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )


def create_shared(db: Database) -> None:
    """Create the table of the accounts and the counter, with money in the accounts."""
    create_plain(db, SHARED)
    for account in range(ACCOUNTS):
        balance = {"Balance": {"N": str(ACCOUNT_START)}}
        db.put_item(TableName=SHARED, Item={**account_key(account), **balance})
    db.put_item(TableName=SHARED, Item={**COUNTER_KEY, "Total": {"N": "0"}})


def create_plain(db: Database, name: str) -> None:
    """Create a table with a partition key and nothing else."""
    db.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def create_all(db: Database) -> None:
    create_ledger(db)
    create_events(db)
    create_shared(db)
