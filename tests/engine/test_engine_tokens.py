"""Idempotency tokens: a transaction that is sent again within ten minutes is done once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import TransactionCanceledError
from singletable.storage.check import check_file
from support.sample_tables import create_plain, invalid, n, refusal, s

MISMATCH = "IdempotentParameterMismatchException"


def add(value: int = 1, name: str = "counter", **more: Any) -> list[Any]:
    action: dict[str, Any] = {
        "TableName": "plain",
        "Key": {"id": s(name)},
        "UpdateExpression": "ADD x :x",
        "ExpressionAttributeValues": {":x": n(value)},
        **more,
    }
    return [{"Update": action}]


def count(db: Database) -> int:
    found = db.get_item(TableName="plain", Key={"id": s("counter")}).get("Item")
    return int(found["x"]["N"]) if found else 0


@pytest.fixture
def plain(db: Database) -> Database:
    create_plain(db)
    return db


def test_a_transaction_sent_again_is_done_once(plain: Database) -> None:
    for _ in range(3):
        assert plain.transact_write_items(TransactItems=add(), ClientRequestToken="one") == {}
    assert count(plain) == 1


def test_another_token_is_another_transaction(plain: Database) -> None:
    for token in ("one", "two", "One"):
        plain.transact_write_items(TransactItems=add(), ClientRequestToken=token)
    plain.transact_write_items(TransactItems=add())
    plain.transact_write_items(TransactItems=add())
    assert count(plain) == 5


def test_a_repeated_transaction_costs_what_reading_its_items_costs(plain: Database) -> None:
    request: dict[str, Any] = {
        "TransactItems": add(),
        "ClientRequestToken": "one",
        "ReturnConsumedCapacity": "TOTAL",
    }
    first = plain.transact_write_items(**request)["ConsumedCapacity"]
    assert first == [{"TableName": "plain", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}]
    # API reference: "the subsequent calls … return the number of read capacity units".
    again = plain.transact_write_items(**request)["ConsumedCapacity"]
    assert again == [{"TableName": "plain", "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(add(2), id="another-value"),
        pytest.param(add(name="other"), id="another-item"),
        pytest.param([*add(), *add(name="other")], id="more-actions"),
        pytest.param(add(ReturnValuesOnConditionCheckFailure="ALL_OLD"), id="another-parameter"),
    ],
)
def test_a_token_belongs_to_one_request(plain: Database, other: list[Any]) -> None:
    plain.transact_write_items(TransactItems=add(), ClientRequestToken="one")
    code, _ = refusal(plain, "transact_write_items", TransactItems=other, ClientRequestToken="one")
    assert code == MISMATCH
    assert count(plain) == 1
    assert plain.scan(TableName="plain")["Count"] == 1


def test_the_report_that_is_asked_for_is_not_part_of_the_request(plain: Database) -> None:
    # API reference: a token may be used again "when one or more parameters other than ReturnConsumedCapacity" are
    # the same.
    plain.transact_write_items(TransactItems=add(), ClientRequestToken="one")
    plain.transact_write_items(TransactItems=add(), ClientRequestToken="one", ReturnConsumedCapacity="TOTAL")
    assert count(plain) == 1


def test_the_order_of_attributes_does_not_tell_two_requests_apart(plain: Database) -> None:
    one: dict[str, Any] = {"id": s("a"), "x": {"B": b"\x00"}, "y": {"SS": ["1", "2"]}}
    other = {name: one[name] for name in ("y", "x", "id")}
    for item in (one, other):
        plain.transact_write_items(
            TransactItems=[{"Put": {"TableName": "plain", "Item": item}}], ClientRequestToken="one"
        )


def test_a_token_is_forgotten_after_ten_minutes(plain: Database, clock: ManualClock) -> None:
    plain.transact_write_items(TransactItems=add(), ClientRequestToken="one")
    clock.advance(10 * 60 - 1)
    plain.transact_write_items(TransactItems=add(), ClientRequestToken="one")
    assert count(plain) == 1
    clock.advance(1)
    plain.transact_write_items(TransactItems=add(2), ClientRequestToken="one")
    assert count(plain) == 3
    plain.transact_write_items(TransactItems=add(2), ClientRequestToken="one")
    assert count(plain) == 3


def test_old_tokens_are_swept_away(plain: Database, clock: ManualClock) -> None:
    for number in range(20):
        plain.transact_write_items(TransactItems=add(), ClientRequestToken=f"token-{number}")
    clock.advance(11 * 60)
    for number in range(2):
        plain.transact_write_items(TransactItems=add(), ClientRequestToken=f"new-{number}")
    kept = plain._session.store.read(lambda execute, _: execute("SELECT token FROM token").fetchall())
    assert {row[0] for row in kept} == {"new-0", "new-1"}


def test_a_cancelled_transaction_does_not_use_up_its_token(plain: Database) -> None:
    never = add(ConditionExpression="attribute_exists(id)")
    for _ in range(2):
        with pytest.raises(TransactionCanceledError):
            plain.transact_write_items(TransactItems=never, ClientRequestToken="one")
    plain.put_item(TableName="plain", Item={"id": s("counter")})
    plain.transact_write_items(TransactItems=never, ClientRequestToken="one")
    plain.transact_write_items(TransactItems=never, ClientRequestToken="one")
    assert count(plain) == 1


def test_a_token_of_more_than_36_characters_is_refused(plain: Database) -> None:
    token = "x" * 37
    assert refusal(plain, "transact_write_items", TransactItems=add(), ClientRequestToken=token) == invalid(
        f"1 validation error detected: Value '{token}' at 'clientRequestToken' failed to satisfy constraint: "
        "Member must have length less than or equal to 36"
    )
    plain.transact_write_items(TransactItems=add(), ClientRequestToken="x" * 36)


def test_tokens_survive_a_reopen(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "test.db"
    with Database.open(path, durability="relaxed", clock=clock) as db:
        create_plain(db)
        db.transact_write_items(TransactItems=add(), ClientRequestToken="one")
    with Database.open(path, durability="relaxed", clock=clock) as db:
        db.transact_write_items(TransactItems=add(), ClientRequestToken="one")
        assert count(db) == 1
        code, _ = refusal(db, "transact_write_items", TransactItems=add(2), ClientRequestToken="one")
        assert code == MISMATCH
        clock.advance(10 * 60)
    with Database.open(path, durability="relaxed", clock=clock) as db:
        db.transact_write_items(TransactItems=add(), ClientRequestToken="one")
        assert count(db) == 2
    assert check_file(path) == []


def test_a_token_works_for_both_ways_in(plain: Database) -> None:
    import orjson

    plain.transact_write_items(TransactItems=add(), ClientRequestToken="one")
    body = orjson.dumps({"TransactItems": add(), "ClientRequestToken": "one"})
    assert plain.answer("TransactWriteItems", body).status == 200
    assert count(plain) == 1
