"""DynamoDB's API as one table: a row for each operation of its two services, and what differs from Amazon here.

Whoever needs a fact of an operation reads its row: routing, dispatch, metrics, the clients, the checks of
requests, the generators of shapes and of docs/reference/compatibility.md. `singletable.wire.operations` holds what
an operation does. Nothing is imported here, so a client needs no engine to read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Unserved:
    """An operation or parameter that is refused: until a later release, or for a reason that stays."""

    status: Literal["later", "no"]
    why: str  # "no": the rest of the sentence that refuses it; "later": the feature that it belongs to


def _later(what: str) -> Unserved:
    return Unserved("later", what)


_ONE_REGION: Final = Unserved("no", "there is one region, and no replicas")
_NO_KINESIS: Final = Unserved("no", "there are no Kinesis streams")
_NO_INSIGHTS: Final = Unserved("no", "there is no CloudWatch")
_NO_POLICIES: Final = Unserved("no", "there is no IAM")
_NO_BUCKETS: Final = Unserved("no", "there is no S3")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: what it does and returns, where it runs, how AWS checks its parameters, how it differs."""

    name: str
    _: KW_ONLY
    service: Literal["dynamodb", "dynamodbstreams"] = "dynamodb"
    """As boto3 calls it."""
    unserved: Unserved | None = None
    """Why it is refused. Of such an operation little else is asked."""
    remark: str = ""
    """The difference from Amazon DynamoDB, for the reference page."""

    effect: Literal["read", "write", "table"] = "table"
    """It reads items, writes items, or is about a table, a stream or a backup as a whole."""
    runs: Literal["loop", "bounded", "group", "thread"] = "loop"
    """loop: on an event loop, for it takes microseconds. bounded: on the loop of a server, which gives up what
    turns out to be long; a client takes a thread. group: a server commits it with others. thread: it waits for the
    disk by itself, and is rare."""
    returns: Literal["members", "page", "maybe", "nothing"] = "members"
    """An answer with a member at least; a page of items; an answer that may be `{}`; no byte."""
    table: Literal["TableName", "RequestItems", "TransactItems", ""] = ""
    """The parameter that names the tables whose place is checked. Other ARNs are the operation's own business."""

    # How AWS checks the parameters. The captures that are named are those of wire/validation/live_shapes.py.

    first: tuple[str, ...] = ()
    """The members whose errors are told first, and alone."""
    missing: str = ""
    """The sentence that refuses a request without its first member, before all else."""
    is_newer: bool = False
    """Whether AWS has moved it to the validator of 2026 (wire/validation/refusals.py)."""
    one_at_a_time: tuple[str, ...] = ()
    """After the table's name, only the first error is told, by this order of members."""
    uncounted: tuple[str, ...] = ()
    """Of those, the members whose error is told without "1 validation error detected"."""
    echoes_json: bool = False
    """Whether the newer validator echoes a map as JSON (parity: BatchGetItem with "bad!name")."""

    @property
    def is_of_one_item(self) -> bool:
        """Whether a request holds no more than one item can."""
        return self.effect != "table" and self.table == "TableName"


# Said of a missing TableName by CreateTable (parity), DeleteTable, DescribeTable, UpdateTable, DescribeTimeToLive
# (dynalite); UpdateTimeToLive is taken to do as its sister. Of a missing ResourceArn: dynalite.
_NO_TABLE_NAME: Final = "The parameter 'TableName' is required but was not present in the request"
_NO_RESOURCE: Final = "Invalid TableArn"
_TABLE_NAME: Final = ("TableName",)

