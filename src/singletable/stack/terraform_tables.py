"""A table as Terraform has it: aws_dynamodb_table; scaling, insights and a policy are resources of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from singletable.errors import StackError
from singletable.stack.hcl import Block, Call, Expression, Template
from singletable.stack.resources import Capacity, Index, Ref, Scaling, Sub, Table
from singletable.stack.template_values import logical_word
from singletable.stack.terraform_values import Scope, resource_block

PREVENT_DESTROY: Final = Block("lifecycle", attributes={"prevent_destroy": True})
_Kind = Literal["Read", "Write"]
_KINDS: Final[tuple[_Kind, ...]] = ("Read", "Write")
_PITR_DAYS: Final = 35  # of a replica, for which the provider takes no other


def has_wide_keys(table: Table) -> bool:
    """Tell whether an index has a key of several attributes."""
    return any(len(index.pk) > 1 or len(index.sk) > 1 for index in table.indexes)


def table_blocks(table: Table, scope: Scope) -> Iterator[Block]:
    """Yield a table and what belongs to it."""
    _refuse_replicas(table)
    if isinstance(table.key, str):
        yield Block("data", ("aws_kms_key", scope.label(table.logical_id)), {"key_id": table.key})
    yield _table(table, scope)
    yield from _scaling(table, scope)
    if table.contributor_insights:
        yield from _insights(table, scope)
    if table.policy is not None:
        yield from _policies(table, scope)


def _refuse_replicas(table: Table) -> None:
    if table.replicas and table.pitr_days not in (None, _PITR_DAYS):
        raise StackError(
            f"Terraform cannot say that a replica keeps {table.pitr_days} days for recovery",
            hint=f"let the design have {_PITR_DAYS} days, or take --format cloudformation",
        )
    if table.replicas and table.key is not None:
        raise StackError(
            "Terraform takes a key of KMS of its own for each replica, and the design has one",
            hint="let AWS keep the key: AWS_MANAGED or AWS_OWNED",
        )


# --- the table ------------------------------------------------------------------------------------------------


def _table(table: Table, scope: Scope) -> Block:
    stream = "NEW_AND_OLD_IMAGES" if table.replicas else table.stream  # replicas are kept by the stream
    attributes = {
        "name": table.name,
        "billing_mode": "PAY_PER_REQUEST" if table.capacity is None else "PROVISIONED",
        **_units(table.capacity),
        "hash_key": table.pk,
        "range_key": table.sk,
        "table_class": table.table_class,
        "stream_enabled": True if stream else None,
        "stream_view_type": stream,
        "deletion_protection_enabled": table.deletion_protection,
        "tags": dict(sorted(table.tags.items())) or None,
    }
    blocks = [
        Block("attribute", (), {"name": name, "type": kind}) for name, kind in sorted(table.types.items())
    ]
    blocks += [_index(index) for index in table.indexes]
    if table.ttl is not None:
        blocks.append(Block("ttl", (), {"attribute_name": table.ttl, "enabled": True}))
    if table.pitr_days is not None:
        days = {"enabled": True, "recovery_period_in_days": table.pitr_days}
        blocks.append(Block("point_in_time_recovery", (), days))
    if table.encryption != "AWS_OWNED":
        key = {"enabled": True, "kms_key_arn": _key(table, scope)}
        blocks.append(Block("server_side_encryption", (), key))
    blocks += [_replica(table, region) for region in table.replicas]
    return scope.resource(table, attributes, *blocks, _lifecycle(table))


def _units(capacity: Capacity | None) -> dict[str, int]:
    if capacity is None:
        return {}
    return {"read_capacity": capacity.read_units, "write_capacity": capacity.write_units}


def _index(index: Index) -> Block:
    kind = "local_secondary_index" if index.is_local else "global_secondary_index"
    is_wide = len(index.pk) > 1 or len(index.sk) > 1
    attributes = {
        "name": index.name,
        "hash_key": None if index.is_local or is_wide else index.pk[0],
        "range_key": None if is_wide or not index.sk else index.sk[0],
        "projection_type": index.projection,
        "non_key_attributes": list(index.included) or None,
        **_units(index.capacity),
    }
    keys = [(name, "HASH") for name in index.pk] + [(name, "RANGE") for name in index.sk]
    schema = [Block("key_schema", (), {"attribute_name": name, "key_type": role}) for name, role in keys]
    return Block(kind, (), attributes, schema if is_wide else ())


def _key(table: Table, scope: Scope) -> Any:
    if isinstance(table.key, str):  # an alias, and the provider takes an ARN
        return Expression(f"data.aws_kms_key.{scope.label(table.logical_id)}.arn")
    return None if table.key is None else scope.text(table.key)


def _replica(table: Table, region: str) -> Block:
    return Block(
        "replica",
        (),
        {
            "region_name": region,
            "point_in_time_recovery": table.pitr_days is not None,
            "deletion_protection_enabled": table.deletion_protection,
            "propagate_tags": True,
        },
    )


def _lifecycle(table: Table) -> Block:
    """What scales is not what the configuration says: a plan would set it back."""
    scaled = [
        Expression(f"{kind.lower()}_capacity") for kind in _KINDS if _scaling_of(table, table.capacity, kind)
    ]
    return Block("lifecycle", (), {"prevent_destroy": True, "ignore_changes": scaled or None})


# --- around it ------------------------------------------------------------------------------------------------


def _scaling_of(table: Table, capacity: Capacity | None, kind: _Kind) -> Scaling | None:
    if capacity is None:
        return None
    if kind == "Read":
        return capacity.read_scaling
    if capacity.write_scaling is None and table.replicas:
        # The writes of a global table always scale: a range of one value is fixed.
        return Scaling(capacity.write_units, capacity.write_units, 70)
    return capacity.write_scaling


def _scaling(table: Table, scope: Scope) -> Iterator[Block]:
    label = scope.label(table.logical_id)
    places: list[tuple[str, str, str, Capacity | None]] = [(label, "table", "", table.capacity)]
    places += [
        (f"{label}_{logical_word(index.name)}", "index", f"/index/{index.name}", index.capacity)
        for index in table.indexes
    ]
    for place, word, path, capacity in places:
        for kind in _KINDS:
            scaling = _scaling_of(table, capacity, kind)
            if scaling is not None:
                name = f"{place}_{kind.lower()}"
                scaled = {
                    "service_namespace": "dynamodb",
                    "resource_id": scope.text(Sub(f"table/${{{table.logical_id}}}{path}")),
                    "scalable_dimension": f"dynamodb:{word}:{kind}CapacityUnits",
                }
                limits = {"min_capacity": scaling.units_min, "max_capacity": scaling.units_max}
                yield resource_block("aws_appautoscaling_target", name, {**scaled, **limits})
                yield _policy(table, name, path, kind, scaling)


def _policy(table: Table, label: str, path: str, kind: _Kind, scaling: Scaling) -> Block:
    target = f"aws_appautoscaling_target.{label}"
    metric = {"predefined_metric_type": f"DynamoDB{kind}CapacityUtilization"}
    return resource_block(
        "aws_appautoscaling_policy",
        label,
        {
            "name": f"table-{table.name}{path.replace('/', '-')}-{kind.lower()}s"[:255],
            "policy_type": "TargetTrackingScaling",
            **{
                name: Expression(f"{target}.{name}")
                for name in ("service_namespace", "resource_id", "scalable_dimension")
            },
        },
        Block(
            "target_tracking_scaling_policy_configuration",
            (),
            {"target_value": scaling.target_percent},
            [Block("predefined_metric_specification", (), metric)],
        ),
    )


def _insights(table: Table, scope: Scope) -> Iterator[Block]:
    label = scope.label(table.logical_id)
    name = scope.text(Ref(table.logical_id))
    places: list[tuple[str, str | None]] = [(label, None)]
    places += [
        (f"{label}_{logical_word(index.name)}", index.name) for index in table.indexes if not index.is_local
    ]
    for region in (None, *table.replicas):
        suffix = "" if region is None else f"_{region.replace('-', '_')}"
        for place, index in places:
            attributes = {"region": region, "table_name": name, "index_name": index}
            yield resource_block("aws_dynamodb_contributor_insights", f"{place}{suffix}", attributes)


def _policies(table: Table, scope: Scope) -> Iterator[Block]:
    label = scope.label(table.logical_id)
    arn = scope.text(Sub(f"${{{table.logical_id}.Arn}}"))
    yield resource_block(
        "aws_dynamodb_resource_policy",
        label,
        {"resource_arn": arn, "policy": Call("jsonencode", scope.filled(table.policy))},
    )
    for region in table.replicas:
        there = scope.text(
            Sub(
                f"arn:${{AWS::Partition}}:dynamodb:{region}:${{AWS::AccountId}}:table/${{{table.logical_id}}}"
            )
        )
        assert isinstance(there, Template)
        yield resource_block(
            "aws_dynamodb_resource_policy",
            f"{label}_{region.replace('-', '_')}",
            {
                "region": region,
                "resource_arn": there,
                "policy": Call("jsonencode", scope.filled(table.policy_in(region))),
            },
        )
