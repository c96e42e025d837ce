"""CreateTable: from its DynamoDB shape to a request, with AWS's rules in AWS's order.

The order and the words are those of dynalite, whose tests ran against the service, corrected by the answers that
the "ack-api-quirks" laboratory recorded in October 2026.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from singletable import limits
from singletable.engine import tables
from singletable.engine.tables import CreateTable, NewIndex, check_projected_total
from singletable.engine.tags import Tags
from singletable.engine.throughput import check_new_warm
from singletable.errors import INVALID, ValidationError
from singletable.storage.definitions import ON_DEMAND, BillingMode, KeyAttribute, KeySchema, Throughput
from singletable.values.hash_order import default_order, sized_order
from singletable.values.types import KeyType
from singletable.wire.descriptions import table_description
from singletable.wire.forms import Form
from singletable.wire.operations.tags import read_tags
from singletable.wire.parameters import Answer, OperationContext, Params, Run, refuse_unsupported, table_name
from singletable.wire.table_parts import (
    check_defined,
    check_on_demand_range,
    element_names,
    key_names,
    new_index,
    table_settings,
    throughput,
)


def create_table(session: OperationContext, params: Params, form: Form) -> Answer:
    description = tables.create_table(session.store, _request(params), region=session.region)
    return {"TableDescription": table_description(session, description, form)}


def _request(params: Params) -> CreateTable:
    refuse_unsupported(params)
    tags = read_tags(params.get("Tags") or ())
    billing, units = _billing(params)
    definitions = attribute_types(params["AttributeDefinitions"])
    key = _table_key(params, definitions)
    _check_definitions_used(params, definitions)
    indexes = _indexes(params, key, billing)
    return CreateTable(
        name=table_name(params["TableName"]),
        uuid=new_uuid(),
        key=key,
        attributes=tuple(KeyAttribute(name, kind) for name, kind in definitions.items()),
        indexes=indexes,
        billing=billing,
        throughput=units,
        stream_view=_stream_view(params.get("StreamSpecification")),
        deletion_protected=bool(params.get("DeletionProtectionEnabled")),
        settings=_settings(params, tags, billing, units),
    )


def new_uuid() -> str:
    from uuid import uuid4  # takes 6 ms to load, and only a new table needs one

    return str(uuid4())


def _billing(params: Params) -> tuple[BillingMode, Throughput]:
    billing: BillingMode = params.get("BillingMode") or "PROVISIONED"
    given = params.get("ProvisionedThroughput")
    if billing == "PAY_PER_REQUEST":
        if given is not None:
            raise ValidationError(
                f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
                "PAY_PER_REQUEST"
            )
        return billing, ON_DEMAND
    if given is None:
        raise ValidationError(
            f"{INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
            "PROVISIONED"
        )
    return billing, throughput(given)


# --- attributes and keys --------------------------------------------------------------


def attribute_types(definitions: Sequence[Params]) -> dict[str, KeyType]:
    types: dict[str, KeyType] = {}
    for definition in definitions:
        name = definition["AttributeName"]
        if name in types:
            raise ValidationError(f"Attribute Name is duplicated: {name}")
        types[name] = definition["AttributeType"]
    return types


def _table_key(params: Params, definitions: dict[str, KeyType]) -> KeySchema:
    elements = params["KeySchema"]
    if len(elements) > len(definitions):
        raise ValidationError("Invalid KeySchema: Some index key attribute have no definition")
    check_defined(elements, definitions)
    partition, sort = key_names(elements)
    return KeySchema(
        tuple(KeyAttribute(name, definitions[name]) for name in partition),
        tuple(KeyAttribute(name, definitions[name]) for name in sort),
    )


def _check_definitions_used(params: Params, definitions: dict[str, KeyType]) -> None:
    """Refuse definitions that no key uses. AWS looks at this before all other rules for indexes."""
    local, over_all = params.get("LocalSecondaryIndexes"), params.get("GlobalSecondaryIndexes")
    if local is None and over_all is None:
        if len(params["KeySchema"]) != len(definitions):
            raise ValidationError(
                f"{INVALID}Number of attributes in KeySchema does not exactly match number of attributes "
                "defined in AttributeDefinitions"
            )
        return
    for name, given in (("LocalSecondaryIndexes", local), ("GlobalSecondaryIndexes", over_all)):
        if given is not None and not given:
            raise ValidationError(f"{INVALID}List of {name} is empty")
    used = dict.fromkeys(element_names(params["KeySchema"]))
    for index in (*(local or ()), *(over_all or ())):
        check_defined(index["KeySchema"], definitions)
        used.update(dict.fromkeys(element_names(index["KeySchema"])))
    if len(used) != len(definitions):
        raise ValidationError(
            f"{INVALID}Some AttributeDefinitions are not used. "
            f"AttributeDefinitions: [{', '.join(sized_order(definitions))}], "
            f"keys used: [{', '.join(default_order(used))}]"
        )


# --- indexes ------------------------------------------------------------------------------


def _indexes(params: Params, key: KeySchema, billing: BillingMode) -> tuple[NewIndex, ...]:
    local: dict[str, NewIndex] = {}
    for given in params.get("LocalSecondaryIndexes") or ():
        _add_new(local, _local_index(given, key))
    if len(local) > limits.LOCAL_INDEXES_MAX:
        raise ValidationError(
            f"{INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of {limits.LOCAL_INDEXES_MAX}"
        )
    indexes = local.copy()
    for given in params.get("GlobalSecondaryIndexes") or ():
        _add_new(indexes, _global_index(given, billing))
    if len(indexes) - len(local) > limits.GLOBAL_INDEXES_MAX:
        raise ValidationError(
            f"{INVALID}GlobalSecondaryIndex count exceeds the per-table limit of {limits.GLOBAL_INDEXES_MAX}"
        )
    check_projected_total(indexes.values())
    return tuple(indexes.values())


def _add_new(indexes: dict[str, NewIndex], index: NewIndex) -> None:
    if index.name in indexes:
        raise ValidationError(f"{INVALID}Duplicate index name: {index.name}")
    indexes[index.name] = index


def _local_index(given: Params, key: KeySchema) -> NewIndex:
    if not key.sort:
        raise ValidationError(
            f"{INVALID}Table KeySchema does not have a range key, which is required when specifying a "
            "LocalSecondaryIndex"
        )
    name = given["IndexName"]
    partition, sort = key_names(given["KeySchema"])
    if not sort:
        raise ValidationError(f"{INVALID}Index KeySchema does not have a range key for index: {name}")
    if partition[0] != key.partition[0].name:
        raise ValidationError(
            f"{INVALID}Index KeySchema does not have the same leading hash key as table KeySchema for index: "
            f"{name}. index hash key: {partition[0]}, table hash key: {key.partition[0].name}"
        )
    return new_index(given, is_global=False)


def _global_index(given: Params, billing: BillingMode) -> NewIndex:
    index = new_index(given, is_global=True)
    if billing == "PAY_PER_REQUEST" and index.throughput is not None:
        raise ValidationError(
            f"{INVALID}ProvisionedThroughput should not be specified for index: {index.name} when BillingMode is "
            "PAY_PER_REQUEST"
        )
    if billing == "PROVISIONED" and index.throughput is None:
        raise ValidationError(f"{INVALID}ProvisionedThroughput is not specified for index: {index.name}")
    limited = index.settings.get("OnDemandThroughput")
    if limited:
        _check_on_demand(limited, f" for index: {index.name}", f"index : {index.name}", billing)
    check_new_warm(index.settings, billing, index.throughput or ON_DEMAND, f"index {index.name}")
    return index


# --- settings --------------------------------------------------------------------------------


def _stream_view(specification: Params | None) -> Any:
    if specification is None:
        return None
    enabled, view = specification["StreamEnabled"], specification.get("StreamViewType")
    if enabled and view is None:
        raise ValidationError(
            f"{INVALID}Table is being created with a stream enabled, UpdateViewType is required"
        )
    if not enabled and view is not None:
        raise ValidationError(
            f"{INVALID}Table is being created with a stream disabled, UpdateViewType should not be specified"
        )
    return view


def _settings(params: Params, tags: Tags, billing: BillingMode, units: Throughput) -> dict[str, Any]:
    settings = table_settings(params)
    limited = settings.get("OnDemandThroughput")
    if limited:
        _check_on_demand(limited, "", "table", billing)
    check_new_warm(settings, billing, units, "table")
    # Default encryption is never described, also when it was asked for.
    if not settings.get("SSESpecification", {"Enabled": True})["Enabled"]:
        del settings["SSESpecification"]
    return {**settings, "Tags": tags} if tags else settings


def _check_on_demand(limited: Params, where: str, range_where: str, billing: BillingMode) -> None:
    if billing == "PROVISIONED":
        raise ValidationError(
            f"{INVALID}{next(iter(limited))} for OnDemandThroughput{where} cannot be specified when table "
            "BillingMode is PROVISIONED."
        )
    check_on_demand_range(limited, range_where, clearing=False)


RUN: Final[dict[str, Run]] = {"CreateTable": create_table}