# fmt: off
_ROWS: Final = (
    # --- items -------------------------------------------------------------------------------------------
    Operation("DeleteItem", effect="write", runs="group", returns="maybe", table="TableName", first=_TABLE_NAME,
              is_newer=True),
    Operation("GetItem", effect="read", returns="maybe", table="TableName", first=_TABLE_NAME, is_newer=True,
              remark="[always up to date](#reads)"),
    Operation("PutItem", effect="write", runs="group", returns="maybe", table="TableName", first=_TABLE_NAME,
              is_newer=True),
    Operation("UpdateItem", effect="write", runs="group", returns="maybe", table="TableName", first=_TABLE_NAME,
              is_newer=True,
              one_at_a_time=("ReturnValues", "ReturnValuesOnConditionCheckFailure", "ReturnItemCollectionMetrics",
                             "ReturnConsumedCapacity"),
              uncounted=("ReturnValuesOnConditionCheckFailure", "ReturnConsumedCapacity")),
    Operation("Query", effect="read", returns="page", table="TableName", first=("Limit", "TableName"),
              is_newer=True, remark="[up to date](#reads), also through a global index, unless that is to lag"),
    Operation("Scan", effect="read", returns="page", table="TableName",
              first=("Limit", "Segment", "TotalSegments", "TableName"), is_newer=True,
              remark="[another order](#the-order-of-a-scan) of partitions than on AWS"),
    Operation("BatchGetItem", effect="read", table="RequestItems", first=("RequestItems",), is_newer=True,
              echoes_json=True, remark="always finds what was written before; [reads](#reads)"),
    Operation("BatchWriteItem", effect="write", runs="group", table="RequestItems",
              remark="`UnprocessedItems` is always empty; its writes are one transaction, on AWS they are not"),
    Operation("TransactGetItems", effect="read", table="TransactItems",
              remark="[never conflicts](#transactions)"),
    Operation("TransactWriteItems", effect="write", runs="group", returns="maybe", table="TransactItems",
              remark="[never conflicts](#transactions)"),
    Operation("BatchExecuteStatement", unserved=_later("PartiQL")),
    Operation("ExecuteStatement", unserved=_later("PartiQL")),
    Operation("ExecuteTransaction", unserved=_later("PartiQL")),
    Operation("SearchVectors", unserved=_later("vector search")),
    # --- tables ------------------------------------------------------------------------------------------
    Operation("CreateTable", runs="thread", table="TableName", first=_TABLE_NAME, missing=_NO_TABLE_NAME,
              remark="answers `CREATING`, and the table [is ready at once](#statuses)"),
    Operation("DeleteTable", runs="thread", table="TableName", first=_TABLE_NAME, missing=_NO_TABLE_NAME,
              remark="answers `DELETING`; the next request finds no such table, unless it is large and "
                     "[backed up first](../guides/backups.md#tables-that-were-deleted)"),
    Operation("DescribeTable", table="TableName", first=_TABLE_NAME, missing=_NO_TABLE_NAME,
              remark="counts and sizes are exact, and of this moment; on AWS they are up to six hours old"),
    Operation("ListTables", runs="bounded"),
    Operation("UpdateTable", runs="thread", table="TableName", first=_TABLE_NAME, missing=_NO_TABLE_NAME,
              remark="a new index is filled [in the background](#statuses), of a small table at once"),
    Operation("DescribeTimeToLive", table="TableName", first=_TABLE_NAME, missing=_NO_TABLE_NAME),
    Operation("UpdateTimeToLive", runs="thread", table="TableName", first=_TABLE_NAME, missing=_NO_TABLE_NAME,
              remark="`ENABLED` at once, unless the table is large; expired items go [within "
                     "seconds](../guides/ttl.md)"),
    Operation("ListTagsOfResource", runs="bounded", first=("ResourceArn",), missing=_NO_RESOURCE),
    # The model gives these two no output, and AWS answers with no byte, not with `{}` (ScyllaDB's
    # test_tags_return_empty_body, run against the service; erlcloud, pull request 502 of April 2018).
    Operation("TagResource", runs="thread", returns="nothing", first=("ResourceArn",), missing=_NO_RESOURCE),
    Operation("UntagResource", runs="thread", returns="nothing", first=("ResourceArn",), missing=_NO_RESOURCE),
    Operation("DescribeEndpoints"),
    Operation("DescribeLimits",
              remark="AWS's defaults; those of a table are held, those of an account are not"),
    Operation("DeleteResourcePolicy", returns="maybe", unserved=_NO_POLICIES),
    Operation("GetResourcePolicy", unserved=_NO_POLICIES),
    Operation("PutResourcePolicy", unserved=_NO_POLICIES),
    Operation("DescribeContributorInsights", unserved=_NO_INSIGHTS),
    Operation("ListContributorInsights", unserved=_NO_INSIGHTS),
    Operation("UpdateContributorInsights", unserved=_NO_INSIGHTS),
    # --- backups -----------------------------------------------------------------------------------------
    Operation("CreateBackup", runs="thread", table="TableName",
              remark="exactly the moment of the request; the backup is [a file](../guides/backups.md)"),
    Operation("DeleteBackup", runs="thread"),
    Operation("DescribeBackup", runs="thread"),
    Operation("ListBackups", runs="thread", table="TableName"),
    Operation("RestoreTableFromBackup", runs="thread",
              remark="verifies the checksum of the backup first; a small table is [ready at once](#statuses)"),
    Operation("DescribeContinuousBackups", table="TableName", first=_TABLE_NAME,
              remark="`LatestRestorableDateTime` is now; on AWS it is about five minutes ago"),
    Operation("RestoreTableToPointInTime", runs="thread",
              remark="exact to the change; a small table is [ready at once](#statuses)"),
    Operation("UpdateContinuousBackups", runs="thread", table="TableName"),
    Operation("DescribeExport", unserved=_later("export")),
    Operation("ExportTableToPointInTime", unserved=_later("export")),
    Operation("ListExports", unserved=_later("export")),
    Operation("DescribeImport", unserved=_later("import")),
    Operation("ImportTable", unserved=_later("import")),
    Operation("ListImports", unserved=_later("import")),
    Operation("CancelBulkOperation", unserved=_NO_BUCKETS),
    Operation("DescribeBulkOperation", unserved=_NO_BUCKETS),
    Operation("ListBulkOperations", unserved=_NO_BUCKETS),
    Operation("StartBulkPutItems", unserved=_NO_BUCKETS),
    # --- streams -----------------------------------------------------------------------------------------
    Operation("DescribeStream", service="dynamodbstreams",
              remark="shards follow each other by [rules of ours](../guides/streams.md#shards)"),
    Operation("GetRecords", service="dynamodbstreams", runs="bounded",
              remark="finds a change [as soon as](../guides/streams.md#what-differs-from-amazon-dynamodb) it "
                     "is written"),
    Operation("GetShardIterator", service="dynamodbstreams", runs="bounded"),
    Operation("ListStreams", service="dynamodbstreams", runs="bounded", table="TableName"),
    Operation("DescribeKinesisStreamingDestination", unserved=_NO_KINESIS),
    Operation("DisableKinesisStreamingDestination", unserved=_NO_KINESIS),
    Operation("EnableKinesisStreamingDestination", unserved=_NO_KINESIS),
    Operation("UpdateKinesisStreamingDestination", unserved=_NO_KINESIS),
    # --- replicas ----------------------------------------------------------------------------------------
    Operation("CreateGlobalTable", unserved=_ONE_REGION),
    Operation("DescribeGlobalTable", unserved=_ONE_REGION),
    Operation("DescribeGlobalTableSettings", unserved=_ONE_REGION),
    Operation("DescribeTableReplicaAutoScaling", unserved=_ONE_REGION),
    Operation("ListGlobalTables", unserved=_ONE_REGION),
    Operation("UpdateGlobalTable", unserved=_ONE_REGION),
    Operation("UpdateGlobalTableSettings", unserved=_ONE_REGION),
    Operation("UpdateTableReplicaAutoScaling", unserved=_ONE_REGION),
)
# fmt: on

