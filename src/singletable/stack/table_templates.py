"""A table as CloudFormation has it: AWS::DynamoDB::Table with its auto scaling, or AWS::DynamoDB::GlobalTable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from singletable.stack.resources import Capacity, Index, Scaling, Table, Text
from singletable.stack.template_values import filled, logical_word, resource, tag_list, text, without_none

_Kind = Literal["Read", "Write"]
_KINDS: Final[tuple[_Kind, ...]] = ("Read", "Write")


@dataclass(frozen=True, slots=True)
class TableTemplate:
    """The properties of a table, and the resources that scale it."""

    properties: Mapping[str, Any]
    scaling: Mapping[str, Any] = field(default_factory=dict)


def table_properties(table: Table) -> TableTemplate:
    """Return a table as CloudFormation has it; a global table scales by properties of its own."""
    if table.is_global:
        return TableTemplate(_global_table(table))
    return TableTemplate(_table(table), dict(_scaling_resources(table)))


def _keys(table: Table) -> dict[str, Any]:
    return {
        "TableName": table.name,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in sorted(table.types.items())
        ],
        "KeySchema": _key_schema((table.pk,), (table.sk,) if table.sk else ()),
        "BillingMode": "PAY_PER_REQUEST" if table.capacity is None else "PROVISIONED",
        "TimeToLiveSpecification": {"AttributeName": table.ttl, "Enabled": True} if table.ttl else None,
    }


def _key_schema(pk: tuple[str, ...], sk: tuple[str, ...]) -> list[dict[str, str]]:
    return [
        *({"AttributeName": name, "KeyType": "HASH"} for name in pk),
        *({"AttributeName": name, "KeyType": "RANGE"} for name in sk),
    ]


def _index(index: Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.projection == "INCLUDE":
        projection["NonKeyAttributes"] = list(index.included)
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.pk, index.sk),
        "Projection": projection,
    }


def _recovery(table: Table) -> dict[str, Any] | None:
    if table.pitr_days is None:
        return None
    return {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": table.pitr_days}


# --- a table of one region ------------------------------------------------------------------------------------


def _table(table: Table) -> dict[str, Any]:
    local = [_index(index) for index in table.indexes if index.is_local]
    insights = {"Enabled": True} if table.contributor_insights else None
    globals_ = [
        without_none(
            {
                **_index(index),
                "ProvisionedThroughput": _throughput(index.capacity),
                "ContributorInsightsSpecification": insights,
            }
        )
        for index in table.indexes
        if not index.is_local
    ]
    return {
        **_keys(table),
        "ProvisionedThroughput": _throughput(table.capacity),
        "GlobalSecondaryIndexes": globals_ or None,
        "LocalSecondaryIndexes": local or None,
        "StreamSpecification": {"StreamViewType": table.stream} if table.stream else None,
        "SSESpecification": _encryption(table),
        "PointInTimeRecoverySpecification": _recovery(table),
        "TableClass": table.table_class,
        "DeletionProtectionEnabled": table.deletion_protection,
        "ContributorInsightsSpecification": insights,
        "ResourcePolicy": None if table.policy is None else {"PolicyDocument": filled(table.policy)},
        "Tags": tag_list(table.tags),
    }


def _throughput(capacity: Capacity | None) -> dict[str, int] | None:
    if capacity is None:
        return None
    return {"ReadCapacityUnits": capacity.read_units, "WriteCapacityUnits": capacity.write_units}


def _encryption(table: Table) -> dict[str, Any] | None:
    match table.encryption:
        case "AWS_OWNED":
            return None
        case "AWS_MANAGED":
            return {"SSEEnabled": True, "SSEType": "KMS"}
        case _:
            assert table.key is not None
            return {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": text(table.key)}


def _scaling_resources(table: Table) -> Iterator[tuple[str, Any]]:
    places: list[tuple[str, str, str, Capacity]] = []
    if table.capacity is not None:
        places.append(("", "table", f"table/{table.name}", table.capacity))
    places += [
        (
            f"Index{logical_word(index.name)}",
            "index",
            f"table/{table.name}/index/{index.name}",
            index.capacity,
        )
        for index in table.indexes
        if index.capacity is not None
    ]
    for suffix, place, path, capacity in places:
        for kind in _KINDS:
            scaling = capacity.read_scaling if kind == "Read" else capacity.write_scaling
            if scaling is None:
                continue
            target = f"{table.logical_id}{suffix}{kind}Target"
            dimension = f"dynamodb:{place}:{kind}CapacityUnits"
            yield target, _target(table, path, dimension, scaling)
            yield f"{table.logical_id}{suffix}{kind}Policy", _policy(target, path, kind, scaling)


def _target(table: Table, path: str, dimension: str, scaling: Scaling) -> dict[str, Any]:
    return resource(
        "AWS::ApplicationAutoScaling::ScalableTarget",
        {
            "ServiceNamespace": "dynamodb",
            "ResourceId": path,
            "ScalableDimension": dimension,
            "MinCapacity": scaling.units_min,
            "MaxCapacity": scaling.units_max,
        },
        DependsOn=table.logical_id,
    )


def _policy(target: str, path: str, kind: str, scaling: Scaling) -> dict[str, Any]:
    return resource(
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        {
            "PolicyName": f"{path.replace('/', '-')}-{kind.lower()}s"[:256],
            "PolicyType": "TargetTrackingScaling",
            "ScalingTargetId": {"Ref": target},
            "TargetTrackingScalingPolicyConfiguration": {
                "PredefinedMetricSpecification": {
                    "PredefinedMetricType": f"DynamoDB{kind}CapacityUtilization"
                },
                "TargetValue": scaling.target_percent,
            },
        },
    )


# --- a global table -------------------------------------------------------------------------------------------


def _global_table(table: Table) -> dict[str, Any]:
    """A replica has its own settings: the stack's region is one of them, and the first that is written."""
    written = [
        without_none(
            {
                **_index(index),
                "WriteProvisionedThroughputSettings": _global_units(index.capacity, "Write"),
            }
        )
        for index in table.indexes
        if not index.is_local
    ]
    # A table of several regions replicates by its stream.
    is_streaming = table.stream is not None or bool(table.replicas)
    return {
        **_keys(table),
        "GlobalSecondaryIndexes": written or None,
        "LocalSecondaryIndexes": [_index(index) for index in table.indexes if index.is_local] or None,
        "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"} if is_streaming else None,
        "SSESpecification": None
        if table.encryption == "AWS_OWNED"
        else {"SSEEnabled": True, "SSEType": "KMS"},
        "WriteProvisionedThroughputSettings": _global_units(table.capacity, "Write"),
        "Replicas": [
            _replica(table, {"Ref": "AWS::Region"}, table.key, table.policy),
            *(_replica(table, each, table.key_in(each), table.policy_in(each)) for each in table.replicas),
        ],
    }


