"""The roles of a design's table, with least privilege: their permissions follow from its access patterns.

reader       the requests of reading patterns, on the table and on the indexes that they read
writer       a reader that also writes items, one by one, in batches and in transactions
consumer     a writer that follows the table's stream, as the Lambda function of a design with handlers does
maintenance  makes the table, reads everything, repairs, migrates, backs up, restores and maintains the
             restored table; a person's role, not the app's. It deletes no table.
owner        a user who reads the partitions that are their own, and no others; they do not write, since locks,
             counters and copies are kept by the application
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from singletable.blueprint import Blueprint, owner_lead
from singletable.stack.options import Deployment
from singletable.stack.policies import Conditions, Policy, Statement

# A transaction needs the permissions of its single actions (developer guide, "IAM for transactions").
_WRITES: Final = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "ConditionCheckItem")
# The actions of the event source mapping of a Lambda function (developer guide, "IAM policy to allow an AWS Lambda
# function to access DynamoDB stream records").
_STREAM: Final = ("DescribeStream", "GetRecords", "GetShardIterator")
# A restore reads and writes the new table on behalf of its caller (developer guide, "Using IAM with DynamoDB
# backup and restore"): it needs these reads and all writes there.
_READS: Final = ("GetItem", "Query", "Scan")
_KEEPING: Final = (
    "CreateTable",
    "DescribeTable",
    "UpdateTable",
    "DescribeTimeToLive",
    "UpdateTimeToLive",
    "DescribeContinuousBackups",
    "UpdateContinuousBackups",
    "CreateBackup",
    "RestoreTableToPointInTime",
    "ListTagsOfResource",
    "TagResource",
    "UntagResource",
)
PROVIDER: Final = "cognito-identity.amazonaws.com"
_OWNER: Final = "${!" + PROVIDER + ":sub}"
# The condition is that of the developer guide, "Using IAM policy conditions for fine-grained access control".
_LEADING: Final = "dynamodb:LeadingKeys"
_BY_KEY: Final = frozenset(
    {"GetItem", "BatchGetItem", "Query"}
)  # a scan and a transaction have no leading keys
_BACKUPS: Final = ("DescribeBackup", "DeleteBackup", "RestoreTableFromBackup")


@dataclass(frozen=True, slots=True)
class Roles:
    """The policies of a design's roles. A table without a stream has no consumer."""

    reader: Policy
    writer: Policy
    maintenance: Policy
    consumer: Policy | None = None

    def all(self) -> tuple[Policy, ...]:
        """Return every policy."""
        return tuple(
            policy for policy in (self.reader, self.writer, self.consumer, self.maintenance) if policy
        )


def roles_of(blueprint: Blueprint, deployment: Deployment) -> Roles:
    """Make the policies for a design's table in one place: its account, region and environment, no other."""
    name = deployment.table_name(blueprint.table.name)
    table = deployment.table_arn(name)
    reading = _reading(blueprint, table)
    writing = Statement("WriteItems", _actions(_WRITES), (table,))
    # The design layer describes the table when it opens or compares it.
    looking = Statement("DescribeTable", _actions(["DescribeTable"]), (table,))
    following = (
        Statement("FollowStream", _actions(_STREAM), (f"{table}/stream/*",)),
        Statement("ListStreams", _actions(["ListStreams"]), ("*",)),  # knows no resources
    )
    return Roles(
        reader=Policy(f"{name}-reader", (*reading, looking)),
        writer=Policy(f"{name}-writer", (*reading, writing, looking)),
        maintenance=_maintenance(blueprint, name, (table, _restored(blueprint, deployment))),
        consumer=Policy(f"{name}-consumer", (*reading, writing, looking, *following))
        if blueprint.table.stream
        else None,
    )


def _reading(blueprint: Blueprint, table: str) -> tuple[Statement, ...]:
    operations, indexes = _reads(blueprint)
    statements = []
    if operations:
        statements.append(Statement("ReadTable", _actions(operations), (table,)))
    if indexes:
        resources = tuple(f"{table}/index/{index}" for index in indexes)
        statements.append(Statement("QueryIndexes", _actions(["Query"]), resources))
    return tuple(statements)