OPERATIONS: Final[Mapping[str, Operation]] = {row.name: row for row in _ROWS}
SERVED: Final[Mapping[str, Operation]] = {row.name: row for row in _ROWS if row.unserved is None}
STREAM_OPERATIONS: Final = frozenset(row.name for row in _ROWS if row.service == "dynamodbstreams")

# --- parameters ----------------------------------------------------------------------------------------------

# Refused in a served operation, by the name that they have in each operation that takes them. A parameter that is
# not named here is served as Amazon DynamoDB serves it.
UNSERVED_PARAMETERS: Final[Mapping[str, Unserved]] = {
    "DisassociationProtectionEnabled": _ONE_REGION,
    "GlobalTableSettingsReplicationMode": _ONE_REGION,
    "GlobalTableSourceArn": _ONE_REGION,
    "GlobalTableWitnessUpdates": _ONE_REGION,
    "MultiRegionConsistency": _ONE_REGION,
    "ReplicaUpdates": _ONE_REGION,
    "ResourcePolicy": _NO_POLICIES,
    "VectorIndexes": _later("vector search"),
    "VectorIndexOverride": _later("vector search"),
    "VectorIndexUpdates": _later("vector search"),
}

_WITHOUT_EFFECT: Final = "checked, kept and described; without effect"
_NO_THROTTLING: Final = f"{_WITHOUT_EFFECT} unless [throttling](../guides/throttling.md) is on"

# By the name of the parameter, in any operation or part of a request.
PARAMETER_REMARKS: Final[Mapping[str, str]] = {
    "ConsistentRead": "costs what it costs on AWS; reads without it are [consistent too](#reads)",
    "OnDemandThroughput": _NO_THROTTLING,
    "ProvisionedThroughput": _NO_THROTTLING,
    "SSESpecification": "checked and kept; described where the file is "
    "[encrypted](../guides/encryption.md) or in memory, since ENABLED would not be true of a plain file. Which "
    "key it names has no effect",
    "TableClass": _WITHOUT_EFFECT,
    "WarmThroughput": _NO_THROTTLING,
}


def operation_refusal(name: str) -> str:
    """Return the sentence that refuses an operation; nothing is said of one that nobody knows."""
    row = OPERATIONS.get(name)
    return "" if row is None or row.unserved is None else _sentence(name, row.unserved)


def parameter_refusal(name: str) -> str:
    """Return the sentence that refuses a parameter."""
    return _sentence(f"The parameter {name}", UNSERVED_PARAMETERS[name])


def _sentence(subject: str, unserved: Unserved) -> str:
    if unserved.status == "later":
        return f"{subject} is not supported in this release of singletable"
    return f"{subject} is not supported by singletable: {unserved.why}"
