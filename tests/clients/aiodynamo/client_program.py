"""A session of aiodynamo, over httpx and over aiohttp, against the endpoint of the environment."""

from __future__ import annotations

import asyncio
import os
import time
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import aiohttp
import httpx
from aiodynamo.client import Client
from aiodynamo.credentials import Credentials
from aiodynamo.errors import (
    ConditionalCheckFailed,
    IdempotentParameterMismatch,
    ItemNotFound,
    TableNotFound,
    TransactionCanceled,
    ValidationException,
)
from aiodynamo.expressions import F, HashKey, RangeKey
from aiodynamo.http.aiohttp import AIOHTTP
from aiodynamo.http.httpx import HTTPX
from aiodynamo.models import (
    BatchGetRequest,
    BatchWriteRequest,
    GlobalSecondaryIndex,
    KeySchema,
    KeySpec,
    KeyType,
    LocalSecondaryIndex,
    PayPerRequest,
    Projection,
    ProjectionType,
    ReturnValues,
    Select,
    StaticDelayRetry,
    StreamSpecification,
    TableStatus,
    Throughput,
    TimeToLiveStatus,
)
from aiodynamo.operations import ConditionCheck, Delete, Get, Put, Update
from proving import introduce, proof, raises
from yarl import URL

WAIT = StaticDelayRetry(delay=0.05, time_limit_secs=20)
ORDERS = "orders"
LONG_NUMBER = Decimal("12345678901234567890123456789012345678")
TEXT = "x" * 40_000


def key(customer: str, order: int) -> dict[str, Any]:
    return {"customer": customer, "order": order}


async def tables(client: Client) -> None:
    with proof(
        "create_table with a global and a local index, a stream, both billing modes; exists, describe"
    ):
        customer = KeySpec("customer", KeyType.string)
        order = KeySpec("order", KeyType.number)
        status = KeySpec("status", KeyType.string)
        everything = Projection(ProjectionType.all)
        made = await client.create_table(
            ORDERS,
            Throughput(read=5, write=5),
            KeySchema(customer, order),
            gsis=[
                GlobalSecondaryIndex(
                    "by_status", KeySchema(status, order), everything, Throughput(read=5, write=5)
                )
            ],
            lsis=[
                LocalSecondaryIndex(
                    "of_customer_by_status",
                    KeySchema(customer, status),
                    Projection(ProjectionType.include, ["price"]),
                )
            ],
            stream=StreamSpecification(enabled=True),
            wait_for_active=WAIT,
        )
        assert made.status is TableStatus.active
        assert made.throughput == Throughput(read=5, write=5)
        sessions = client.table("sessions")
        assert not await sessions.exists()
        await sessions.create(PayPerRequest(), KeySchema(KeySpec("id", KeyType.binary)), wait_for_active=WAIT)
        assert await sessions.exists()
        described = await sessions.describe()
        assert described.throughput == PayPerRequest()
        assert described.key_schema == KeySchema(KeySpec("id", KeyType.binary))


async def items(client: Client) -> None:
    table = client.table(ORDERS)
    with proof("put_item, get_item, delete_item: every type, 38 digits, projections, returned values"):
        item = {
            **key("ada", 1),
            "status": "open",
            "price": LONG_NUMBER,
            "receipt": b"\x00\xff",
            "nothing": None,
            "paid": False,
            "note": "",
            "tags": {"a", "b"},
            "sizes": {Decimal(1), Decimal("2.5")},
            "parts": {b"\x00", b"\x01"},
            "lines": [{"product": "loom", "count": 2}, ["deep"]],
        }
        assert await table.put_item(item) is None
        assert await table.get_item(key("ada", 1), consistent_read=True) == item
        projected = await table.get_item(key("ada", 1), projection=F("lines", 0, "product") & F("price"))
        assert projected == {"lines": [{"product": "loom"}], "price": LONG_NUMBER}
        old = await table.put_item({**key("ada", 1), "status": "new"}, return_values=ReturnValues.all_old)
        assert old == item
        gone = await table.delete_item(key("ada", 1), return_values=ReturnValues.all_old)
        assert gone == {**key("ada", 1), "status": "new"}
        with raises(ItemNotFound):
            await table.get_item(key("ada", 1))


