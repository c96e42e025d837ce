"""A session of aioboto3, client and resource, against the endpoint of the environment."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import aioboto3
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError
from proving import introduce, proof, raises

TABLE = "orders"
LONG_NUMBER = "12345678901234567890123456789012345678"


def key(customer: str, order: int) -> dict[str, Any]:
    return {"customer": {"S": customer}, "order": {"N": str(order)}}


async def tables(client: Any) -> None:
    with proof("CreateTable with a global and a local index, the waiter, DescribeTable"):
        await client.create_table(
            TableName=TABLE,
            AttributeDefinitions=[
                {"AttributeName": "customer", "AttributeType": "S"},
                {"AttributeName": "order", "AttributeType": "N"},
                {"AttributeName": "status", "AttributeType": "S"},
            ],
            KeySchema=[
                {"AttributeName": "customer", "KeyType": "HASH"},
                {"AttributeName": "order", "KeyType": "RANGE"},
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by_status",
                    "KeySchema": [
                        {"AttributeName": "status", "KeyType": "HASH"},
                        {"AttributeName": "order", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            LocalSecondaryIndexes=[
                {
                    "IndexName": "of_customer_by_status",
                    "KeySchema": [
                        {"AttributeName": "customer", "KeyType": "HASH"},
                        {"AttributeName": "status", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        waiter = client.get_waiter("table_exists")
        await waiter.wait(TableName=TABLE)
        described = await client.describe_table(TableName=TABLE)
        assert described["Table"]["TableStatus"] == "ACTIVE"
        assert len(described["Table"]["LocalSecondaryIndexes"]) == 1


async def items(client: Any) -> None:
    with proof("PutItem, GetItem, UpdateItem, DeleteItem with conditions; binary, sets, 38 digits"):
        item = {
            **key("ada", 1),
            "status": {"S": "open"},
            "receipt": {"B": b"\x00\xff"},
            "parts": {"BS": [b"\x00", b"\x01"]},
            "amount": {"N": LONG_NUMBER},
            "tags": {"SS": ["a", "b"]},
        }
        await client.put_item(TableName=TABLE, Item=item)
        got = await client.get_item(TableName=TABLE, Key=key("ada", 1), ConsistentRead=True)
        assert got["Item"] == item
        updated = await client.update_item(
            TableName=TABLE,
            Key=key("ada", 1),
            UpdateExpression="SET #status = :paid REMOVE receipt",
            ConditionExpression="#status = :open",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":paid": {"S": "paid"}, ":open": {"S": "open"}},
            ReturnValues="ALL_NEW",
        )
        assert updated["Attributes"]["status"] == {"S": "paid"}
        assert "receipt" not in updated["Attributes"]
        deleted = await client.delete_item(TableName=TABLE, Key=key("ada", 1), ReturnValues="ALL_OLD")
        assert deleted["Attributes"]["amount"] == {"N": LONG_NUMBER}


async def errors(client: Any) -> None:
    with proof("errors as typed exceptions"):
        with raises(client.exceptions.ConditionalCheckFailedException) as caught:
            await client.update_item(
                TableName=TABLE,
                Key=key("nobody", 1),
                UpdateExpression="REMOVE tags",
                ConditionExpression="attribute_exists(customer)",
            )
        assert caught.error.response["Error"]["Message"] == "The conditional request failed"
        with raises(ClientError) as caught:
            await client.query(TableName=TABLE, KeyConditionExpression="customer = :missing")
        assert caught.error.response["Error"]["Code"] == "ValidationException"
        assert "not defined; attribute value: :missing" in caught.error.response["Error"]["Message"]


async def many_at_once(client: Any) -> None:
    with proof("200 writes and 200 reads at once on one client"):
        await asyncio.gather(
            *(
                client.update_item(
                    TableName=TABLE,
                    Key=key("counter", number % 4),
                    UpdateExpression="ADD hits :one",
                    ExpressionAttributeValues={":one": {"N": "1"}},
                )
                for number in range(200)
            )
        )
        answers = await asyncio.gather(
            *(client.get_item(TableName=TABLE, Key=key("counter", number % 4)) for number in range(200))
        )
        assert {answer["Item"]["hits"]["N"] for answer in answers} == {"50"}


async def pages(client: Any) -> None:
    with proof("BatchWriteItem; Query and Scan through paginators, on the table and on an index"):
        puts = [
            {"PutRequest": {"Item": {**key("bob", number), "status": {"S": "open"}}}} for number in range(25)
        ]
        answer = await client.batch_write_item(RequestItems={TABLE: puts})
        assert answer["UnprocessedItems"] == {}
        orders = [
            int(item["order"]["N"])
            async for page in client.get_paginator("query").paginate(
                TableName=TABLE,
                IndexName="by_status",
                KeyConditionExpression="#status = :open AND #order > :low",
                ExpressionAttributeNames={"#status": "status", "#order": "order"},
                ExpressionAttributeValues={":open": {"S": "open"}, ":low": {"N": "4"}},
                ScanIndexForward=False,
                PaginationConfig={"PageSize": 6},
            )
            for item in page["Items"]
        ]
        assert orders == list(range(24, 4, -1))
        scanned = [
            page["Count"]
            async for page in client.get_paginator("scan").paginate(
                TableName=TABLE, PaginationConfig={"PageSize": 10}
            )
        ]
        assert sum(scanned) == 29


async def transactions(client: Any) -> None:
    with proof("TransactWriteItems, TransactGetItems, the reasons of a cancelled transaction"):
        put = {"Put": {"TableName": TABLE, "Item": key("eve", 1)}}
        check = {
            "ConditionCheck": {
                "TableName": TABLE,
                "Key": key("bob", 3),
                "ConditionExpression": "attribute_exists(customer)",
            }
        }
        await client.transact_write_items(TransactItems=[put, check])
        got = await client.transact_get_items(
            TransactItems=[{"Get": {"TableName": TABLE, "Key": key("eve", 1)}}],
            ReturnConsumedCapacity="TOTAL",
        )
        assert got["Responses"] == [{"Item": key("eve", 1)}]
        assert got["ConsumedCapacity"] == [
            {"TableName": TABLE, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}
        ]
        check["ConditionCheck"]["Key"] = key("bob", 99)
        with raises(client.exceptions.TransactionCanceledException) as caught:
            await client.transact_write_items(TransactItems=[put, check])
        codes = [reason["Code"] for reason in caught.error.response["CancellationReasons"]]
        assert codes == ["None", "ConditionalCheckFailed"]


async def resource_calls(resource: Any) -> None:
    with proof("the resource: Table, batch_writer, conditions as objects, Decimal"):
        table = await resource.Table(TABLE)
        async with table.batch_writer() as batch:
            for number in range(60):
                await batch.put_item(Item={"customer": "fay", "order": number, "price": Decimal("9.99")})
        found = await table.query(
            KeyConditionExpression=Key("customer").eq("fay") & Key("order").gte(50),
            FilterExpression=Attr("price").lt(10),
        )
        assert [item["order"] for item in found["Items"]] == list(range(50, 60))
        assert found["Items"][0]["price"] == Decimal("9.99")


async def end(client: Any) -> None:
    with proof("DeleteTable and its waiter"):
        await client.delete_table(TableName=TABLE)
        await client.get_waiter("table_not_exists").wait(TableName=TABLE)
        assert (await client.list_tables())["TableNames"] == []


async def main() -> None:
    introduce("aioboto3", version("aioboto3"))
    session = aioboto3.Session()
    async with session.client("dynamodb") as client, session.resource("dynamodb") as resource:
        await tables(client)
        await items(client)
        await errors(client)
        await many_at_once(client)
        await pages(client)
        await transactions(client)
        await resource_calls(resource)
        await end(client)


asyncio.run(main())
