"""The metrics that DynamoDB, and the bill, have in CloudWatch, and the dimensions that each of them has.

From the developer guide, "DynamoDB metrics and dimensions". CloudWatch accepts an alarm on a metric with other
dimensions too. Such an alarm never has data and never rings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DYNAMODB: Final = "AWS/DynamoDB"
BILLING: Final = "AWS/Billing"  # in us-east-1 only, for all billed regions
BILLING_REGION: Final = "us-east-1"
LAMBDA: Final = "AWS/Lambda"
SQS: Final = "AWS/SQS"
SCHEDULER: Final = "AWS/Scheduler"
BACKUP: Final = "AWS/Backup"

_TABLE: Final = frozenset({"TableName"})
_INDEX: Final = frozenset({"TableName", "GlobalSecondaryIndexName"})
_OPERATION: Final = frozenset({"TableName", "Operation"})
_VERB: Final = frozenset({"TableName", "Operation", "Verb"})  # of PartiQL: PartiQLSelect
_KIND: Final = frozenset({"TableName", "Operation", "OperationType"})  # of PartiQL: Read, Write
_STREAM: Final = frozenset({"TableName", "Operation", "StreamLabel"})
_DELEGATED: Final = frozenset({"TableName", "DelegatedOperation"})  # change data capture for Kinesis
_REPLICA: Final = frozenset({"TableName", "ReceivingRegion"})
_ACCOUNT: Final = frozenset[str]()
_CURRENCY: Final = frozenset({"Currency"})
_SERVICE: Final = frozenset({"Currency", "ServiceName"})
_FUNCTION: Final = frozenset({"FunctionName"})
_QUEUE: Final = frozenset({"QueueName"})
_SCHEDULES: Final = frozenset({"ScheduleGroup"})
_VAULT: Final = frozenset({"BackupVaultName"})


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric, with each set of dimensions under which CloudWatch has it."""

    name: str
    dimensions: frozenset[frozenset[str]]
    namespace: str = DYNAMODB


METRICS: Final = {
    metric.name: metric
    for metric in (
        # Of the account and region; no table has it.
        Metric("UserErrors", frozenset({_ACCOUNT})),
        Metric("AccountMaxReads", frozenset({_ACCOUNT})),
        Metric("AccountMaxWrites", frozenset({_ACCOUNT})),
        Metric("AccountMaxTableLevelReads", frozenset({_ACCOUNT})),
        Metric("AccountMaxTableLevelWrites", frozenset({_ACCOUNT})),
        Metric("AccountProvisionedReadCapacityUtilization", frozenset({_ACCOUNT})),
        Metric("AccountProvisionedWriteCapacityUtilization", frozenset({_ACCOUNT})),
        # Of a table and an operation.
        Metric("SuccessfulRequestLatency", frozenset({_OPERATION, _VERB, _KIND, _STREAM})),
        Metric("SystemErrors", frozenset({_OPERATION, _VERB, _KIND, _STREAM})),
        Metric("ThrottledRequests", frozenset({_OPERATION, _VERB, _KIND})),
        Metric("ReturnedItemCount", frozenset({_OPERATION, _VERB, _KIND})),
        Metric("FaultInjectionServiceInducedErrors", frozenset({_OPERATION})),
        # Of a table, or an index of it.
        Metric("ConsumedReadCapacityUnits", frozenset({_TABLE, _INDEX})),
        Metric("ConsumedWriteCapacityUnits", frozenset({_TABLE, _INDEX})),
        Metric("ProvisionedReadCapacityUnits", frozenset({_TABLE, _INDEX})),
        Metric("ProvisionedWriteCapacityUnits", frozenset({_TABLE, _INDEX})),
        Metric("ReadThrottleEvents", frozenset({_TABLE, _INDEX})),
        Metric("WriteThrottleEvents", frozenset({_TABLE, _INDEX})),
        Metric("OnDemandMaxReadRequestUnits", frozenset({_TABLE, _INDEX})),
        Metric("OnDemandMaxWriteRequestUnits", frozenset({_TABLE, _INDEX})),
        *(
            Metric(f"{kind}{reason}ThrottleEvents", frozenset({_TABLE, _INDEX}))
            for kind in ("Read", "Write")
            for reason in (
                "ProvisionedThroughput",
                "KeyRangeThroughput",
                "MaxOnDemandThroughput",
                "AccountLimit",
            )
        ),
        Metric("OnlineIndexConsumedWriteCapacity", frozenset({_INDEX})),
        Metric("OnlineIndexPercentageProgress", frozenset({_INDEX})),
        Metric("OnlineIndexThrottleEvents", frozenset({_INDEX})),
        Metric("MaxProvisionedTableReadCapacityUtilization", frozenset({_ACCOUNT})),
        Metric("MaxProvisionedTableWriteCapacityUtilization", frozenset({_ACCOUNT})),
        # Of a table.
        Metric("ConditionalCheckFailedRequests", frozenset({_TABLE})),
        Metric("TransactionConflict", frozenset({_TABLE})),
        Metric("TimeToLiveDeletedItemCount", frozenset({_TABLE})),
        # Of a replica, and of a copy in Kinesis.
        Metric("ReplicationLatency", frozenset({_REPLICA})),
        Metric("PendingReplicationCount", frozenset({_REPLICA})),
        *(
            Metric(name, frozenset({_DELEGATED}))
            for name in (
                "AgeOfOldestUnreplicatedRecord",
                "ConsumedChangeDataCaptureUnits",
                "FailedToReplicateRecordCount",
                "ThrottledPutRecordCount",
            )
        ),
        # Of a stream.
        Metric("ReturnedBytes", frozenset({_STREAM})),
        Metric("ReturnedRecordsCount", frozenset({_STREAM})),
        # Of the bill.
        Metric("EstimatedCharges", frozenset({_CURRENCY, _SERVICE}), BILLING),
        # Of a function (Lambda guide, "Types of metrics for Lambda functions").
        *(
            Metric(name, frozenset({_FUNCTION}), LAMBDA)
            for name in ("Invocations", "Errors", "Throttles", "Duration", "IteratorAge")
        ),
        Metric("ConcurrentExecutions", frozenset({_FUNCTION, _ACCOUNT}), LAMBDA),
        # Of a queue (SQS guide, "Available CloudWatch metrics for Amazon SQS").
        Metric("ApproximateNumberOfMessagesVisible", frozenset({_QUEUE}), SQS),
        Metric("ApproximateAgeOfOldestMessage", frozenset({_QUEUE}), SQS),
        # Of a group of schedules (EventBridge Scheduler guide, "Monitoring with CloudWatch").
        *(
            Metric(name, frozenset({_SCHEDULES}), SCHEDULER)
            for name in ("InvocationAttemptCount", "TargetErrorCount", "InvocationDroppedCount")
        ),
        # Of a vault (AWS Backup guide, "Monitoring AWS Backup metrics with CloudWatch").
        Metric("NumberOfBackupJobsFailed", frozenset({_VAULT}), BACKUP),
        Metric("NumberOfBackupJobsCompleted", frozenset({_VAULT}), BACKUP),
    )
}
