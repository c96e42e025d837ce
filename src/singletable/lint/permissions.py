"""Policies as rules look at them: the actions that IAM has, what a role may do, and what its services ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from singletable.blueprint.patterns import PatternBlueprint
    from singletable.blueprint.positions import Path
    from singletable.blueprint.surroundings import RoleBlueprint, ServiceBlueprint, StatementBlueprint
    from singletable.lint.view import View

PREFIX: Final = "dynamodb:"

# Service Authorization Reference, "Actions, resources, and condition keys for Amazon DynamoDB".
ON_ACCOUNT: Final = frozenset(  # they take no table, only *
    (
        "DescribeEndpoints", "DescribeLimits", "DescribeReservedCapacity", "DescribeReservedCapacityOfferings",
        "GetAbacStatus", "ListBackups", "ListContributorInsights", "ListExports", "ListGlobalTables",
        "ListImports", "ListStreams", "ListTables", "PurchaseReservedCapacityOfferings", "UpdateAbacStatus",
    )
)  # fmt: skip
ON_TABLE: Final = frozenset(
    (
        "AssociateTableReplica", "BatchGetItem", "BatchWriteItem", "ConditionCheckItem", "CreateBackup",
        "CreateGlobalTable", "CreateGlobalTableWitness", "CreateTable", "CreateTableReplica", "DeleteBackup",
        "DeleteGlobalTableWitness", "DeleteItem", "DeleteResourcePolicy", "DeleteTable", "DeleteTableReplica",
        "DescribeBackup", "DescribeContinuousBackups", "DescribeContributorInsights", "DescribeExport",
        "DescribeGlobalTable", "DescribeGlobalTableSettings", "DescribeImport",
        "DescribeKinesisStreamingDestination", "DescribeStream", "DescribeTable",
        "DescribeTableReplicaAutoScaling", "DescribeTimeToLive", "DisableKinesisStreamingDestination",
        "EnableKinesisStreamingDestination", "ExportTableToPointInTime", "GetItem", "GetRecords",
        "GetResourcePolicy", "GetShardIterator", "ImportTable", "InjectError", "ListTagsOfResource",
        "PartiQLDelete", "PartiQLInsert", "PartiQLSelect", "PartiQLUpdate", "PutItem", "PutResourcePolicy",
        "Query", "ReadDataForReplication", "ReplicateSettings", "RestoreTableFromAwsBackup",
        "RestoreTableFromBackup", "RestoreTableToPointInTime", "Scan",
        "StartAwsBackupJob", "TagResource", "UntagResource",
        "UpdateContinuousBackups", "UpdateContributorInsights", "UpdateGlobalTable", "UpdateGlobalTableSettings",
        "UpdateGlobalTableVersion", "UpdateItem", "UpdateKinesisStreamingDestination", "UpdateTable",
        "UpdateTableReplicaAutoScaling", "UpdateTimeToLive", "WriteDataForReplication",
    )
)  # fmt: skip
ACTIONS: Final = ON_ACCOUNT | ON_TABLE

# A transaction has no action of its own: the actions of its parts allow it (developer guide, "Amazon DynamoDB
# Transactions", "Using IAM with DynamoDB transactions").
_OF_OPERATION: Final = {
    "GetItem": ("GetItem",),
    "TransactGetItems": ("GetItem",),
    "BatchGetItem": ("BatchGetItem",),
    "Query": ("Query",),
    "Scan": ("Scan",),
    "PutItem": ("PutItem",),
    "UpdateItem": ("UpdateItem",),
    "DeleteItem": ("DeleteItem",),
    "ConditionCheck": ("ConditionCheckItem",),
    "BatchWriteItem": ("BatchWriteItem",),
}
_OF_STEP: Final = {
    "create": "PutItem",
    "put": "PutItem",
    "update": "UpdateItem",
    "delete": "DeleteItem",
    "check": "ConditionCheckItem",
}
_OF_READER: Final = ("DescribeStream", "GetRecords", "GetShardIterator")


@dataclass(frozen=True)
class Needed:
    """An action that something under a role asks for: on the table, on an index, or on the stream."""

    action: str
    part: str  # "", "index/GSI1", "stream/*"
    by: str  # pattern 3
    path: Path


# --- resources ------------------------------------------------------------------------------------------

_PLACEHOLDER: Final = re.compile(r"\$?\{[^{}]*\}|<[^<>]*>")
_SLOT: Final = "\0"  # stands for a placeholder: any text without a slash
_ARN_PARTS: Final = 6


@dataclass(frozen=True)
class Resource:
    """A resource of a statement: its region, and what it names there, with *, and _SLOT for placeholders."""

    region: str  # empty where it is not said
    name: str  # table/orders-*/index/*

    @classmethod
    def of(cls, text: str) -> Resource:
        """Read an ARN, *, or a reference to the table with what follows it."""
        plain = _PLACEHOLDER.sub(_SLOT, text)  # it may have colons of its own: ${AWS::Region}
        parts = plain.split(":", _ARN_PARTS - 1)
        if parts[0] == "arn" and len(parts) == _ARN_PARTS:
            return cls("" if _SLOT in parts[3] else parts[3], parts[5])
        if text == "*":
            return cls("", "*")
        _, slash, part = plain.partition("/")
        return cls("", f"table/{_SLOT}{slash}{part}")

    def reaches(self, name: str) -> bool:
        """Tell whether it can mean something of this name, which may have placeholders too."""
        return _meet(self.name, _PLACEHOLDER.sub(_SLOT, name))


def same_name(one: str, other: str) -> bool:
    """Tell whether two names can be the same, if placeholders are filled."""
    return _meet(_PLACEHOLDER.sub(_SLOT, one), _PLACEHOLDER.sub(_SLOT, other))


@lru_cache(maxsize=4096)
def _meet(one: str, other: str) -> bool:
    """Tell whether two patterns have a text in common: * is any text, _SLOT any without a slash."""
    reached, seen = [(0, 0)], {(0, 0)}
    while reached:
        first, second = reached.pop()
        if first == len(one) and second == len(other):
            return True
        for state in _next(one, other, first, second):
            if state not in seen:
                seen.add(state)
                reached.append(state)
    return False


def _next(one: str, other: str, first: int, second: int) -> Iterator[tuple[int, int]]:
    left, right = one[first : first + 1], other[second : second + 1]
    if left in ("*", _SLOT) and left:
        yield first + 1, second
        if right and (left == "*" or right != "/"):
            yield first, second + 1
    if right in ("*", _SLOT) and right:
        yield first, second + 1
        if left and (right == "*" or left != "/"):
            yield first + 1, second
    if left and right and (left == right or "?" in (left, right)):
        yield first + 1, second + 1


# --- what a role may do ---------------------------------------------------------------------------------


def action_name(action: str) -> str:
    """Return an action without its service: `dynamodb:GetItem` and `GetItem` are GetItem."""
    return action[len(PREFIX) :] if action.lower().startswith(PREFIX) else action


def matches(pattern: str, action: str) -> bool:
    """Tell whether an action of a statement, with its * and ?, means an action of DynamoDB."""
    return fnmatchcase(action.lower(), action_name(pattern).lower())


def allows(view: View, role: RoleBlueprint, action: str, part: str = "") -> bool:
    """Tell whether a role may do something with the table or a part of it. Conditions are taken to hold."""
    verdicts = [
        statement.effect
        for statement in role.statements
        if any(matches(each, action) for each in statement.actions)
        and _reaches(view, statement, part)
        and not (statement.effect == "Deny" and statement.conditions)
    ]
    return "Allow" in verdicts and "Deny" not in verdicts


def names_action(role: RoleBlueprint, action: str) -> bool:
    """Tell whether a role may do something anywhere."""
    return any(
        matches(each, action)
        for statement in role.statements
        if statement.effect == "Allow"
        for each in statement.actions
    )


def _reaches(view: View, statement: StatementBlueprint, part: str) -> bool:
    table = view.blueprint.table
    name = f"table/{table.name}" + (f"/{part}" if part else "")
    regions = {region.code for region in table.regions}
    for text in statement.resources:
        resource = Resource.of(text)
        is_near = not regions or not resource.region or any(_meet(resource.region, each) for each in regions)
        if is_near and resource.reaches(name):
            return True
    return not statement.resources


# --- what is asked under a role -------------------------------------------------------------------------


def needed(view: View, role: RoleBlueprint) -> Iterator[Needed]:
    """Yield what the services, patterns and consumers of a role ask for, as far as the design says it."""
    blueprint = view.blueprint
    for name in role.services:
        for at, pattern in enumerate(blueprint.patterns):
            if name in _names(pattern):
                yield from _of_pattern(pattern, ("patterns", at))
        for service in blueprint.services:
            if service.name == name:
                yield from _of_service(view, service)
        for at, consumer in enumerate(blueprint.consumers):
            if consumer.name == name and consumer.kind in ("lambda", "process"):
                for action in _OF_READER:
                    yield Needed(action, "stream/*", f"consumer {name}", ("consumers", at))


def _names(pattern: PatternBlueprint) -> tuple[str, ...]:
    return tuple(each for each in (pattern.number, pattern.method) if each)


def _of_pattern(pattern: PatternBlueprint, path: Path) -> Iterator[Needed]:
    by = f"pattern {pattern.number or pattern.method}"
    for read in pattern.reads:
        for action in _OF_OPERATION.get(read.operation, ()):
            part = f"index/{read.index}" if read.index is not None and action in ("Query", "Scan") else ""
            yield Needed(action, part, by, path)
    for write in pattern.writes:
        for action in _OF_OPERATION.get(write.operation, ()):
            yield Needed(action, "", by, path)


def _of_service(view: View, service: ServiceBlueprint) -> Iterator[Needed]:
    blueprint = view.blueprint
    path: Path = ("services", blueprint.services.index(service))
    asked = {*service.patterns, *(step.of for step in service.steps if step.kind == "pattern")}
    for at, pattern in enumerate(blueprint.patterns):
        if asked & set(_names(pattern)):
            yield from _of_pattern(pattern, ("patterns", at))
    for step in service.steps:
        if (action := _OF_STEP.get(step.kind)) is not None:
            yield Needed(action, "", f"service {service.name}", path)
