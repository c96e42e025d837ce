"""What a target says of a table, read into the same form that a design declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from singletable.client.calls import Call, Steps
from singletable.client.capabilities import Capabilities, is_unknown_operation
from singletable.design.bindings import Projection
from singletable.design.definitions import Capacity, IndexDefinition, TableDefinition
from singletable.errors import ApiError, ResourceNotFoundError, TableNotFoundError

T = TypeVar("T")

# DynamoDB answers with one or the other, depending on the operation.
NOT_FOUND: Final = (ResourceNotFoundError, TableNotFoundError)
_PITR_DAYS: Final = 35  # of a target that does not say how many
_ON: Final = frozenset({"ENABLED", "ENABLING"})


def describe_table(name: str) -> Steps[dict[str, Any] | None]:
    """Ask for a table; None if it is not there."""
    try:
        answer = yield Call("DescribeTable", {"TableName": name})
    except NOT_FOUND:
        return None
    description: dict[str, Any] = answer["Table"]
    return description


def found_table(name: str, capabilities: Capabilities) -> Steps[TableDefinition | None]:
    """Ask for everything that a design can declare of a table; None if it is not there."""
    description = yield from describe_table(name)
    if description is None:
        return None
    arn = description.get("TableArn", "")
    ttl = (yield from _if_known(active_ttl(name))) if capabilities.time_to_live else None
    days = (yield from _if_known(_recovery_days(name))) if capabilities.point_in_time_recovery else None
    tags = (yield from _if_known(_tags(arn))) if capabilities.tags else None
    return definition_of(description, ttl=ttl, pitr_days=days, tags=tags)


def _if_known(asked: Steps[T]) -> Steps[T | None]:
    """Ask; None, as of a setting that is off, where the target does not know how to describe it."""
    try:
        return (yield from asked)
    except ApiError as error:
        if not is_unknown_operation(error):
            raise
        return None


def definition_of(
    description: Mapping[str, Any],
    *,
    ttl: str | None = None,
    pitr_days: int | None = None,
    tags: Mapping[str, str] | None = None,
) -> TableDefinition:
    """Read the answer of DescribeTable. What it does not tell is given."""
    pk, sk = _keys(description["KeySchema"])
    billing = description.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    is_provisioned = billing == "PROVISIONED"
    indexes = [
        _index(index, is_local=is_local, is_provisioned=is_provisioned and not is_local)
        for kind, is_local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True))
        for index in description.get(kind) or ()
    ]
    stream = description.get("StreamSpecification") or {}
    return TableDefinition(
        name=description["TableName"],
        pk=pk[0],
        sk=sk[0] if sk else None,
        attribute_types={
            each["AttributeName"]: each["AttributeType"] for each in description["AttributeDefinitions"]
        },
        indexes=tuple(indexes),
        billing=billing,
        capacity=_capacity(description) if is_provisioned else None,
        stream=stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        encryption=_encryption(description),
        deletion_protection=description.get("DeletionProtectionEnabled", False),
        ttl=ttl,
        pitr_days=pitr_days,
        tags=tags or {},
        arn=description.get("TableArn", ""),
    )


def _keys(schema: list[dict[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    def of(kind: str) -> tuple[str, ...]:
        return tuple(each["AttributeName"] for each in schema if each["KeyType"] == kind)

    return of("HASH"), of("RANGE")


def _index(index: Mapping[str, Any], *, is_local: bool, is_provisioned: bool) -> IndexDefinition:
    pk, sk = _keys(index["KeySchema"])
    capacity = _capacity(index) if is_provisioned else None
    return IndexDefinition(index["IndexName"], pk, sk, _projection(index), capacity, is_local)


def _projection(index: Mapping[str, Any]) -> Projection:
    projection = index.get("Projection") or {}
    match projection.get("ProjectionType", "ALL"):
        case "ALL":
            return "ALL"
        case "KEYS_ONLY":
            return "KEYS_ONLY"
        case _:
            return tuple(sorted(projection.get("NonKeyAttributes", ())))


def _capacity(described: Mapping[str, Any]) -> Capacity:
    units = described.get("ProvisionedThroughput") or {}
    return units.get("ReadCapacityUnits", 0), units.get("WriteCapacityUnits", 0)


def _encryption(description: Mapping[str, Any]) -> str:
    found = description.get("SSEDescription") or {}
    if found.get("Status") in (None, "DISABLED", "DISABLING"):
        return "AWS_OWNED"
    return str(found.get("KMSMasterKeyArn") or "AWS_MANAGED")


def active_ttl(name: str) -> Steps[str | None]:
    """Return the attribute by which the items of a table expire; None if they do not."""
    answer = yield Call("DescribeTimeToLive", {"TableName": name})
    found = answer.get("TimeToLiveDescription") or {}
    return found.get("AttributeName") if found.get("TimeToLiveStatus") in _ON else None


def _recovery_days(name: str) -> Steps[int | None]:
    answer = yield Call("DescribeContinuousBackups", {"TableName": name})
    backups = answer.get("ContinuousBackupsDescription") or {}
    found = backups.get("PointInTimeRecoveryDescription") or {}
    if found.get("PointInTimeRecoveryStatus") not in _ON:
        return None
    days: int = found.get("RecoveryPeriodInDays", _PITR_DAYS)
    return days


def _tags(arn: str) -> Steps[dict[str, str]]:
    tags: dict[str, str] = {}
    params = {"ResourceArn": arn}
    while True:
        answer = yield Call("ListTagsOfResource", dict(params))
        tags.update({each["Key"]: each["Value"] for each in answer.get("Tags", ())})
        if not answer.get("NextToken"):
            return tags
        params["NextToken"] = answer["NextToken"]