def _replica(table: Table, region: Any, key: Text | None, policy: Mapping[str, Any] | None) -> dict[str, Any]:
    insights = {"Enabled": True} if table.contributor_insights else None
    indexes = [
        without_none(
            {
                "IndexName": index.name,
                "ContributorInsightsSpecification": insights,
                "ReadProvisionedThroughputSettings": _global_units(index.capacity, "Read"),
            }
        )
        for index in table.indexes
        if not index.is_local and (insights or index.capacity)
    ]
    return without_none(
        {
            "Region": region,
            "PointInTimeRecoverySpecification": _recovery(table),
            "TableClass": table.table_class,
            "DeletionProtectionEnabled": table.deletion_protection,
            "ContributorInsightsSpecification": insights,
            "GlobalSecondaryIndexes": indexes or None,
            "ReadProvisionedThroughputSettings": _global_units(table.capacity, "Read"),
            "SSESpecification": None if key is None else {"KMSMasterKeyId": text(key)},
            "ResourcePolicy": None if policy is None else {"PolicyDocument": filled(policy)},
            "Tags": tag_list(table.tags),
        }
    )


def _global_units(capacity: Capacity | None, kind: _Kind) -> dict[str, Any] | None:
    if capacity is None:
        return None
    scaling = capacity.read_scaling if kind == "Read" else capacity.write_scaling
    units = capacity.read_units if kind == "Read" else capacity.write_units
    if scaling is None:
        if kind == "Read":
            return {"ReadCapacityUnits": units}
        # The writes of a global table always scale: a range of one value is fixed.
        scaling = Scaling(units, units, 70)
    return {
        f"{kind}CapacityAutoScalingSettings": {
            "MinCapacity": scaling.units_min,
            "MaxCapacity": scaling.units_max,
            "TargetTrackingScalingPolicyConfiguration": {"TargetValue": scaling.target_percent},
        }
    }