async def updates(client: Client) -> None:
    table = client.table(ORDERS)
    with proof("update_item: set, change, append, if not exists, add and delete of sets, remove"):
        await table.put_item({**key("bob", 1), "count": 1, "lines": ["a"], "tags": {"x"}, "old": "o"})
        updated = await table.update_item(
            key("bob", 1),
            F("status").set("open")
            & F("count").change(4)
            & F("lines").append(["b"])
            & F("price").set_if_not_exists(7)
            & F("tags").add({"y"})
            & F("visits").add(1)
            & F("old").remove(),
            return_values=ReturnValues.all_new,
        )
        assert updated == {
            **key("bob", 1),
            "status": "open",
            "count": 5,
            "lines": ["a", "b"],
            "price": 7,
            "tags": {"x", "y"},
            "visits": 1,
        }
        only_new = await table.update_item(
            key("bob", 1),
            F("tags").delete({"x"}) & F("count").change(-2),
            return_values=ReturnValues.updated_new,
        )
        assert only_new == {"tags": {"y"}, "count": 3}


async def errors(client: Client) -> None:
    table = client.table(ORDERS)
    with proof("conditions of every kind; those that fail and other errors as exceptions"):
        held = (
            F("status").equals("open")
            & F("count").between(1, 3)
            & (F("missing").exists() | F("lines").contains("b"))
            & ~F("status").begins_with("p")
            & F("lines").size().gte(2)
            & F("status").is_in(["open", "paid"])
        )
        await table.update_item(key("bob", 1), F("seen").set(True), condition=held)
        with raises(ConditionalCheckFailed) as caught:
            await table.put_item(key("bob", 1), condition=F("customer").does_not_exist())
        assert "The conditional request failed" in str(caught.error)
        with raises(ConditionalCheckFailed):
            await table.delete_item(key("bob", 1), condition=F("count").gt(3))
        with raises(ValidationException) as caught:
            await table.put_item({"customer": "bob"})
        assert "Missing the key order in the item" in str(caught.error)
        with raises(TableNotFound):
            await client.table("missing").get_item({"id": "x"})


async def pages(client: Client) -> None:
    table = client.table(ORDERS)
    with proof("batch_write and batch_get; query, scan and count over pages, on both kinds of index"):
        # Sixty items of 40 KB: three pages of a query, since `limit` is the number of items in all.
        orders = [
            {**key("eve", number), "status": "open" if number % 2 else "done", "price": number, "text": TEXT}
            for number in range(60)
        ]
        for start in range(0, 60, 20):
            written = await client.batch_write(
                {ORDERS: BatchWriteRequest(items_to_put=orders[start : start + 20])}
            )
            assert written == {}
        got = await client.batch_get(
            {
                ORDERS: BatchGetRequest(
                    [key("eve", number) for number in range(70)], projection=F("order"), consistent_read=True
                )
            }
        )
        assert sorted(item["order"] for item in got.items[ORDERS]) == list(range(60))
        assert got.unprocessed_keys == {}
        await client.batch_write({ORDERS: BatchWriteRequest(keys_to_delete=[key("eve", 0)])})
        late = HashKey("customer", "eve") & RangeKey("order").gte(10)
        assert [item["order"] async for item in table.query(late)] == list(range(10, 60))
        assert [item["order"] async for item in table.query(late, limit=30)] == list(range(10, 40))
        open_ones = HashKey("status", "open") & RangeKey("order").between(21, 39)
        found: list[Any] = []
        page = await table.query_single_page(open_ones, index="by_status", scan_forward=False, limit=3)
        while not page.is_last_page:
            found += page.items
            page = await table.query_single_page(
                open_ones,
                index="by_status",
                scan_forward=False,
                limit=3,
                start_key=page.last_evaluated_key,
            )
        assert [item["order"] for item in found + page.items] == list(range(39, 20, -2))
        done = table.query(
            HashKey("customer", "eve") & RangeKey("status").begins_with("do"),
            index="of_customer_by_status",
            select=Select.all_projected_attributes,
            filter_expression=F("price").lt(10),
            consistent_read=True,
        )
        assert sorted([item["price"] async for item in done]) == [2, 4, 6, 8]
        assert await table.count(HashKey("customer", "eve")) == 59
        assert await table.scan_count(filter_expression=F("price").gt(50)) == 9
        assert len([item async for item in table.scan(projection=F("order"))]) == 60


