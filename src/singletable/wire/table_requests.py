"""CreateTable and UpdateTable: from DynamoDB shapes to requests, with the rules that need no stored table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from singletable import limits
from singletable.engine.tables import CreateTable, NewIndex, UpdateTable
from singletable.errors import LimitExceededError, ValidationError
from singletable.storage.definitions import (
    ON_DEMAND,
    BillingMode,
    KeyAttribute,
    KeySchema,
    Projection,
    Throughput,
)
from singletable.values.types import KeyType
from singletable.wire.parameters import Params, table_name

_INVALID = "One or more parameter values were invalid: "
# Settings that are kept and described, and change nothing in how items are stored.
_TABLE_SETTINGS = ("SSESpecification", "TableClass", "OnDemandThroughput", "WarmThroughput", "ResourcePolicy")
_INDEX_SETTINGS = ("OnDemandThroughput", "WarmThroughput")


def parse_create_table(params: Params) -> CreateTable:
    definitions = _attribute_types(params["AttributeDefinitions"])
    billing = _billing(params)
    key = _key_schema(params["KeySchema"], definitions)
    local = [_new_index(index, definitions, None) for index in params.get("LocalSecondaryIndexes") or ()]
    given_global = params.get("GlobalSecondaryIndexes")
    _check_index_lists(params, key)
    indexes = [_new_index(index, definitions, billing) for index in given_global or ()]
    _check_local_indexes(local, key)
    _check_index_names([*local, *indexes])
    _check_attributes_used([key, *(index.key for index in (*local, *indexes))], definitions)
    _check_projected_total([*local, *indexes])
    return CreateTable(
        name=table_name(params["TableName"]),
        uuid=str(uuid4()),
        key=key,
        attributes=tuple(KeyAttribute(name, kind) for name, kind in definitions.items()),
        indexes=(*local, *indexes),
        billing=billing,
        throughput=_throughput(params.get("ProvisionedThroughput"), billing),
        stream_view=_stream_view(params.get("StreamSpecification")),
        deletion_protected=bool(params.get("DeletionProtectionEnabled")),
        settings=_settings(params, _TABLE_SETTINGS, tags=params.get("Tags")),
    )


def parse_update_table(params: Params) -> UpdateTable:
    definitions = _attribute_types(params.get("AttributeDefinitions") or ())
    billing: BillingMode | None = params.get("BillingMode")
    create, delete, throughputs, settings = _index_updates(params, definitions, billing)
    throughput = params.get("ProvisionedThroughput")
    stream = params.get("StreamSpecification")
    changes = (billing, throughput, create, delete, throughputs, settings, stream)
    others = ("DeletionProtectionEnabled", *_TABLE_SETTINGS)
    if not any(changes) and all(params.get(name) is None for name in others):
        raise ValidationError(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates"
            " or SSESpecification or ReplicaUpdates is required"
        )
    return UpdateTable(
        name=table_name(params["TableName"]),
        attributes=tuple(KeyAttribute(name, kind) for name, kind in definitions.items()),
        billing=billing,
        throughput=None if throughput is None else _throughput(throughput, billing or "PROVISIONED"),
        create_index=create,
        delete_index=delete,
        index_throughputs=throughputs,
        index_settings=settings,
        stream_view=_stream_view(stream),
        stream_enabled=None if stream is None else bool(stream["StreamEnabled"]),
        deletion_protected=params.get("DeletionProtectionEnabled"),
        settings=_settings(params, _TABLE_SETTINGS),
    )


# --- attributes and keys --------------------------------------------------------------


def _attribute_types(definitions: Sequence[Params]) -> dict[str, KeyType]:
    types: dict[str, KeyType] = {}
    for definition in definitions:
        name = definition["AttributeName"]
        if name in types:
            raise ValidationError(f"{_INVALID}Duplicate AttributeName in AttributeDefinitions: {name}")
        types[name] = definition["AttributeType"]
    return types


def _key_schema(elements: Sequence[Params], definitions: dict[str, KeyType]) -> KeySchema:
    names = [element["AttributeName"] for element in elements]
    missing = [name for name in names if name not in definitions]
    if missing:
        raise ValidationError(
            f"{_INVALID}Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: [{', '.join(missing)}], AttributeDefinitions: [{', '.join(definitions)}]"
        )
    if elements[0]["KeyType"] != "HASH":
        raise ValidationError("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(elements) > 2:
        raise ValidationError("Keys of more than two attributes are not supported in this release")
    if len(elements) == 2:
        if elements[1]["KeyType"] != "RANGE":
            raise ValidationError("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
        if names[0] == names[1]:
            raise ValidationError(
                "Both the Hash Key and the Range Key element in the KeySchema have the same name"
            )
    attributes = [KeyAttribute(name, definitions[name]) for name in names]
    return KeySchema((attributes[0],), tuple(attributes[1:]))


def _check_attributes_used(schemas: Sequence[KeySchema], definitions: dict[str, KeyType]) -> None:
    used = {name for schema in schemas for name in schema.names}
    if used != set(definitions):
        raise ValidationError(
            f"{_INVALID}Some AttributeDefinitions are not used. "
            f"AttributeDefinitions: [{', '.join(definitions)}], keys used: [{', '.join(sorted(used))}]"
            if len(schemas) > 1
            else f"{_INVALID}Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )


# --- indexes ------------------------------------------------------------------------------


def _new_index(index: Params, definitions: dict[str, KeyType], billing: BillingMode | None) -> NewIndex:
    """Parse an index. A local one shares its table's billing and is given none."""
    return NewIndex(
        name=index["IndexName"],
        is_global=billing is not None,
        key=_key_schema(index["KeySchema"], definitions),
        projection=_projection(index["Projection"]),
        throughput=(
            ON_DEMAND
            if billing is None
            else _throughput(index.get("ProvisionedThroughput"), billing, index=index["IndexName"])
        ),
        settings=_settings(index, _INDEX_SETTINGS),
    )


