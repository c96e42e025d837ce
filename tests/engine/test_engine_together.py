"""Several operations of one caller at once: one COMMIT for what they write; each succeeds or fails by itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from singletable import Database
from singletable.client import Call, open_client
from singletable.errors import ConditionFailedError, ResourceNotFoundError, ValidationError

TABLE = "things"

Request = tuple[str, dict[str, Any]]


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def put(name: str, **more: Any) -> Request:
    return "PutItem", {"TableName": TABLE, "Item": {"id": {"S": name}, "blob": {"B": b"\x00"}}, **more}


def get(name: str) -> Request:
    return "GetItem", {"TableName": TABLE, "Key": {"id": {"S": name}}}


def only_new(name: str) -> Request:
    return put(
        name,
        ConditionExpression="attribute_not_exists(id)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )


@pytest.fixture
def commits(db: Database) -> list[int]:
    """Make the table; return a list that grows with every COMMIT of changes."""
    db.create_table(
        TableName=TABLE,
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    seen: list[int] = []
    db._session.store.listen(lambda: seen.append(1))
    return seen


def test_writes_share_one_commit(db: Database, commits: list[int]) -> None:
    assert db.call_together([put(str(number)) for number in range(8)]) == [{}] * 8
    assert len(commits) == 1
    assert db.describe_table(TableName=TABLE)["Table"]["ItemCount"] == 8


def test_answers_are_in_the_order_of_the_calls(db: Database, commits: list[int]) -> None:
    db.call_together([put("a"), put("b")])
    found = db.call_together([get("a"), put("c"), get("missing"), get("b")])
    names = [answer.get("Item", {}).get("id", {}).get("S") for answer in found]
    assert names == ["a", None, None, "b"]


def test_one_failure_takes_nothing_from_the_others(db: Database, commits: list[int]) -> None:
    db.call_together([put("taken")])
    with pytest.raises(ConditionFailedError) as error:
        db.call_together([put("before"), only_new("taken"), put("after")])
    assert error.value.item == {"id": {"S": "taken"}, "blob": {"B": b"\x00"}}
    assert [bool(db.call(*get(name))) for name in ("before", "after")] == [True, True]


def test_first_error_in_their_order_is_raised(db: Database, commits: list[int]) -> None:
    missing: Request = ("GetItem", {"TableName": "nowhere", "Key": {"id": {"S": "a"}}})
    wrong: Request = ("PutItem", {"TableName": TABLE, "Item": {}})
    with pytest.raises(ResourceNotFoundError):
        db.call_together([missing, wrong])
    with pytest.raises(ValidationError):
        db.call_together([wrong, missing])


def test_calls_are_counted_one_by_one(db: Database, commits: list[int]) -> None:
    db.call_together([put("a"), put("b"), get("a")])
    with pytest.raises(ValidationError):
        db.call_together([put("c"), ("PutItem", {"TableName": TABLE, "Item": {}})])
    assert db.metrics().latency(TABLE, "PutItem").count == 3
    assert db.metrics().latency(TABLE, "GetItem").count == 1


def test_nothing_to_do_is_done(db: Database, commits: list[int]) -> None:
    assert db.call_together([]) == []
    assert commits == []


def test_client_writes_together_sync_and_async(db: Database, commits: list[int]) -> None:
    first, second = ([Call(*put(f"{name}{number}")) for number in range(4)] for name in "ab")
    with open_client(db) as client:
        client.call_together(first)
        asyncio.run(client.acall_together(second))
    assert len(commits) == 2