async def transactions(client: Client) -> None:
    with proof("transact_write_items and transact_get_items; the reasons of a cancelled one; tokens"):
        operations = [
            Put(ORDERS, {**key("fay", 1), "count": 1}, condition=F("customer").does_not_exist()),
            Update(ORDERS, key("bob", 1), F("count").change(10)),
            Delete(ORDERS, key("eve", 59), condition=F("customer").exists()),
            ConditionCheck(ORDERS, key("eve", 58), condition=F("price").equals(58)),
        ]
        await client.transact_write_items(operations, request_token="only-once")
        await client.transact_write_items(operations, request_token="only-once")
        read = await client.transact_get_items(
            [Get(ORDERS, key("fay", 1)), Get(ORDERS, key("bob", 1), projection=F("count"))]
        )
        assert read == [{**key("fay", 1), "count": 1}, {"count": 13}]
        with raises(IdempotentParameterMismatch):
            await client.transact_write_items(operations[:1], request_token="only-once")
        with raises(TransactionCanceled) as caught:
            await client.transact_write_items(operations)
        reasons = caught.error.cancellation_reasons
        assert [reason and reason.code for reason in reasons] == [
            "ConditionalCheckFailed",
            None,
            "ConditionalCheckFailed",
            None,
        ]


async def expiry(client: Client) -> None:
    sessions = client.table("sessions")
    with proof("time_to_live: enable, describe; what has expired goes"):
        await sessions.time_to_live.enable("expires_s", wait_for_enabled=WAIT)
        described = await sessions.time_to_live.describe()
        assert (described.attribute, described.status) == ("expires_s", TimeToLiveStatus.enabled)
        now_s = int(time.time())
        await sessions.put_item({"id": b"tomorrow", "expires_s": now_s + 86_400})
        await sessions.put_item({"id": b"yesterday", "expires_s": now_s - 86_400})
        end_s = time.monotonic() + 60
        while [item["id"] async for item in sessions.scan()] != [b"tomorrow"]:
            assert time.monotonic() < end_s, "it does not go"
            await asyncio.sleep(0.05)
        with raises(ValidationException) as caught:
            await sessions.time_to_live.enable("expires_s")
        assert "TimeToLive is already enabled" in str(caught.error)


async def many_at_once(client: Client) -> None:
    table = client.table(ORDERS)
    with proof("200 writes and 200 reads at once, over aiohttp"):
        await asyncio.gather(
            *(table.update_item(key("counter", number % 4), F("hits").add(1)) for number in range(200))
        )
        got = await asyncio.gather(*(table.get_item(key("counter", number % 4)) for number in range(200)))
        assert {item["hits"] for item in got} == {50}


async def end(client: Client) -> None:
    with proof("delete_table"):
        await client.delete_table(ORDERS, wait_for_disabled=WAIT)
        await client.table("sessions").delete(wait_for_disabled=WAIT)
        assert not await client.table_exists(ORDERS)
        with raises(TableNotFound):
            await client.describe_table(ORDERS)


async def main() -> None:
    introduce("aiodynamo", version("aiodynamo"))
    # aiodynamo reads credentials from the environment, but no endpoint.
    place = {
        "credentials": Credentials.auto(),
        "region": os.environ["AWS_REGION"],
        "endpoint": URL(os.environ["AWS_ENDPOINT_URL_DYNAMODB"]),
        "numeric_type": Decimal,
    }
    async with httpx.AsyncClient() as session:
        client = Client(HTTPX(session), **place)
        await tables(client)
        await items(client)
        await updates(client)
        await errors(client)
        await pages(client)
        await transactions(client)
        await expiry(client)
        async with aiohttp.ClientSession() as other_session:
            await many_at_once(Client(AIOHTTP(other_session), **place))
        await end(client)


asyncio.run(main())
