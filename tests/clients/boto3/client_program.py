"""A session of boto3, client and resource, against the endpoint of the environment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.config import Config
from botocore.exceptions import ClientError
from proving import introduce, proof, raises

TABLE = "music"
LONG_NUMBER = Decimal("-1234567890123456789.0123456789012345678")


def name(artist: str, song: str) -> dict[str, Any]:
    return {"artist": {"S": artist}, "song": {"S": song}}


def tables(client: Any) -> None:
    with proof("CreateTable with a global and a local index, the waiter, DescribeTable, ListTables"):
        client.create_table(
            TableName=TABLE,
            AttributeDefinitions=[
                {"AttributeName": "artist", "AttributeType": "S"},
                {"AttributeName": "song", "AttributeType": "S"},
                {"AttributeName": "genre", "AttributeType": "S"},
                {"AttributeName": "year", "AttributeType": "N"},
            ],
            KeySchema=[
                {"AttributeName": "artist", "KeyType": "HASH"},
                {"AttributeName": "song", "KeyType": "RANGE"},
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by_genre",
                    "KeySchema": [
                        {"AttributeName": "genre", "KeyType": "HASH"},
                        {"AttributeName": "year", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["length_s"]},
                }
            ],
            LocalSecondaryIndexes=[
                {
                    "IndexName": "by_year",
                    "KeySchema": [
                        {"AttributeName": "artist", "KeyType": "HASH"},
                        {"AttributeName": "year", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        client.get_waiter("table_exists").wait(TableName=TABLE)
        described = client.describe_table(TableName=TABLE)["Table"]
        assert described["TableStatus"] == "ACTIVE"
        assert described["TableArn"].endswith(":table/music")
        assert [index["IndexName"] for index in described["GlobalSecondaryIndexes"]] == ["by_genre"]
        assert [index["IndexName"] for index in described["LocalSecondaryIndexes"]] == ["by_year"]
        assert client.list_tables()["TableNames"] == [TABLE]


def items(client: Any) -> None:
    with proof("PutItem, GetItem, UpdateItem, DeleteItem with conditions, projections and returned values"):
        item = {**name("Nina", "Sinnerman"), "year": {"N": "1965"}, "genre": {"S": "jazz"}}
        assert "Attributes" not in client.put_item(TableName=TABLE, Item=item)
        old = client.put_item(TableName=TABLE, Item=item, ReturnValues="ALL_OLD")
        assert old["Attributes"] == item
        updated = client.update_item(
            TableName=TABLE,
            Key=name("Nina", "Sinnerman"),
            UpdateExpression="SET length_s = if_not_exists(length_s, :zero) + :length ADD tags :tags",
            ConditionExpression="#year < :now AND attribute_exists(artist)",
            ExpressionAttributeNames={"#year": "year"},
            ExpressionAttributeValues={
                ":zero": {"N": "0"},
                ":length": {"N": "622"},
                ":tags": {"SS": ["live", "long"]},
                ":now": {"N": "2000"},
            },
            ReturnValues="UPDATED_NEW",
        )
        assert updated["Attributes"]["length_s"] == {"N": "622"}
        assert sorted(updated["Attributes"]["tags"]["SS"]) == ["live", "long"]
        found = client.get_item(
            TableName=TABLE,
            Key=name("Nina", "Sinnerman"),
            ProjectionExpression="length_s",
            ConsistentRead=True,
        )
        assert found["Item"] == {"length_s": {"N": "622"}}
        gone = client.delete_item(TableName=TABLE, Key=name("Nina", "Sinnerman"), ReturnValues="ALL_OLD")
        assert gone["Attributes"]["genre"] == {"S": "jazz"}
        assert "Item" not in client.get_item(TableName=TABLE, Key=name("Nina", "Sinnerman"))


def errors(client: Any) -> None:
    with proof("errors as typed exceptions with AWS's codes and messages; a failed condition with its item"):
        client.put_item(TableName=TABLE, Item=name("Nina", "Sinnerman"))
        with raises(client.exceptions.ConditionalCheckFailedException) as caught:
            client.put_item(
                TableName=TABLE,
                Item=name("Nina", "Sinnerman"),
                ConditionExpression="attribute_not_exists(artist)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        assert caught.error.response["Error"]["Message"] == "The conditional request failed"
        assert caught.error.response["Item"] == name("Nina", "Sinnerman")
        with raises(client.exceptions.ResourceNotFoundException) as caught:
            client.describe_table(TableName="missing")
        assert caught.error.response["ResponseMetadata"]["HTTPStatusCode"] == 400
        assert (
            caught.error.response["Error"]["Message"]
            == "Requested resource not found: Table: missing not found"
        )
        with raises(ClientError) as caught:
            client.put_item(TableName=TABLE, Item={"artist": {"S": "Nina"}})
        assert caught.error.response["Error"]["Code"] == "ValidationException"
        assert caught.error.response["Error"]["Message"].endswith("Missing the key song in the item")
        with raises(client.exceptions.ResourceInUseException):
            client.create_table(
                TableName=TABLE,
                AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                BillingMode="PAY_PER_REQUEST",
            )


def batches(client: Any) -> None:
    with proof("BatchWriteItem and BatchGetItem of 25 and 100 items"):
        for first in range(0, 100, 25):
            puts = [
                {
                    "PutRequest": {
                        "Item": {
                            **name("Bach", f"BWV {number:04}"),
                            "genre": {"S": "baroque"},
                            "year": {"N": str(1700 + number // 2)},
                        }
                    }
                }
                for number in range(first, first + 25)
            ]
            assert client.batch_write_item(RequestItems={TABLE: puts})["UnprocessedItems"] == {}
        keys = [name("Bach", f"BWV {number:04}") for number in range(100)]
        answer = client.batch_get_item(RequestItems={TABLE: {"Keys": keys, "ProjectionExpression": "song"}})
        assert len(answer["Responses"][TABLE]) == 100
        assert answer["UnprocessedKeys"] == {}


def pages(client: Any) -> None:
    with proof(
        "Query and Scan through paginators: on the table, on both kinds of index, backwards, filtered"
    ):
        by_artist = {
            "TableName": TABLE,
            "KeyConditionExpression": "artist = :artist AND begins_with(song, :start)",
            "ExpressionAttributeValues": {":artist": {"S": "Bach"}, ":start": {"S": "BWV 00"}},
        }
        query = client.get_paginator("query")
        songs = [
            item["song"]["S"]
            for page in query.paginate(**by_artist, PaginationConfig={"PageSize": 7})
            for item in page["Items"]
        ]
        assert songs == [f"BWV {number:04}" for number in range(100)]
        assert [
            item["song"]["S"]
            for page in query.paginate(**by_artist, ScanIndexForward=False, PaginationConfig={"PageSize": 30})
            for item in page["Items"]
        ] == songs[::-1]
        # Two items share each year: a page may end between them.
        by_genre = query.paginate(
            TableName=TABLE,
            IndexName="by_genre",
            KeyConditionExpression="genre = :genre AND #year BETWEEN :low AND :high",
            ExpressionAttributeNames={"#year": "year"},
            ExpressionAttributeValues={
                ":genre": {"S": "baroque"},
                ":low": {"N": "1700"},
                ":high": {"N": "1709"},
            },
            PaginationConfig={"PageSize": 3},
        )
        found = [item for page in by_genre for item in page["Items"]]
        assert len(found) == 20
        assert len({item["song"]["S"] for item in found}) == 20
        assert all(item.keys() == {"artist", "song", "genre", "year"} for item in found)
        by_year = client.query(
            TableName=TABLE,
            IndexName="by_year",
            ConsistentRead=True,
            KeyConditionExpression="artist = :artist AND #year >= :year",
            ExpressionAttributeNames={"#year": "year"},
            ExpressionAttributeValues={":artist": {"S": "Bach"}, ":year": {"N": "1749"}},
        )
        assert [item["song"]["S"] for item in by_year["Items"]] == ["BWV 0098", "BWV 0099"]
        scanned = client.get_paginator("scan").paginate(
            TableName=TABLE,
            FilterExpression="genre = :genre",
            ExpressionAttributeValues={":genre": {"S": "baroque"}},
            PaginationConfig={"PageSize": 11},
        )
        counts = [(page["Count"], page["ScannedCount"]) for page in scanned]
        assert [sum(column) for column in zip(*counts, strict=True)] == [100, 101]

    with proof("Scan in parallel segments"):
        with ThreadPoolExecutor(4) as threads:
            segments = threads.map(
                lambda segment: client.scan(TableName=TABLE, Segment=segment, TotalSegments=4)["Items"],
                range(4),
            )
            seen = [(item["artist"]["S"], item["song"]["S"]) for segment in segments for item in segment]
        assert len(seen) == len(set(seen)) == 101


def transactions(client: Any) -> None:
    with proof("TransactWriteItems and TransactGetItems; the reasons of a cancelled transaction; tokens"):
        put = {"Put": {"TableName": TABLE, "Item": {**name("Nina", "Four Women"), "plays": {"N": "0"}}}}
        add = {
            "Update": {
                "TableName": TABLE,
                "Key": name("Nina", "Sinnerman"),
                "UpdateExpression": "ADD plays :one",
                "ExpressionAttributeValues": {":one": {"N": "1"}},
            }
        }
        for _ in range(2):
            client.transact_write_items(TransactItems=[put, add], ClientRequestToken="only-once")
        got = client.transact_get_items(
            TransactItems=[
                {"Get": {"TableName": TABLE, "Key": name("Nina", song)}}
                for song in ("Sinnerman", "Lilac Wine")
            ]
        )
        assert got["Responses"] == [{"Item": {**name("Nina", "Sinnerman"), "plays": {"N": "1"}}}, {}]
        with raises(client.exceptions.TransactionCanceledException) as caught:
            client.transact_write_items(
                TransactItems=[
                    add,
                    {
                        "ConditionCheck": {
                            "TableName": TABLE,
                            "Key": name("Nina", "Four Women"),
                            "ConditionExpression": "plays > :zero",
                            "ExpressionAttributeValues": {":zero": {"N": "0"}},
                            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                        }
                    },
                ]
            )
        assert caught.error.response["Error"]["Message"] == (
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[None, ConditionalCheckFailed]"
        )
        nothing, failed = caught.error.response["CancellationReasons"]
        assert nothing == {"Code": "None"}
        assert failed["Code"] == "ConditionalCheckFailed"
        assert failed["Item"] == put["Put"]["Item"]
        with raises(client.exceptions.IdempotentParameterMismatchException):
            client.transact_write_items(TransactItems=[add], ClientRequestToken="only-once")


def capacity(client: Any) -> None:
    with proof("ConsumedCapacity, TOTAL and INDEXES, and ItemCollectionMetrics"):
        item = {**name("Nina", "Feeling Good"), "genre": {"S": "jazz"}, "year": {"N": "1965"}}
        put = client.put_item(
            TableName=TABLE,
            Item=item,
            ReturnConsumedCapacity="INDEXES",
            ReturnItemCollectionMetrics="SIZE",
        )
        assert put["ConsumedCapacity"] == {
            "TableName": TABLE,
            "CapacityUnits": 3.0,
            "Table": {"CapacityUnits": 1.0},
            "LocalSecondaryIndexes": {"by_year": {"CapacityUnits": 1.0}},
            "GlobalSecondaryIndexes": {"by_genre": {"CapacityUnits": 1.0}},
        }
        assert put["ItemCollectionMetrics"]["ItemCollectionKey"] == {"artist": {"S": "Nina"}}
        got = client.get_item(
            TableName=TABLE, Key=name("Nina", "Feeling Good"), ReturnConsumedCapacity="TOTAL"
        )
        assert got["ConsumedCapacity"] == {"TableName": TABLE, "CapacityUnits": 0.5}


def resource_values(resource: Any) -> None:
    table = resource.Table(TABLE)
    with proof(
        "every type through the resource: 38 digits, binary, sets, nested lists and maps, empty strings"
    ):
        item = {
            "artist": "types",
            "song": "all",
            "text": "Größe 大 🎵",
            "empty": "",
            "number": LONG_NUMBER,
            "binary": b"\x00\xff\xfe",
            "no bytes": b"",
            "yes": True,
            "nothing": None,
            "texts": {"a", "b"},
            "numbers": {Decimal(1), Decimal("-2.5")},
            "binaries": {Binary(b"\x00"), Binary(b"\xff")},
            "list": [Decimal(1), "two", [b"three", None], []],
            "map": {"inner": {"deeper": b"\x80"}},
        }
        table.put_item(Item=item)
        assert table.get_item(Key={"artist": "types", "song": "all"})["Item"] == item


def resource_calls(resource: Any) -> None:
    table = resource.Table(TABLE)
    with proof("the resource: conditions as objects, batch_writer with de-duplication, count, load"):
        with table.batch_writer(overwrite_by_pkeys=["artist", "song"]) as batch:
            for number in range(60):
                batch.put_item(
                    Item={"artist": "Satie", "song": f"Gnossienne {number % 50:02}", "plays": number}
                )
            batch.delete_item(Key={"artist": "Satie", "song": "Gnossienne 00"})
        found = table.query(
            KeyConditionExpression=Key("artist").eq("Satie")
            & Key("song").between("Gnossienne 0", "Gnossienne 1"),
            FilterExpression=Attr("plays").gt(50) | Attr("plays").is_in([9]),
            ProjectionExpression="plays",
        )
        assert [int(item["plays"]) for item in found["Items"]] == [51, 52, 53, 54, 55, 56, 57, 58, 59]
        assert table.query(Select="COUNT", KeyConditionExpression=Key("artist").eq("Satie"))["Count"] == 49
        table.load()
        assert table.item_count == table.scan(Select="COUNT")["Count"]


def changes_of_tables(client: Any) -> None:
    with proof("UpdateTable: a global index added to items that exist, a stream, deletion protection"):
        client.update_table(
            TableName=TABLE,
            AttributeDefinitions=[
                {"AttributeName": "genre", "AttributeType": "S"},
                {"AttributeName": "song", "AttributeType": "S"},
            ],
            GlobalSecondaryIndexUpdates=[
                {
                    "Create": {
                        "IndexName": "by_song",
                        "KeySchema": [
                            {"AttributeName": "genre", "KeyType": "HASH"},
                            {"AttributeName": "song", "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                }
            ],
        )
        client.get_waiter("table_exists").wait(TableName=TABLE)
        found = client.query(
            TableName=TABLE,
            IndexName="by_song",
            KeyConditionExpression="genre = :genre",
            ExpressionAttributeValues={":genre": {"S": "baroque"}},
        )
        assert found["Count"] == 100
        client.update_table(
            TableName=TABLE,
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        client.update_table(TableName=TABLE, DeletionProtectionEnabled=True)
        assert "LatestStreamArn" in client.describe_table(TableName=TABLE)["Table"]
        with raises(ClientError) as caught:
            client.delete_table(TableName=TABLE)
        assert caught.error.response["Error"]["Code"] == "ValidationException"


def tags_and_limits(client: Any) -> None:
    with proof("TagResource, UntagResource, ListTagsOfResource; DescribeLimits"):
        arn = client.describe_table(TableName=TABLE)["Table"]["TableArn"]
        client.tag_resource(
            ResourceArn=arn, Tags=[{"Key": "team", "Value": "sound"}, {"Key": "stage", "Value": "test"}]
        )
        client.untag_resource(ResourceArn=arn, TagKeys=["stage"])
        tags = client.get_paginator("list_tags_of_resource").paginate(ResourceArn=arn).build_full_result()
        assert tags["Tags"] == [{"Key": "team", "Value": "sound"}]
        limits = client.describe_limits()
        assert limits["TableMaxReadCapacityUnits"] <= limits["AccountMaxReadCapacityUnits"]


def compressed_request(endpoint: str) -> None:
    with proof("requests that are compressed with gzip"):
        client = boto3.client("dynamodb", config=Config(request_min_compression_size_bytes=1))
        # botocore compresses where its model of the service says so; that of DynamoDB says nothing yet.
        operations = client.meta.service_model._service_description["operations"]
        operations["PutItem"]["requestcompression"] = {"encodings": ["gzip"]}
        sent: list[bytes] = []
        client.meta.events.register(
            "before-send.dynamodb.PutItem", lambda request, **_: sent.append(request.body)
        )
        item = {**name("zip", "packed"), "text": {"S": "x" * 100_000}}
        client.put_item(TableName=TABLE, Item=item)
        assert len(sent[0]) < 1000
        assert client.meta.endpoint_url == endpoint
        assert client.get_item(TableName=TABLE, Key=name("zip", "packed"))["Item"] == item
        client.close()


def end(client: Any) -> None:
    with proof("DeleteTable and its waiter"):
        client.update_table(TableName=TABLE, DeletionProtectionEnabled=False)
        client.delete_table(TableName=TABLE)
        client.get_waiter("table_not_exists").wait(TableName=TABLE)
        assert client.list_tables()["TableNames"] == []


def main() -> None:
    introduce("boto3", boto3.__version__)
    client = boto3.client("dynamodb")
    resource = boto3.resource("dynamodb")
    tables(client)
    items(client)
    errors(client)
    batches(client)
    pages(client)
    transactions(client)
    capacity(client)
    resource_values(resource)
    resource_calls(resource)
    changes_of_tables(client)
    tags_and_limits(client)
    compressed_request(client.meta.endpoint_url)
    end(client)


main()
