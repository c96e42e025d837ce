"""Through boto3, a database in the process answers exactly as the server does over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from botocore.exceptions import ParamValidationError

from golden.vectors.catalogue import all_vectors
from golden.vectors.running import Runner
from golden.vectors.transports import Reply, to_native, to_wire
from golden.vectors.vector import Earlier, Vector, earlier
from singletable.operations import SERVED
from support.boto_both_ways import BothWays, both_ways

# The cases are held against both ways by test_vectors. What boto3 adds is alike for a whole operation, so of the
# cases of each operation, and of its refusals, some are enough.
EACH: Final = 3


def some_vectors() -> dict[str, Vector]:
    """Return the first cases of each operation that are answered, and the first that are refused."""
    found: dict[tuple[str, bool], dict[str, Vector]] = {}
    for name, vector in all_vectors().items():
        if not vector.wire_only:
            kind = found.setdefault((vector.operation, vector.error is not None), {})
            if len(kind) < EACH:
                kind[name] = vector
    return {name: vector for kind in found.values() for name, vector in kind.items()}


VECTORS: Final = some_vectors()

TABLE: Final[dict[str, Any]] = {
    "TableName": "music",
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "B"},
        {"AttributeName": "SK", "AttributeType": "N"},
        {"AttributeName": "genre", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "local",
            "KeySchema": [
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "genre", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_genre",
            "KeySchema": [{"AttributeName": "genre", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["raw"]},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
NAME: Final = {"TableName": "music"}
ARN: Final = "arn:aws:dynamodb:us-east-1:000000000000:table/music"
STREAM_ARN: Final = (
    f"{ARN}/stream/2023-11-14T22:13:20.000"  # when it is turned on, by the clock of these tests
)
SHARD_ID: Final = earlier("DescribeStream", "StreamDescription", "Shards", 0, "ShardId")
ITERATOR: Final = earlier("GetShardIterator", "ShardIterator")
BACKUP_ARN: Final = earlier("CreateBackup", "BackupDetails", "BackupArn")
REPORT: Final = {"ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"}


def key(sort: int, partition: bytes = b"\x00\xff") -> dict[str, Any]:
    return {"PK": {"B": partition}, "SK": {"N": str(sort)}}


def item(sort: int, **more: Any) -> dict[str, Any]:
    return {
        **key(sort),
        "genre": {"S": "jazz"},
        "raw": {"B": b"\x00\x01"},
        "raws": {"BS": [b"\x01", b"\x02"]},
        "deep": {"M": {"list": {"L": [{"B": b""}, {"NULL": True}, {"BOOL": False}, {"N": "1.50"}]}}},
        "texts": {"SS": ["Größe", "🎵"]},
        "numbers": {"NS": ["1", "2.5"]},
        **more,
    }


FALSE_CONDITION: Final = {
    "ConditionExpression": "attribute_not_exists(PK)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}
EXPIRY: Final = {"Enabled": True, "AttributeName": "expires"}
RECOVERY: Final = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
TO_A_MOMENT: Final = {"SourceTableName": "music", "TargetTableName": "from-a-moment"}
REQUESTS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("ListTables", {}),
    ("CreateTable", TABLE),
    ("CreateTable", TABLE),
    ("DescribeTable", NAME),
    ("DescribeTable", {"TableName": "missing"}),
    ("ListTables", {"Limit": 1}),
    *[("PutItem", {**NAME, "Item": item(sort), **REPORT}) for sort in range(5)],
    ("PutItem", {**NAME, "Item": item(1, more={"S": "x"}), "ReturnValues": "ALL_OLD", **REPORT}),
    ("PutItem", {**NAME, "Item": item(1), **FALSE_CONDITION}),
    ("PutItem", {**NAME, "Item": {"PK": {"B": b""}, "SK": {"N": "1"}}}),
    ("PutItem", {**NAME, "Item": {**key(1), "genre": {"S": "\ud800"}}}),
    ("GetItem", {**NAME, "Key": key(1), "ReturnConsumedCapacity": "TOTAL"}),
    ("GetItem", {**NAME, "Key": key(1), "ConsistentRead": True, "ProjectionExpression": "raw, deep.#l[0]"}),
    ("GetItem", {**NAME, "Key": key(1), "ProjectionExpression": "raw, deep"}),
    ("GetItem", {**NAME, "Key": key(99)}),
    ("GetItem", {**NAME, "Key": {"PK": {"S": "no binary"}, "SK": {"N": "1"}}}),
    *[
        (
            "UpdateItem",
            {
                **NAME,
                "Key": key(2),
                "UpdateExpression": "SET #raw = :raw, deep.#list[1] = :raw ADD raws :more REMOVE texts",
                "ExpressionAttributeNames": {"#list": "list", "#raw": "raw"},
                "ExpressionAttributeValues": {":raw": {"B": bytes([number])}, ":more": {"BS": [b"\x09"]}},
                "ReturnValues": wanted,
                **REPORT,
            },
        )
        for number, wanted in enumerate(["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"])
    ],
    ("UpdateItem", {**NAME, "Key": key(2), "UpdateExpression": "SET a = :missing"}),
    (
        "Query",
        {
            **NAME,
            "KeyConditionExpression": "PK = :p AND SK > :low",
            "ExpressionAttributeValues": {":p": {"B": b"\x00\xff"}, ":low": {"N": "0"}},
            "Limit": 2,
            "ReturnConsumedCapacity": "INDEXES",
        },
    ),
    (
        "Query",
        {
            **NAME,
            "IndexName": "by_genre",
            "KeyConditionExpression": "genre = :g",
            "FilterExpression": "#raw <> :raw",
            "ExpressionAttributeNames": {"#raw": "raw"},
            "ExpressionAttributeValues": {":g": {"S": "jazz"}, ":raw": {"B": b"\x04"}},
            "ReturnConsumedCapacity": "INDEXES",
        },
    ),
    ("Query", {**NAME, "KeyConditionExpression": "PK = :p"}),
    ("Scan", {**NAME, "Limit": 3, "ReturnConsumedCapacity": "TOTAL"}),
    ("Scan", {**NAME, "ExclusiveStartKey": key(1)}),
    ("Scan", {**NAME, "Select": "COUNT"}),
    ("Scan", {**NAME, "IndexName": "by_genre", "Limit": 1}),
    ("Scan", {**NAME, "TotalSegments": 2}),
    (
        "BatchGetItem",
        {"RequestItems": {"music": {"Keys": [key(1), key(2), key(98)]}}, "ReturnConsumedCapacity": "INDEXES"},
    ),
    ("BatchGetItem", {"RequestItems": {"music": {"Keys": [key(1), key(1)]}}}),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                "music": [{"PutRequest": {"Item": item(7)}}, {"DeleteRequest": {"Key": key(0)}}],
            },
            **REPORT,
        },
    ),
    ("TransactGetItems", {"TransactItems": [{"Get": {**NAME, "Key": key(sort)}} for sort in (1, 99)]}),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {**NAME, "Item": item(8)}},
                {"Put": {**NAME, "Item": item(1), **FALSE_CONDITION}},
                {"Delete": {**NAME, "Key": key(7)}},
            ]
        },
    ),
    *[
        (
            "TransactWriteItems",
            {
                "TransactItems": [{"Put": {**NAME, "Item": item(sort)}}, {"Delete": {**NAME, "Key": key(7)}}],
                "ClientRequestToken": "a token",
                **REPORT,
            },
        )
        for sort in (8, 8, 9)
    ],
    ("DeleteItem", {**NAME, "Key": key(8), "ReturnValues": "ALL_OLD", **REPORT}),
    ("DeleteItem", {**NAME, "Key": key(1), **FALSE_CONDITION}),
    (
        "UpdateTable",
        {
            **NAME,
            "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_genre"}}],
        },
    ),
    ("UpdateTable", {**NAME, "BillingMode": "PROVISIONED"}),
    (
        "UpdateTable",
        {
            **NAME,
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
        },
    ),
    ("UpdateTable", {**NAME, "BillingMode": "PAY_PER_REQUEST"}),
    ("DescribeTable", NAME),
    ("Scan", NAME),
    ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "team", "Value": "a"}, {"Key": "b", "Value": ""}]}),
    ("TagResource", {"ResourceArn": ARN, "Tags": []}),
    ("TagResource", {"ResourceArn": f"{ARN}-missing", "Tags": [{"Key": "team", "Value": "a"}]}),
    ("UntagResource", {"ResourceArn": ARN, "TagKeys": ["b"]}),
    ("ListTagsOfResource", {"ResourceArn": ARN}),
    ("ListStreams", {}),
    ("UpdateTable", {**NAME, "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}}),
    ("PutItem", {**NAME, "Item": item(10)}),
    ("ListStreams", NAME),
    ("DescribeStream", {"StreamArn": STREAM_ARN}),
    ("GetShardIterator", {"StreamArn": STREAM_ARN, "ShardId": "x" * 28, "ShardIteratorType": "LATEST"}),
    ("GetShardIterator", {"StreamArn": STREAM_ARN, "ShardId": SHARD_ID, "ShardIteratorType": "TRIM_HORIZON"}),
    ("GetRecords", {"ShardIterator": ITERATOR}),
    ("GetRecords", {"ShardIterator": f"{STREAM_ARN}|1|no-iterator"}),
    ("DescribeLimits", {}),
    ("DescribeEndpoints", {}),
    *[("UpdateTimeToLive", {**NAME, "TimeToLiveSpecification": EXPIRY}) for _ in range(2)],
    ("DescribeTimeToLive", NAME),
    ("DescribeTimeToLive", {"TableName": "missing"}),
    ("DescribeContinuousBackups", NAME),
    ("RestoreTableToPointInTime", {**TO_A_MOMENT, "UseLatestRestorableTime": True}),
    ("UpdateContinuousBackups", {**NAME, "PointInTimeRecoverySpecification": RECOVERY}),
    ("DescribeContinuousBackups", NAME),
    ("DescribeContinuousBackups", {"TableName": "missing"}),
    ("RestoreTableToPointInTime", {**TO_A_MOMENT, "RestoreDateTime": datetime(2001, 1, 1, tzinfo=UTC)}),
    ("RestoreTableToPointInTime", {**TO_A_MOMENT, "UseLatestRestorableTime": True}),
    ("DescribeTable", {"TableName": "from-a-moment"}),
    ("ListBackups", {}),
    ("CreateBackup", {**NAME, "BackupName": "first"}),
    ("CreateBackup", {"TableName": "missing", "BackupName": "first"}),
    ("DescribeBackup", {"BackupArn": BACKUP_ARN}),
    ("DescribeBackup", {"BackupArn": f"{ARN}/backup/01489602797149-73d8d5bc"}),
    ("ListBackups", {**NAME, "TimeRangeLowerBound": datetime(2001, 1, 1, tzinfo=UTC)}),
    ("ListBackups", {**NAME, "TimeRangeUpperBound": datetime(2001, 1, 1, tzinfo=UTC)}),
    ("RestoreTableFromBackup", {"BackupArn": BACKUP_ARN, "TargetTableName": "music"}),
    ("RestoreTableFromBackup", {"BackupArn": BACKUP_ARN, "TargetTableName": "from-a-backup"}),
    ("DescribeTable", {"TableName": "from-a-backup"}),
    ("Scan", {"TableName": "from-a-backup"}),
    ("DeleteBackup", {"BackupArn": BACKUP_ARN}),
    ("DeleteBackup", {"BackupArn": f"{ARN}/backup/01489602797149-73d8d5bc"}),
    ("ExecuteStatement", {"Statement": "SELECT * FROM music"}),
    ("DeleteTable", NAME),
    ("DeleteTable", NAME),
]


def with_earlier(request: dict[str, Any], answered: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a request with what earlier answers have in it."""
    return {
        name: value.within(answered[value.operation]) if isinstance(value, Earlier) else value
        for name, value in request.items()
    }