def _reads(blueprint: Blueprint) -> tuple[list[str], list[str]]:
    """Return the operations by which patterns read the table, and the indexes that they query."""
    reads = [read for pattern in blueprint.patterns for read in pattern.reads]
    operations = {read.operation for read in reads if read.index is None}
    indexes = {read.index for read in reads if read.index is not None}
    if any(unique.was is not None for entity in blueprint.entities for unique in entity.uniques):
        # The design layer looks there for locks under old keys, and for items that say that they have moved.
        operations.add("GetItem")
        indexes |= {index.name for index in blueprint.indexes if blueprint.table.sk in index.pk}
    return sorted(operations), sorted(indexes)


def _restored(blueprint: Blueprint, deployment: Deployment) -> str:
    """Return the ARN of the table that restores go to: that of an environment beside this one."""
    environment = {name: f"{value}-restored" for name, value in deployment.environment.items()}
    beside = replace(deployment, environment=environment)
    name = beside.table_name(blueprint.table.name)
    return beside.table_arn(name if environment else f"{name}-restored")


def _maintenance(blueprint: Blueprint, name: str, tables: tuple[str, str]) -> Policy:
    """Make the maintenance policy for a table and for the table that it is restored to."""
    items = {*_reads(blueprint)[0], *_READS, *_WRITES}
    indexes = tuple(f"{table}/index/*" for table in tables)
    return Policy(
        f"{name}-maintenance",
        (
            Statement("ReadAndRepair", _actions(sorted(items)), tables),
            *([Statement("QueryIndexes", _actions(["Query"]), indexes)] if blueprint.indexes else []),
            Statement("KeepTable", _actions(_KEEPING), tables),
            Statement("KeepBackups", _actions(_BACKUPS), (f"{tables[0]}/backup/*",)),
            Statement("ListBackups", _actions(["ListBackups"]), ("*",)),  # knows no resources
        ),
    )


def _actions(operations: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"dynamodb:{operation}" for operation in operations)


# --- owners -----------------------------------------------------------------------------------------------------


def owner_policy(blueprint: Blueprint, *, table: str, name: str) -> Policy | None:
    """Return the policy of an owner on a table, by its ARN; None where the design declares no owner."""
    leads = _leads(blueprint)
    statements = []
    for index, keys in sorted(leads.items(), key=lambda each: each[0] or ""):
        actions = _owned_reads(blueprint, index)
        if not actions:
            continue
        conditions: Conditions = {
            "ForAllValues:StringLike": {_LEADING: tuple(sorted(keys))},
            "Null": {_LEADING: ("false",)},
        }
        resource = table if index is None else f"{table}/index/{index}"
        sid = "ReadOwn" if index is None else f"ReadOwnIn{_alphanumeric(index)}"
        statements.append(Statement(sid, actions, (resource,), conditions))
    return Policy(name, tuple(statements)) if statements else None


def _leads(blueprint: Blueprint) -> dict[str | None, set[str]]:
    """Return what the owner's keys begin with, of the table (None) and of each index."""
    found: dict[str | None, set[str]] = defaultdict(set)
    for entity in blueprint.entities:
        for place in entity.places:
            lead = owner_lead(entity, place)
            if lead is None or len(place.pk.attributes) != 1:
                continue
            if not any(_may_meet(lead.prefix, other) for other in _unowned(blueprint, place.index)):
                found[place.index].add(lead.leading(_OWNER) + ("*" if lead.follows else ""))
    return found


def _unowned(blueprint: Blueprint, index: str | None) -> Iterator[str]:
    """Yield the constant text before the first value, of all partition keys that no owner leads."""
    for entity in blueprint.entities:
        for place in entity.places:
            if place.index == index and owner_lead(entity, place) is None:
                yield (place.pk.template or "").partition("{")[0]


def _may_meet(prefix: str, other: str) -> bool:
    """Tell whether keys of two prefixes may be of one partition: then others than its owner have items in it."""
    return prefix.startswith(other) or other.startswith(prefix)


def _owned_reads(blueprint: Blueprint, index: str | None) -> tuple[str, ...]:
    owned = {entity.name for entity in blueprint.entities if entity.owner is not None}
    found = {
        read.operation
        for pattern in blueprint.patterns
        for read in pattern.reads
        if read.index == index and owned.intersection(read.entities)
    }
    return tuple(f"dynamodb:{operation}" for operation in sorted(found & _BY_KEY))


def _alphanumeric(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() and letter.isascii())
