"""What is served of DynamoDB's API, what differs, and the sentence that refuses the rest: one table of it.

Errors take their sentences from here, and scripts/generate_compatibility.py writes the reference page from it.
An operation or parameter that is not named here is served as Amazon DynamoDB serves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Unserved:
    """An operation or parameter that is refused: until a later release, or for a reason that stays."""

    status: Literal["later", "no"]
    why: str  # of one that stays refused: the rest of its sentence; of a later one: what it belongs to


def _later(what: str) -> Unserved:
    return Unserved("later", what)


_ONE_REGION: Final = Unserved("no", "there is one region, and no replicas")
_NO_KINESIS: Final = Unserved("no", "there are no Kinesis streams")
_NO_INSIGHTS: Final = Unserved("no", "there is no CloudWatch")
_NO_POLICIES: Final = Unserved("no", "there is no IAM")
_NO_BUCKETS: Final = Unserved("no", "there is no S3")

UNSERVED_OPERATIONS: Final[Mapping[str, Unserved]] = {
    "BatchExecuteStatement": _later("PartiQL"),
    "CancelBulkOperation": _NO_BUCKETS,
    "CreateGlobalTable": _ONE_REGION,
    "DeleteResourcePolicy": _NO_POLICIES,
    "DescribeBulkOperation": _NO_BUCKETS,
    "DescribeContributorInsights": _NO_INSIGHTS,
    "DescribeExport": _later("export"),
    "DescribeGlobalTable": _ONE_REGION,
    "DescribeGlobalTableSettings": _ONE_REGION,
    "DescribeImport": _later("import"),
    "DescribeKinesisStreamingDestination": _NO_KINESIS,
    "DescribeTableReplicaAutoScaling": _ONE_REGION,
    "DisableKinesisStreamingDestination": _NO_KINESIS,
    "EnableKinesisStreamingDestination": _NO_KINESIS,
    "ExecuteStatement": _later("PartiQL"),
    "ExecuteTransaction": _later("PartiQL"),
    "ExportTableToPointInTime": _later("export"),
    "GetResourcePolicy": _NO_POLICIES,
    "ImportTable": _later("import"),
    "ListBulkOperations": _NO_BUCKETS,
    "ListContributorInsights": _NO_INSIGHTS,
    "ListExports": _later("export"),
    "ListGlobalTables": _ONE_REGION,
    "ListImports": _later("import"),
    "PutResourcePolicy": _NO_POLICIES,
    "SearchVectors": _later("vector search"),
    "StartBulkPutItems": _NO_BUCKETS,
    "UpdateContributorInsights": _NO_INSIGHTS,
    "UpdateGlobalTable": _ONE_REGION,
    "UpdateGlobalTableSettings": _ONE_REGION,
    "UpdateKinesisStreamingDestination": _NO_KINESIS,
    "UpdateTableReplicaAutoScaling": _ONE_REGION,
}

# Parameters of served operations, by the name that they have in each operation that takes them.
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


def operation_refusal(name: str) -> str:
    """Return the sentence that refuses an operation."""
    return _sentence(name, UNSERVED_OPERATIONS[name])


def parameter_refusal(name: str) -> str:
    """Return the sentence that refuses a parameter."""
    return _sentence(f"The parameter {name}", UNSERVED_PARAMETERS[name])


def _sentence(subject: str, unserved: Unserved) -> str:
    if unserved.status == "later":
        return f"{subject} is not supported in this release of singletable"
    return f"{subject} is not supported by singletable: {unserved.why}"


# What differs from Amazon DynamoDB in what is served.
OPERATION_REMARKS: Final[Mapping[str, str]] = {
    "BatchGetItem": "always finds what was written before; [reads](#reads)",
    "BatchWriteItem": "`UnprocessedItems` is always empty; its writes are one transaction, on AWS they are not",
    "CreateBackup": "exactly the moment of the request; the backup is [a file](../guides/backups.md)",
    "CreateTable": "answers `CREATING`, and the table [is ready at once](#statuses)",
    "DeleteTable": "answers `DELETING`; the next request finds no such table, unless it is large and "
    "[backed up first](../guides/backups.md#tables-that-were-deleted)",
    "DescribeContinuousBackups": "`LatestRestorableDateTime` is now; on AWS it is about five minutes ago",
    "DescribeLimits": "AWS's defaults; those of a table are held, those of an account are not",
    "DescribeStream": "shards follow each other by [rules of ours](../guides/streams.md#shards)",
    "DescribeTable": "counts and sizes are exact, and of this moment; on AWS they are up to six hours old",
    "GetItem": "[always up to date](#reads)",
    "GetRecords": "finds a change [as soon as](../guides/streams.md#what-differs-from-amazon-dynamodb) it is "
    "written",
    "Query": "[up to date](#reads), also through a global index, unless that is to lag",
    "RestoreTableFromBackup": "verifies the checksum of the backup first; a small table is "
    "[ready at once](#statuses)",
    "RestoreTableToPointInTime": "exact to the change; a small table is [ready at once](#statuses)",
    "Scan": "[another order](#the-order-of-a-scan) of partitions than on AWS",
    "TransactGetItems": "[never conflicts](#transactions)",
    "TransactWriteItems": "[never conflicts](#transactions)",
    "UpdateTable": "a new index is filled [in the background](#statuses), of a small table at once",
    "UpdateTimeToLive": "`ENABLED` at once, unless the table is large; expired items go "
    "[within seconds](../guides/ttl.md)",
}

_WITHOUT_EFFECT: Final = "checked, kept and described; without effect"
_NO_THROTTLING: Final = f"{_WITHOUT_EFFECT} unless [throttling](../guides/throttling.md) is on"

# By the name of the parameter, in whatever operation or part of a request it stands.
PARAMETER_REMARKS: Final[Mapping[str, str]] = {
    "ConsistentRead": "costs what it costs on AWS; reads without it are [consistent too](#reads)",
    "OnDemandThroughput": _NO_THROTTLING,
    "ProvisionedThroughput": _NO_THROTTLING,
    "SSESpecification": f"{_WITHOUT_EFFECT}: the file is not encrypted",
    "TableClass": _WITHOUT_EFFECT,
    "WarmThroughput": _NO_THROTTLING,
}
