"""ListStreams, DescribeStream, GetShardIterator, GetRecords."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import Matcher, anything, arn_of, including, matching, without
from golden.vectors.tables import table
from golden.vectors.vector import Refusal, Vector, earlier, then, validation

GUIDE = "AWS guide, 'Change data capture for DynamoDB Streams'"
REFERENCE = "API reference of DynamoDB Streams, "
LOCAL = "DynamoDB Local"
SCYLLA = "ScyllaDB, test/alternator/test_streams.py, which was run against the service: "
INVALID = "One or more parameter values were invalid: "

LABEL = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}"
SHARD_ID = matching(r"shardId-\d{20}-[0-9a-f]{8}")
SEQUENCE_NUMBER = matching(r"\d{21,40}")
EVENT_ID = matching("[0-9a-f]{32}|[0-9a-f-]{36}")
NO_STREAM = "arn:aws:dynamodb:us-east-1:000000000000:table/Streamed/stream/2015-05-20T20:51:10.252"
NO_SHARD = "shardId-00000001414576573621-f55eea83"

ARN = earlier("DescribeTable", "Table", "LatestStreamArn")
FIRST_SHARD = earlier("DescribeStream", "StreamDescription", "Shards", 0, "ShardId")
FIRST_NUMBER = earlier(
    "DescribeStream", "StreamDescription", "Shards", 0, "SequenceNumberRange", "StartingSequenceNumber"
)
ITERATOR = earlier("GetShardIterator", "ShardIterator")

ADA = {"p": {"S": "ada"}, "s": {"N": "1"}, "photo": {"B": "AP8="}}
NEW_ADA = {"p": {"S": "ada"}, "s": {"N": "1"}, "n": {"N": "7"}}
KEY = {"p": {"S": "ada"}, "s": {"N": "1"}}


def streamed(view: str = "NEW_AND_OLD_IMAGES") -> dict[str, Any]:
    specification = {"StreamEnabled": True, "StreamViewType": view}
    return table("Streamed", "p", "s", types={"p": "S", "s": "N"}, StreamSpecification=specification)


# Each vector has a new table, and so a new stream: what it turns off or deletes is made again.
FIND = [("DescribeTable", {"TableName": "Streamed"})]
FIND_SHARD = [*FIND, ("DescribeStream", {"StreamArn": ARN})]
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("PutItem", {"TableName": "Streamed", "Item": ADA}),
    ("PutItem", {"TableName": "Streamed", "Item": ADA}),
    ("PutItem", {"TableName": "Streamed", "Item": NEW_ADA}),
    ("DeleteItem", {"TableName": "Streamed", "Key": KEY}),
    ("DeleteItem", {"TableName": "Streamed", "Key": KEY}),
]


def iterator(kind: str, **more: Any) -> tuple[str, dict[str, Any]]:
    request = {"StreamArn": ARN, "ShardId": FIRST_SHARD, "ShardIteratorType": kind, **more}
    return "GetShardIterator", request


# --- what is in them ------------------------------------------------------------------------------------


def record(event: str, size_bytes: int, view: str, **images: Any) -> Matcher:
    body = {
        "ApproximateCreationDateTime": anything,
        "Keys": KEY,
        "SequenceNumber": SEQUENCE_NUMBER,
        "SizeBytes": size_bytes,
        "StreamViewType": view,
        **images,
    }
    return including(
        {
            "eventID": EVENT_ID,
            "eventName": event,
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": anything,
            "dynamodb": body,
        }
    )


def reading(name: str, view: str, *records: Any, evidence: str) -> Vector:
    """The stream of a new table shows these records of CHANGES."""
    return Vector(
        name,
        operation="GetRecords",
        request={"ShardIterator": ITERATOR},
        before=[*FIND_SHARD, *CHANGES, iterator("TRIM_HORIZON")],
        answer={"Records": list(records), "NextShardIterator": anything},
        makes=["Streamed"],
        tables=[streamed(view)],
        evidence=evidence,
    )


VIEWS = [
    reading(
        "keys_only_shows_no_item",
        "KEYS_ONLY",
        *(record(event, 7, "KEYS_ONLY") for event in ("INSERT", "MODIFY", "REMOVE")),
        evidence=f"{GUIDE}: KEYS_ONLY; a write that changes nothing leaves no record",
    ),
    reading(
        "new_image_shows_the_item_after_the_change",
        "NEW_IMAGE",
        record("INSERT", 21, "NEW_IMAGE", NewImage=ADA),
        record("MODIFY", 17, "NEW_IMAGE", NewImage=NEW_ADA),
        record("REMOVE", 7, "NEW_IMAGE"),
        evidence=f"{GUIDE}: NEW_IMAGE",
    ),
    reading(
        "old_image_shows_the_item_before_the_change",
        "OLD_IMAGE",
        record("INSERT", 7, "OLD_IMAGE"),
        record("MODIFY", 21, "OLD_IMAGE", OldImage=ADA),
        record("REMOVE", 17, "OLD_IMAGE", OldImage=NEW_ADA),
        evidence=f"{GUIDE}: OLD_IMAGE",
    ),
    reading(
        "both_images_show_both",
        "NEW_AND_OLD_IMAGES",
        record("INSERT", 21, "NEW_AND_OLD_IMAGES", NewImage=ADA),
        record("MODIFY", 31, "NEW_AND_OLD_IMAGES", NewImage=NEW_ADA, OldImage=ADA),
        record("REMOVE", 17, "NEW_AND_OLD_IMAGES", OldImage=NEW_ADA),
        evidence=f"{GUIDE}: NEW_AND_OLD_IMAGES; sizes as in the sample event of the Lambda guide",
    ),
]

# --- places -----------------------------------------------------------------------------------------


def placed(name: str, place: tuple[str, dict[str, Any]], *events: str, evidence: str) -> Vector:
    """From there, these events are read."""
    return Vector(
        name,
        operation="GetRecords",
        request={"ShardIterator": ITERATOR},
        before=[*FIND_SHARD, *CHANGES, place],
        answer={
            "Records": [including({"eventName": event}) for event in events],
            "NextShardIterator": anything,
        },
        makes=["Streamed"],
        tables=[streamed()],
        evidence=evidence,
    )


PLACES = [
    Vector(
        "an_iterator_is_a_text",
        operation="GetShardIterator",
        request=iterator("TRIM_HORIZON")[1],
        before=FIND_SHARD,
        answer={"ShardIterator": matching(rf"arn:aws:dynamodb:[^|]+/stream/{LABEL}\|0*1\|[A-Za-z0-9+/=]+")},
        makes=["Streamed"],
        tables=[streamed()],
        evidence=f"{REFERENCE}GetShardIterator: the example",
    ),
    placed(
        "a_number_is_read_from",
        iterator("AT_SEQUENCE_NUMBER", SequenceNumber=FIRST_NUMBER),
        *("INSERT", "MODIFY", "REMOVE"),
        evidence=f"{REFERENCE}GetShardIterator",
    ),
    placed(
        "a_number_is_read_behind",
        iterator("AFTER_SEQUENCE_NUMBER", SequenceNumber=FIRST_NUMBER),
        *("MODIFY", "REMOVE"),
        evidence=f"{REFERENCE}GetShardIterator",
    ),
    placed(
        "a_time_is_read_from",
        iterator("AT_TIMESTAMP", Timestamp=1),
        *("INSERT", "MODIFY", "REMOVE"),
        evidence=f"{REFERENCE}GetShardIterator: older than the trim horizon, it is the oldest record",
    ),
    placed(
        "nothing_is_read_behind_the_latest",
        iterator("LATEST"),
        evidence=f"{REFERENCE}GetShardIterator",
    ),
    Vector(
        "a_limit_ends_a_page_and_the_next_goes_on",
        operation="GetRecords",
        request={"ShardIterator": ITERATOR, "Limit": 2},
        before=[*FIND_SHARD, *CHANGES, iterator("TRIM_HORIZON")],
        answer=including(
            {"Records": [including({"eventName": "INSERT"}), including({"eventName": "MODIFY"})]}
        ),
        after=[
            then(
                "GetRecords",
                {"ShardIterator": earlier("GetRecords", "NextShardIterator")},
                including({"Records": [including({"eventName": "REMOVE"})]}),
            )
        ],
        makes=["Streamed"],
        tables=[streamed()],
        evidence=f"{REFERENCE}GetRecords",
    ),
]

# --- streams ----------------------------------------------------------------------------------------

DESCRIPTION = {
    "StreamArn": arn_of(f"table/Streamed/stream/{LABEL}"),
    "StreamLabel": matching(LABEL),
    "StreamStatus": "ENABLED",
    "StreamViewType": "NEW_AND_OLD_IMAGES",
    "CreationRequestDateTime": anything,
    "TableName": "Streamed",
    "KeySchema": [
        {"AttributeName": "p", "KeyType": "HASH"},
        {"AttributeName": "s", "KeyType": "RANGE"},
    ],
    "Shards": [
        {"ShardId": SHARD_ID, "SequenceNumberRange": {"StartingSequenceNumber": SEQUENCE_NUMBER}},
    ],
}
CLOSED = {
    "ShardId": SHARD_ID,
    "SequenceNumberRange": {
        "StartingSequenceNumber": SEQUENCE_NUMBER,
        "EndingSequenceNumber": SEQUENCE_NUMBER,
    },
}

STREAMS = [
    Vector(
        "a_stream_describes_itself",
        operation="DescribeStream",
        request={"StreamArn": ARN},
        before=FIND,
        answer={"StreamDescription": DESCRIPTION},
        makes=["Streamed"],
        tables=[streamed()],
        evidence=f"{REFERENCE}DescribeStream",
    ),
    Vector(
        "streams_of_a_table_are_listed",
        operation="ListStreams",
        request={"TableName": "Streamed", "Limit": 1},
        answer=including(
            {"Streams": [{name: DESCRIPTION[name] for name in ("StreamArn", "TableName", "StreamLabel")}]}
        ),
        makes=["Streamed"],
        tables=[streamed()],
        evidence=f"{REFERENCE}ListStreams",
    ),
    Vector(
        "a_table_without_a_stream_has_none",
        operation="ListStreams",
        request={"TableName": "Nowhere"},
        answer={"Streams": []},
        evidence=f"{SCYLLA}test_list_streams_empty; of a table that is not there, {LOCAL}",
    ),
    Vector(
        "nothing_follows_the_last_shard",
        operation="DescribeStream",
        request={"StreamArn": ARN, "ExclusiveStartShardId": FIRST_SHARD},
        before=FIND_SHARD,
        answer={"StreamDescription": {**DESCRIPTION, "Shards": []}},
        makes=["Streamed"],
        tables=[streamed()],
        evidence=f"{SCYLLA}list_shards",
    ),
    Vector(
        "an_unknown_shard_to_start_behind_is_no_error",
        operation="DescribeStream",
        request={"StreamArn": ARN, "ExclusiveStartShardId": "z" * 28},
        before=FIND,
        answer={"StreamDescription": {**DESCRIPTION, "Shards": []}},
        makes=["Streamed"],
        tables=[streamed()],
        evidence=f"{SCYLLA}test_describe_stream_with_nonexistent_last_shard",
    ),
    Vector(
        "an_open_shard_has_no_children",
        operation="DescribeStream",
        request={"StreamArn": ARN, "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": FIRST_SHARD}},
        before=FIND_SHARD,
        answer={"StreamDescription": {**DESCRIPTION, "Shards": []}},
        makes=["Streamed"],
        tables=[streamed()],
        evidence=f"{REFERENCE}ShardFilter",
    ),
    Vector(
        "a_stream_that_is_turned_off_stays_readable_to_its_end",
        operation="DescribeStream",
        request={"StreamArn": ARN},
        before=[
            *FIND_SHARD,
            *CHANGES,
            ("UpdateTable", {"TableName": "Streamed", "StreamSpecification": {"StreamEnabled": False}}),
        ],
        answer={"StreamDescription": {**DESCRIPTION, "StreamStatus": "DISABLED", "Shards": [CLOSED]}},
        after=[
            then(*iterator("TRIM_HORIZON"), anything),
            then(
                "GetRecords",
                {"ShardIterator": ITERATOR},
                {"Records": [anything, anything, anything]},
            ),
        ],
        makes=["Streamed"],
        tables=[streamed()],
        evidence=f"{GUIDE}: the data in a disabled stream is readable for 24 hours",
    ),
    Vector(
        "a_stream_outlives_its_table",
        operation="DescribeStream",
        request={"StreamArn": ARN},
        before=[*FIND_SHARD, *CHANGES, ("DeleteTable", {"TableName": "Streamed"})],
        answer={"StreamDescription": {**DESCRIPTION, "StreamStatus": "DISABLED", "Shards": [CLOSED]}},
        after=[
            then(*iterator("TRIM_HORIZON"), anything),
            then("GetRecords", {"ShardIterator": ITERATOR}, without("NextShardIterator")),
        ],
        makes=["Streamed"],
        tables=[streamed()],
        evidence=LOCAL,
    ),
]

# --- refusals ---------------------------------------------------------------------------------------


def refused(name: str, operation: str, request: dict[str, Any], error: Refusal, evidence: str) -> Vector:
    return Vector(
        name,
        operation=operation,
        request=request,
        before=FIND_SHARD,
        error=error,
        makes=["Streamed"],
        tables=[streamed()],
        evidence=evidence,
    )


def constraint(value: str, member: str, words: str) -> Refusal:
    return validation(
        f"1 validation error detected: Value {value} at '{member}' failed to satisfy constraint: {words}"
    )


def no_iterator(name: str, error: Refusal, evidence: str, **more: Any) -> Vector:
    request = {"StreamArn": ARN, "ShardId": FIRST_SHARD, "ShardIteratorType": "LATEST", **more}
    return refused(name, "GetShardIterator", request, error, evidence)


NOT_FOUND = Refusal(
    "ResourceNotFoundException", f"Requested resource not found: Stream: {NO_STREAM} not found"
)

REFUSALS = [
    refused("no_such_stream_to_describe", "DescribeStream", {"StreamArn": NO_STREAM}, NOT_FOUND, LOCAL),
    no_iterator("no_such_stream_to_read", NOT_FOUND, "As DescribeStream", StreamArn=NO_STREAM),
    refused(
        "what_is_no_arn_names_no_stream",
        "DescribeStream",
        {"StreamArn": "x" * 40},
        validation("Invalid StreamArn"),
        f"{SCYLLA}test_describe_nonexistent_stream; the words: aws-sdk-js, features/extra",
    ),
    refused(
        "a_list_starts_behind_a_stream",
        "ListStreams",
        {"ExclusiveStartStreamArn": "x" * 40},
        validation("Invalid StreamArn"),
        f"{SCYLLA}test_list_streams_with_nonexistent_last_stream",
    ),
    refused(
        "a_list_of_nothing",
        "ListStreams",
        {"Limit": 0},
        constraint("'0'", "limit", "Member must have value greater than or equal to 1"),
        f"{SCYLLA}test_list_streams_zero_limit; {LOCAL}",
    ),
    refused(
        "a_list_of_too_much",
        "ListStreams",
        {"Limit": 101},
        validation(f"{INVALID}Limit cannot be greater than the maximum allowed size: 100"),
        f"{SCYLLA}test_list_streams_too_high_limit; {LOCAL}",
    ),
    refused(
        "too_many_shards",
        "DescribeStream",
        {"StreamArn": ARN, "Limit": 101},
        validation(f"{INVALID}Limit cannot be greater than the maximum: 100"),
        LOCAL,
    ),
    no_iterator(
        "no_such_shard",
        Refusal("ResourceNotFoundException", "Requested resource not found: Shard does not exist"),
        "Answers of the service in the tests of Apache Flink's connector for DynamoDB Streams",
        ShardId=NO_SHARD,
    ),
    no_iterator(
        "a_number_is_missing",
        validation(f"{INVALID}Invalid SequenceNumber"),
        f"{SCYLLA}test_get_shard_iterator; {LOCAL}",
        ShardIteratorType="AT_SEQUENCE_NUMBER",
    ),
    no_iterator(
        "a_number_too_much",
        validation(f"{INVALID}SequenceNumber should not be passed for this iterator type"),
        f"{SCYLLA}test_get_shard_iterator; {LOCAL}",
        SequenceNumber=FIRST_NUMBER,
    ),
    no_iterator(
        "a_short_number",
        constraint("'1'", "sequenceNumber", "Member must have length greater than or equal to 21"),
        LOCAL,
        ShardIteratorType="AFTER_SEQUENCE_NUMBER",
        SequenceNumber="1",
    ),
    no_iterator(
        "a_number_of_another_shard",
        validation("Invalid SequenceNumber for the shard"),
        LOCAL,
        ShardIteratorType="AT_SEQUENCE_NUMBER",
        SequenceNumber="0" * 21,
    ),
    refused(
        "no_iterator_at_all",
        "GetRecords",
        {"ShardIterator": "no iterator"},
        validation("Invalid ShardIterator"),
        f"{SCYLLA}test_get_records_nonexistent_iterator; {LOCAL}",
    ),
]

VECTORS = [*VIEWS, *PLACES, *STREAMS, *REFUSALS]