def test_the_same_requests_get_the_same_answers() -> None:
    raised: set[str] = set()
    answered: dict[str, dict[str, Any]] = {}  # the newest answer of each operation
    with both_ways() as ways:
        for operation, request in REQUESTS:
            answer = ways.send(operation, with_earlier(request, answered))
            if "raised" in answer:
                raised.add(answer["raised"])
            else:
                answered[operation] = answer
    assert raised > {
        "ConditionalCheckFailedException",
        "ResourceInUseException",
        "ResourceNotFoundException",
        "TransactionCanceledException",
    }
    assert answered.keys() == set(SERVED)


# --- the golden cases -----------------------------------------------------------------------------------


class BotoTransport:
    """Sends a vector's requests both ways, and hands on what the client in the process got."""

    carries_json = False

    def __init__(self, ways: BothWays) -> None:
        self._ways = ways

    def send(self, operation: str, request: dict[str, Any]) -> Reply:
        native = to_native(request)
        self._skip_what_botocore_cannot_send(operation, native)
        answer = to_wire(self._ways.send(operation, native))
        status = answer.pop("ResponseMetadata")["HTTPStatusCode"]
        error = answer.pop("Error", None)
        if error is None:
            return Reply(status, answer)
        said = ("raised", "message", "Message")
        members = {name: value for name, value in answer.items() if name not in said}
        return Reply(status, {**members, "__type": error["Code"], "message": error["Message"]})

    def _skip_what_botocore_cannot_send(self, operation: str, request: dict[str, Any]) -> None:
        client = self._ways.client(operation)
        model = client.meta.service_model.operation_model(operation)
        try:
            client._serializer.serialize_to_request(request, model)
        except (AttributeError, TypeError):
            pytest.skip("botocore cannot send this")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with both_ways(parameter_validation=False) as ways:
        yield Runner(BotoTransport(ways))


@pytest.mark.parametrize("name", VECTORS)
def test_golden_case_has_one_answer_through_boto3(runner: Runner, name: str) -> None:
    assert runner.run(VECTORS[name]) == []


def test_parameters_are_checked_by_botocore_first() -> None:
    with both_ways() as ways:
        for client in (ways.in_process, ways.over_http):
            with pytest.raises(ParamValidationError, match='Unknown parameter in input: "Tablename"'):
                client.get_item(Tablename="music", Key={})
