"""The fast ways of GetItem and Query answer as the general ones, whatever the request, now and in the past."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import singletable
from singletable.clock import ManualClock
from singletable.past import PastView
from singletable.wire import answers
from singletable.wire.operations import PLAIN
from singletable.wire.parameters import OperationContext

START_S: Final = 1_800_000_000
CLOCK: Final = ManualClock(START_S * 1_000_000)

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
    with singletable.Database.open(":memory:", clock=CLOCK) as db:
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
        for table in ("things", "alone"):
            db.update_continuous_backups(
                TableName=table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
            )
        CLOCK.advance(60)
        db.delete_item(TableName="alone", Key={"PK": {"S": "a"}})
        db.put_item(TableName="alone", Item={"PK": {"S": "b"}, "later": {"BOOL": True}})
        for sort in ("1", "2", "é"):
            db.delete_item(TableName="things", Key={"PK": {"S": "a"}, "SK": {"S": sort}})
        db.put_item(TableName="things", Item={"PK": {"S": "a"}, "SK": {"S": "1x"}, "N": {"N": "1"}})
        CLOCK.advance(60)
        yield db


@pytest.fixture(scope="module")
def view(database: singletable.Database) -> Iterator[PastView]:
    """The database before the last changes."""
    with database.at(START_S + 30) as past:
        yield past


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

plain_queries = st.fixed_dictionaries(
    {
        "TableName": st.just("things"),
        "KeyConditionExpression": st.sampled_from(
            ["PK = :p AND SK >= :s", "PK = :p AND begins_with(SK, :s)"]
        ),
        "ExpressionAttributeValues": st.fixed_dictionaries(
            {
                ":p": st.sampled_from([{"S": "a"}, {"S": "b"}]),
                ":s": st.sampled_from([{"S": "1"}, {"S": "3"}]),
            }
        ),
    },
    optional={"Limit": st.integers(1, 4), "ScanIndexForward": st.booleans()},
)


def both_ways(session: OperationContext, operation: str, request: Any) -> tuple[int, Any]:
    """Ask in the fast way, if the request is plain, and in the general one; return the answer of both."""
    body = json.dumps(request).encode()
    plain = answers.answer(session, operation, body)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(PLAIN, operation)
        general = answers.answer(session, operation, body)
    answer = json.loads(plain.body)
    assert (plain.status, answer) == (general.status, json.loads(general.body))
    return plain.status, answer


@given(request=st.one_of(gets, plain_gets))
def test_get_item_is_answered_the_same(database: singletable.Database, view: PastView, request: Any) -> None:
    for session in (database._session, view._session):
        both_ways(session, "GetItem", request)


@given(request=st.one_of(queries, plain_queries))
def test_query_is_answered_the_same(database: singletable.Database, view: PastView, request: Any) -> None:
    for session in (database._session, view._session):
        both_ways(session, "Query", request)


@given(request=st.one_of(plain_gets, plain_queries))
def test_plain_request_of_the_past_is_answered_as_in_python(view: PastView, request: Any) -> None:
    """The methods of a view never take the fast way."""
    is_get = "Key" in request
    status, answer = both_ways(view._session, "GetItem" if is_get else "Query", request)
    if status == 200:
        in_python: Any = view.get_item(**request) if is_get else view.query(**request)
        assert answer == json.loads(json.dumps(in_python, default=lambda raw: b64encode(raw).decode()))


GET: Any = {"TableName": "things", "Key": {"PK": {"S": "a"}, "SK": {"S": "1"}}}
QUERY: Any = {
    "TableName": "things",
    "KeyConditionExpression": "PK = :p",
    "ExpressionAttributeValues": {":p": {"S": "a"}},
    "Limit": 3,
}


@pytest.mark.parametrize(("operation", "request_"), [("GetItem", GET), ("Query", QUERY)])
@pytest.mark.parametrize("is_past", [False, True], ids=["now", "the past"])
def test_what_sdks_send_most_is_plain(
    database: singletable.Database,
    view: PastView,
    operation: str,
    request_: Any,
    is_past: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[Any] = []
    plain = PLAIN[operation]

    def recorded(*given: Any) -> Any:
        read.append(plain(*given))
        return read[-1]

    monkeypatch.setitem(PLAIN, operation, recorded)
    session = view._session if is_past else database._session
    assert answers.answer(session, operation, json.dumps(request_).encode()).status == 200
    assert read[0] is not None


def test_fast_ways_show_the_moment_of_a_view(database: singletable.Database, view: PastView) -> None:
    now, then = database._session, view._session
    assert both_ways(now, "GetItem", GET) == (200, {})
    assert both_ways(then, "GetItem", GET)[1]["Item"]["N"] == {"N": "1"}
    assert [item["SK"]["S"] for item in both_ways(now, "Query", QUERY)[1]["Items"]] == ["1x", "3", "4"]
    assert [item["SK"]["S"] for item in both_ways(then, "Query", QUERY)[1]["Items"]] == ["1", "2", "3"]


@pytest.mark.parametrize(("operation", "request_"), [("GetItem", GET), ("Query", QUERY)])
def test_fast_way_refuses_a_moment_that_is_not_kept(
    database: singletable.Database, operation: str, request_: Any
) -> None:
    with database.at(START_S - 60) as too_early:
        status, answer = both_ways(too_early._session, operation, request_)
    assert status == 400
    assert answer["__type"].endswith("#InvalidRestoreTimeException")
