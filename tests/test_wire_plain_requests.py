"""Plain requests are read in one go; what comes out is what the general way says, whatever the request is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import singletable
from singletable.wire import answers
from singletable.wire.operations import _PLAIN

TABLE: Any = {
    "TableName": "things",
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "SK", "AttributeType": "S"},
        {"AttributeName": "N", "AttributeType": "N"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByNumber",
            "KeySchema": [
                {"AttributeName": "SK", "KeyType": "HASH"},
                {"AttributeName": "N", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture(scope="module")
def database() -> Iterator[singletable.Database]:
    with singletable.Database.open(":memory:") as db:
        db.create_table(**TABLE)
        alone: Any = {**TABLE, "TableName": "alone", "KeySchema": TABLE["KeySchema"][:1]}
        alone = {name: value for name, value in alone.items() if name != "GlobalSecondaryIndexes"}
        db.create_table(**{**alone, "AttributeDefinitions": TABLE["AttributeDefinitions"][:1]})
        for partition in ("a", "b", "ö"):
            db.put_item(TableName="alone", Item={"PK": {"S": partition}, "B": {"B": b"\0"}})
            for number in range(6):
                sort = f"{number}" if number else "é"
                db.put_item(
                    TableName="things",
                    Item={"PK": {"S": partition}, "SK": {"S": sort}, "N": {"N": f"{number}"}},
                )
        yield db


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.text(max_size=3),
    st.just([]),
    st.just({}),
    st.just(2**40),
)
texts = st.sampled_from(["a", "b", "ö", "1", "2", "é", "", "x" * 2049, "\ud800"])
values = st.one_of(
    st.builds(lambda text: {"S": text}, texts),
    st.builds(lambda number: {"N": number}, st.sampled_from(["1", "01", "x", ""])),
    st.builds(lambda text: {"S": text, "N": "1"}, texts),
    odd,
)
keys = st.one_of(
    st.dictionaries(st.sampled_from(["PK", "SK", "N"]), values, max_size=3),
    st.fixed_dictionaries({"PK": values, "SK": values}),
    odd,
)
names = st.one_of(st.sampled_from(["things", "alone", "nowhere", "no", "arn:aws:x", "bad name"]), odd)
gets = st.fixed_dictionaries(
    {"TableName": names, "Key": keys},
    optional={
        "ConsistentRead": odd,
        "ReturnConsumedCapacity": st.sampled_from(["TOTAL", "x"]),
        "Unknown": odd,
    },
)
conditions = st.one_of(
    st.sampled_from(
        [
            "PK = :p",
            "PK = :p AND SK = :s",
            "PK = :p AND SK BETWEEN :s AND :t",
            "PK = :p and begins_with(SK, :s)",
            ":p = PK AND SK >= :s",
            "SK = :s",
            "SK = :s AND N > :t",
            "PK = :p AND PK = :s",
            "PK > :p",
            "#k = :p",
            "PK = :p OR SK = :s",
            "PK = ",
            "",
            "PK = SK",
            "size(PK) = :p",
        ]
    ),
    odd,
)
queries = st.fixed_dictionaries(
    {"TableName": names, "KeyConditionExpression": conditions},
    optional={
        "ExpressionAttributeValues": st.one_of(
            st.dictionaries(st.sampled_from([":p", ":s", ":t", "p", ":"]), values, max_size=3),
            st.fixed_dictionaries({":p": values}),
            st.fixed_dictionaries({":p": values, ":s": values}),
            odd,
        ),
        "Limit": st.one_of(st.integers(1, 4), odd),
        "ScanIndexForward": st.one_of(st.booleans(), odd),
        "IndexName": st.one_of(st.sampled_from(["ByNumber", "Nothing"]), odd),
        "Select": st.sampled_from(["COUNT", "x"]),
    },
)
plain_gets = st.builds(
    lambda name, key: {"TableName": name, "Key": {**key}},
    st.sampled_from(["things", "alone"]),
    st.fixed_dictionaries(
        {"PK": st.builds(lambda text: {"S": text}, texts)},
        optional={"SK": st.builds(lambda text: {"S": text}, texts)},
    ),
)


def both_ways(database: singletable.Database, operation: str, request: Any) -> None:
    body = json.dumps(request).encode()
    plain = database.answer(operation, body)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(_PLAIN, operation)
        general = answers.answer(database._session, operation, body)
    assert (plain.status, json.loads(plain.body)) == (general.status, json.loads(general.body))


@given(request=st.one_of(gets, plain_gets))
def test_get_item_is_answered_the_same(database: singletable.Database, request: Any) -> None:
    both_ways(database, "GetItem", request)


@given(request=queries)
def test_query_is_answered_the_same(database: singletable.Database, request: Any) -> None:
    both_ways(database, "Query", request)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {"TableName": "things", "Key": {"PK": {"S": "a"}, "SK": {"S": "1"}}}),
        (
            "Query",
            {
                "TableName": "things",
                "KeyConditionExpression": "PK = :p",
                "ExpressionAttributeValues": {":p": {"S": "a"}},
                "Limit": 3,
            },
        ),
    ],
)
def test_what_sdks_send_most_is_plain(
    database: singletable.Database, operation: str, request_: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    plain = _PLAIN[operation]

    def recorded(*given: Any) -> Any:
        read.append(plain(*given))
        return read[-1]

    monkeypatch.setitem(_PLAIN, operation, recorded)
    assert database.answer(operation, json.dumps(request_).encode()).status == 200
    assert read[0] is not None
