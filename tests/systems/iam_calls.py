"""What IAM asks about a call: the actions that somebody must be allowed, each on its resource.

A transaction is asked about as what is in it, a batch as a batch (developer guide, "IAM for transactions"; service
authorization reference, "Actions defined by Amazon DynamoDB").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from singletable.client import Call
from singletable.stack import Deployment, Policy, Statement

Need = tuple[str, str]  # an action, and the resource that it is wanted on

_PARTS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
_OF_TABLES = frozenset(
    {
        *("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"),
        *("CreateTable", "DescribeTable", "UpdateTable", "CreateBackup"),
        *("DescribeTimeToLive", "UpdateTimeToLive", "DescribeContinuousBackups", "UpdateContinuousBackups"),
    }
)
_OF_STREAMS = frozenset({"DescribeStream", "GetShardIterator", "GetRecords"})
_OF_BACKUPS = frozenset({"DescribeBackup", "DeleteBackup"})
# "Dependent actions" of both restores: they are carried out on the new table for who asks.
_RESTORING = ("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")


class Iam:
    """Turns calls into needs, in one region and account."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment

    def needs(self, calls: Iterable[Call]) -> set[Need]:
        """Return all that these calls need."""
        return {
            (f"dynamodb:{operation}", resource)
            for call in calls
            for operation, resource in self._needs(call.operation, call.params)
        }

    def table(self, name: str) -> str:
        return self._deployment.table_arn(name)

    def _needs(self, operation: str, params: Any) -> Iterator[Need]:
        if operation in ("TransactWriteItems", "TransactGetItems"):
            for part in params["TransactItems"]:
                ((kind, asked),) = part.items()
                yield _PARTS[kind], self.table(asked["TableName"])
        elif operation in ("BatchGetItem", "BatchWriteItem"):
            yield from ((operation, self.table(name)) for name in params["RequestItems"])
        elif operation in _OF_TABLES:
            index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
            yield operation, self.table(params["TableName"]) + index
        elif operation in _OF_STREAMS:
            yield operation, self._here(params["StreamArn"])
        elif operation in _OF_BACKUPS:
            yield operation, self._here(params["BackupArn"])
        elif operation in ("TagResource", "UntagResource", "ListTagsOfResource"):
            yield operation, self._here(params["ResourceArn"])
        elif operation == "RestoreTableFromBackup":
            yield operation, self._here(params["BackupArn"])
            yield from self._restoring(params)
        elif operation == "RestoreTableToPointInTime":
            yield operation, self.table(params["SourceTableName"])
            yield from self._restoring(params)
        elif operation == "ListBackups":
            yield operation, "*"
        else:
            raise AssertionError(f"nobody has said what {operation} needs")

    def _restoring(self, params: Any) -> Iterator[Need]:
        yield from ((action, self.table(params["TargetTableName"])) for action in _RESTORING)

    def _here(self, arn: str) -> str:
        """Return the ARN of something that belongs to a table, as it would be in this place."""
        name, _, rest = arn.partition(":table/")[2].partition("/")
        return f"{self.table(name)}/{rest}" if rest else self.table(name)


def refused(policy: Policy, needs: Iterable[Need]) -> list[Need]:
    """Return what a policy does not allow."""
    return sorted(need for need in needs if not policy.allows(*need))


def unused(policy: Policy, needs: Iterable[Need]) -> set[Need]:
    """Return what a policy allows and none of these needs makes use of: operations, and their resources."""
    wanted = list(needs)
    return {
        (action.partition(":")[2], resource.partition(":table/")[2])
        for statement in policy.statements
        for action in statement.actions
        for resource in statement.resources
        if not any(Statement("", (action,), (resource,)).allows(*need) for need in wanted)
    }
