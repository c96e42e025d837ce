"""Every target is the same to whoever calls it: answers, refusals, steps, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from singletable.client import DYNAMODB_LOCAL, EMBEDDED, Call, Client, Steps, Together, Wait
from singletable.client.embedded import EmbeddedClient
from singletable.errors import (
    ApiError,
    ConditionFailedError,
    ResourceNotFoundError,
    TransactionCanceledError,
    ValidationError,
)
from support.sample_tables import attributes, index, item, key_schema
from support.targets import EVERY_TARGET, opened

TABLE: dict[str, Any] = {
    "TableName": "single",
    "KeySchema": key_schema("PK", "SK"),
    "AttributeDefinitions": attributes(PK="S", SK="S", GSI1PK="S", GSI1SK="S"),
    "GlobalSecondaryIndexes": [index("GSI1", "GSI1PK", "GSI1SK")],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture(params=EVERY_TARGET)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    waits: list[float] = []
    with opened(request.param, sleep=waits.append) as client:
        client.call("CreateTable", TABLE)
        yield client


def put(sort: str, **more: Any) -> Call:
    return Call("PutItem", {"TableName": "single", "Item": item("a", sort, **more)})


def get(sort: str) -> Call:
    return Call("GetItem", {"TableName": "single", "Key": item("a", sort)})


def run(client: Client, steps: Steps[Any], *, is_async: bool) -> Any:
    return asyncio.run(client.arun(steps)) if is_async else client.run(steps)


both_ways = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])

# --- answers --------------------------------------------------------------------------------------------


def test_item_comes_back_as_it_was_put_and_nothing_else(client: Client) -> None:
    values = {"n": {"N": "-1.5"}, "b": {"B": b"\x00\xff"}, "l": {"L": [{"BOOL": True}, {"NULL": True}]}}
    client.call("PutItem", {"TableName": "single", "Item": item("a", "1", **values)})
    assert client.call("GetItem", get("1").params) == {"Item": item("a", "1", **values)}
    assert client.call("GetItem", get("2").params) == {}


def test_consumed_units_are_in_the_answer(client: Client) -> None:
    request = {**get("1").params, "ReturnConsumedCapacity": "TOTAL", "ConsistentRead": True}
    consumed = client.call("GetItem", request)["ConsumedCapacity"]
    assert consumed == {"TableName": "single", "CapacityUnits": 1.0}


def test_streams_are_read_through_the_same_client(client: Client) -> None:
    client.call(
        "UpdateTable",
        {
            "TableName": "single",
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        },
    )
    (stream,) = client.call("ListStreams", {"TableName": "single"})["Streams"]
    described = client.call("DescribeStream", {"StreamArn": stream["StreamArn"]})["StreamDescription"]
    assert described["StreamViewType"] == "KEYS_ONLY"


# --- refusals -------------------------------------------------------------------------------------------


def test_missing_table_raises_not_found(client: Client) -> None:
    with pytest.raises(ResourceNotFoundError, match=r"."):
        client.call("GetItem", {**get("1").params, "TableName": "other"})


def test_invalid_request_raises_validation_error(client: Client) -> None:
    with pytest.raises(ValidationError) as caught:
        client.call("PutItem", {"TableName": "single", "Item": {"PK": {"S": "a"}}})
    assert caught.value.message
    assert str(caught.value) == caught.value.message


def test_failed_condition_carries_the_item(client: Client) -> None:
    client.call("PutItem", put("1", b={"B": b"\x80"}).params)
    condition = {
        "ConditionExpression": "attribute_not_exists(PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    with pytest.raises(ConditionFailedError) as caught:
        client.call("PutItem", {**put("1").params, **condition})
    assert caught.value.item == item("a", "1", b={"B": b"\x80"})
    assert caught.value.message == "The conditional request failed"


def test_cancelled_transaction_carries_a_reason_for_every_action(client: Client) -> None:
    client.call("PutItem", put("1", b={"B": b"\x80"}).params)
    refused = {
        **put("1").params,
        "ConditionExpression": "attribute_not_exists(PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    with pytest.raises(TransactionCanceledError) as caught:
        client.call("TransactWriteItems", {"TransactItems": [{"Put": put("2").params}, {"Put": refused}]})
    fine, failed = caught.value.reasons
    assert (fine.code, fine.item) == ("None", None)
    assert failed.code == "ConditionalCheckFailed"
    assert failed.message == "The conditional request failed"
    assert failed.item == item("a", "1", b={"B": b"\x80"})
    assert "[None, ConditionalCheckFailed]" in caught.value.message


# --- steps ----------------------------------------------------------------------------------------------


@both_ways
def test_steps_are_sent_their_answers_and_return_their_result(client: Client, *, is_async: bool) -> None:
    def steps() -> Steps[str]:
        yield put("1", name="x")
        found = yield get("1")
        name: str = found["Item"]["name"]["S"]
        return name

    assert run(client, steps(), is_async=is_async) == "x"


@both_ways
def test_calls_together_are_answered_in_their_order(client: Client, *, is_async: bool) -> None:
    def steps() -> Steps[list[str]]:
        yield Together(tuple(put(f"{number}") for number in range(40)))
        answers = yield Together(tuple(get(f"{number}") for number in range(40)))
        assert (yield Together(())) == []
        return [answer["Item"]["SK"]["S"] for answer in answers]

    assert run(client, steps(), is_async=is_async) == [f"{number}" for number in range(40)]


@both_ways
def test_refusal_is_thrown_where_the_steps_wait(client: Client, *, is_async: bool) -> None:
    def steps() -> Steps[list[str]]:
        caught = []
        for step in (Call("GetItem", {"TableName": "other", "Key": {}}), Together((get("1"), get_wrongly()))):
            try:
                yield step
            except ApiError as error:
                caught.append(error.code)
        yield put("1")
        return caught

    caught = run(client, steps(), is_async=is_async)
    assert caught[0] in ("ResourceNotFoundException", "ValidationException")
    assert caught[1:] == ["ValidationException"]


def get_wrongly() -> Call:
    return Call("GetItem", {"TableName": "single", "Key": {"PK": {"S": "a"}}})


@both_ways
def test_refusal_that_the_steps_do_not_catch_is_raised(client: Client, *, is_async: bool) -> None:
    cleaned_up = []

    def steps() -> Steps[None]:
        try:
            yield get_wrongly()
        finally:
            cleaned_up.append(True)

    with pytest.raises(ValidationError):
        run(client, steps(), is_async=is_async)
    assert cleaned_up


@both_ways
def test_steps_without_any_call_only_return(client: Client, *, is_async: bool) -> None:
    def steps() -> Steps[int]:
        yield from ()
        return 7

    assert run(client, steps(), is_async=is_async) == 7


@pytest.mark.parametrize("target", EVERY_TARGET)
@both_ways
def test_wait_goes_to_the_sleep_that_was_given(target: str, *, is_async: bool) -> None:
    waits: list[float] = []

    def steps() -> Steps[None]:
        assert (yield Wait(1.5)) is None

    with opened(target, sleep=waits.append) as client:
        run(client, steps(), is_async=is_async)
    assert waits == [1.5]


@pytest.mark.parametrize("target", EVERY_TARGET)
@both_ways
def test_random_wait_takes_the_part_that_random_tells(target: str, *, is_async: bool) -> None:
    waits: list[float] = []

    def steps() -> Steps[None]:
        yield Wait(2.0, is_random=True)
        yield Wait(2.0)

    with opened(target, sleep=waits.append, random=lambda: 0.25) as client:
        run(client, steps(), is_async=is_async)
    assert waits == [0.5, 2.0]


def test_random_wait_is_never_longer_than_its_seconds(client: Client) -> None:
    slept: list[float] = []
    client.sleep = slept.append

    def steps() -> Steps[None]:
        for _ in range(100):
            yield Wait(2.0, is_random=True)

    client.run(steps())
    assert len(set(slept)) > 90
    assert all(0 <= seconds < 2 for seconds in slept)


def test_async_steps_of_many_tasks_run_beside_each_other(client: Client) -> None:
    def steps(number: int) -> Steps[Any]:
        yield put(f"{number}")
        return (yield get(f"{number}"))

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(client.arun(steps(number)) for number in range(20)))

    assert [found["Item"]["SK"]["S"] for found in asyncio.run(all_of_them())] == [
        f"{number}" for number in range(20)
    ]


# --- capabilities ---------------------------------------------------------------------------------------


def test_capabilities_are_those_of_the_target(request: pytest.FixtureRequest, client: Client) -> None:
    is_aws_local = "aws-local" in request.node.name
    assert client.capabilities == (DYNAMODB_LOCAL if is_aws_local else EMBEDDED)
    assert client.call("ListTables", {})["TableNames"] == ["single"]


def test_embedded_client_has_the_clock_of_its_database(client: Client) -> None:
    if isinstance(client, EmbeddedClient):
        assert client.clock is client.database.clock