def _projection(projection: Params) -> Projection:
    kind = projection.get("ProjectionType")
    attributes = projection.get("NonKeyAttributes")
    if kind is None:
        raise ValidationError(f"{_INVALID}Unknown ProjectionType: null")
    if kind == "INCLUDE" and not attributes:
        raise ValidationError(f"{_INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if kind != "INCLUDE" and attributes:
        raise ValidationError(f"{_INVALID}ProjectionType is {kind}, but NonKeyAttributes is specified")
    return Projection(kind, tuple(attributes or ()))


def _check_index_lists(params: Params, key: KeySchema) -> None:
    for name in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        given = params.get(name)
        if given is not None and not given:
            what = name.removesuffix("es")
            raise ValidationError(f"{_INVALID}List of {what}es is empty")
    if params.get("LocalSecondaryIndexes") and not key.sort:
        raise ValidationError(
            f"{_INVALID}Table KeySchema does not have a range key, which is required when specifying a "
            "LocalSecondaryIndex"
        )


def _check_local_indexes(indexes: Sequence[NewIndex], key: KeySchema) -> None:
    for index in indexes:
        if not index.key.sort:
            raise ValidationError(
                f"{_INVALID}Index KeySchema does not have a range key for index: {index.name}"
            )
        if index.key.partition != key.partition:
            raise ValidationError(
                f"{_INVALID}Index KeySchema does not have the same leading hash key as table KeySchema for "
                f"index: {index.name}. index hash key: {index.key.partition[0].name}, "
                f"table hash key: {key.partition[0].name}"
            )


def _check_index_names(indexes: Sequence[NewIndex]) -> None:
    names = [index.name for index in indexes]
    for name in names:
        if names.count(name) > 1:
            raise ValidationError(f"{_INVALID}Duplicate index name: {name}")
    local = sum(not index.is_global for index in indexes)
    if local > limits.LOCAL_INDEXES_MAX:
        raise ValidationError(
            f"{_INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of {limits.LOCAL_INDEXES_MAX}"
        )
    if len(indexes) - local > limits.GLOBAL_INDEXES_MAX:
        raise ValidationError(
            f"{_INVALID}GlobalSecondaryIndex count exceeds the per-table limit of {limits.GLOBAL_INDEXES_MAX}"
        )


def _check_projected_total(indexes: Sequence[NewIndex]) -> None:
    if sum(len(index.projection.attributes) for index in indexes) > limits.PROJECTED_ATTRIBUTES_MAX:
        raise ValidationError(
            f"{_INVALID}Aggregated number of NonKeyAttributes exceeds the limit of "
            f"{limits.PROJECTED_ATTRIBUTES_MAX}"
        )


def _index_updates(
    params: Params, definitions: dict[str, KeyType], billing: BillingMode | None
) -> tuple[NewIndex | None, str | None, dict[str, Throughput], dict[str, dict[str, Any]]]:
    creates: list[NewIndex] = []
    deletes: list[str] = []
    throughputs: dict[str, Throughput] = {}
    settings: dict[str, dict[str, Any]] = {}
    for update in params.get("GlobalSecondaryIndexUpdates") or ():
        given = [name for name in ("Create", "Update", "Delete") if update.get(name) is not None]
        if len(given) != 1:
            raise ValidationError(
                f"{_INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create or "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        action = update[given[0]]
        if given[0] == "Create":
            # Whether throughput is needed depends on the table; what is given is kept.
            wanted = billing or ("PROVISIONED" if action.get("ProvisionedThroughput") else "PAY_PER_REQUEST")
            creates.append(_new_index(action, definitions, wanted))
        elif given[0] == "Delete":
            deletes.append(action["IndexName"])
        else:
            name = action["IndexName"]
            if action.get("ProvisionedThroughput") is not None:
                throughputs[name] = _throughput(action["ProvisionedThroughput"], "PROVISIONED", index=name)
            settings[name] = _settings(action, _INDEX_SETTINGS)
    if len(creates) + len(deletes) > 1:
        raise LimitExceededError(
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        )
    return next(iter(creates), None), next(iter(deletes), None), throughputs, settings


# --- settings --------------------------------------------------------------------------------


def _billing(params: Params) -> BillingMode:
    billing: BillingMode = params.get("BillingMode") or "PROVISIONED"
    given = params.get("ProvisionedThroughput") is not None
    if billing == "PAY_PER_REQUEST" and given:
        raise ValidationError(
            f"{_INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        )
    if billing == "PROVISIONED" and not given:
        raise ValidationError(
            f"{_INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
            "PROVISIONED"
        )
    return billing


def _throughput(given: Params | None, billing: BillingMode, *, index: str | None = None) -> Throughput:
    if given is None:
        if billing == "PROVISIONED":
            raise ValidationError(f"{_INVALID}ProvisionedThroughput must be specified for index: {index}")
        return ON_DEMAND
    if billing == "PAY_PER_REQUEST":
        raise ValidationError(
            f"{_INVALID}ProvisionedThroughput should not be specified for index: {index} when BillingMode is "
            "PAY_PER_REQUEST"
        )
    return Throughput(given["ReadCapacityUnits"], given["WriteCapacityUnits"])


def _stream_view(specification: Params | None) -> Any:
    if specification is None:
        return None
    enabled, view = specification["StreamEnabled"], specification.get("StreamViewType")
    if enabled and view is None:
        raise ValidationError(f"{_INVALID}StreamViewType is required when StreamEnabled is true")
    if not enabled and view is not None:
        raise ValidationError(f"{_INVALID}StreamViewType cannot be specified when StreamEnabled is false")
    return view


def _settings(params: Params, names: Sequence[str], *, tags: Any = None) -> dict[str, Any]:
    settings = {name: params[name] for name in names if params.get(name) is not None}
    if tags:
        settings["Tags"] = {tag["Key"]: tag["Value"] for tag in tags}
    return settings
