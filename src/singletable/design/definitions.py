"""A table as data, the same whoever says it: a design declares one, and a target describes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from singletable.client.capabilities import Capabilities
from singletable.design.bindings import Index, Projection
from singletable.design.catalog import Catalog
from singletable.errors import CapabilityError

Capacity = tuple[int, int]  # units of reading and writing


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """A secondary index: its keys, what it projects (by stored names, in their order) and its capacity."""

    name: str
    pk: tuple[str, ...]
    sk: tuple[str, ...]
    projection: Projection
    capacity: Capacity | None = None
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table: keys, indexes and settings. None stands for a setting that is off, or a capacity without bounds."""

    name: str
    pk: str
    sk: str | None
    attribute_types: Mapping[str, str]  # of the attributes in keys
    indexes: tuple[IndexDefinition, ...]
    billing: str
    capacity: Capacity | None
    stream: str | None
    encryption: str
    deletion_protection: bool
    ttl: str | None
    pitr_days: int | None
    tags: Mapping[str, str]
    arn: str = field(default="", compare=False)

    def index(self, name: str) -> IndexDefinition | None:
        return next((index for index in self.indexes if index.name == name), None)


def declared_table(catalog: Catalog, name: str) -> TableDefinition:
    """Return the table that a design declares."""
    table = catalog.table
    return TableDefinition(
        name=name,
        pk=table.pk,
        sk=table.sk,
        attribute_types=dict(catalog.attribute_types),
        indexes=tuple(_declared_index(catalog, index) for index in table.indexes),
        billing=table.billing,
        capacity=table.capacity,
        stream=table.stream,
        encryption=table.encryption,
        deletion_protection=table.deletion_protection,
        ttl=catalog.ttl,
        pitr_days=table.pitr_days,
        tags=dict(table.tags),
    )


def _declared_index(catalog: Catalog, index: Index) -> IndexDefinition:
    capacity = index.capacity or catalog.table.capacity
    return IndexDefinition(index.name, index.pk, index.sk, catalog.projections[index.name], capacity)


# --- requests ---------------------------------------------------------------------------------------------


def create_request(declared: TableDefinition, capabilities: Capabilities) -> dict[str, Any]:
    """Return the CreateTable of a definition, with the settings that it can be given and that the target knows."""
    params: dict[str, Any] = {
        "TableName": declared.name,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in declared.attribute_types.items()
        ],
        "KeySchema": key_schema((declared.pk,), (declared.sk,) if declared.sk else ()),
        "BillingMode": declared.billing,
    }
    if declared.capacity is not None:
        params["ProvisionedThroughput"] = throughput(declared.capacity)
    if declared.indexes:
        params["GlobalSecondaryIndexes"] = [index_request(index, capabilities) for index in declared.indexes]
    if capabilities.streams and declared.stream is not None:
        params["StreamSpecification"] = stream_specification(declared.stream)
    if capabilities.encryption and declared.encryption != "AWS_OWNED":
        params["SSESpecification"] = encryption_specification(declared.encryption)
    if capabilities.deletion_protection and declared.deletion_protection:
        params["DeletionProtectionEnabled"] = True
    if capabilities.tags and declared.tags:
        params["Tags"] = tag_list(declared.tags)
    return params


def index_request(index: IndexDefinition, capabilities: Capabilities) -> dict[str, Any]:
    """Return an index as CreateTable and UpdateTable take it."""
    if not capabilities.multi_attribute_keys and (len(index.pk) > 1 or len(index.sk) > 1):
        raise CapabilityError(
            f"index {index.name} has keys of several attributes ({', '.join((*index.pk, *index.sk))}), which the "
            "target does not know",
            hint="give the index one attribute for each key, written by a template",
        )
    params: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": key_schema(index.pk, index.sk),
        "Projection": _projection(index.projection if capabilities.projections else "ALL"),
    }
    if index.capacity is not None:
        params["ProvisionedThroughput"] = throughput(index.capacity)
    return params


def key_schema(pk: tuple[str, ...], sk: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the keys of a table or an index as requests write them."""
    hashes = [{"AttributeName": name, "KeyType": "HASH"} for name in pk]
    return hashes + [{"AttributeName": name, "KeyType": "RANGE"} for name in sk]


def _projection(projection: Projection) -> dict[str, Any]:
    if isinstance(projection, str):
        return {"ProjectionType": projection}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)}


def throughput(capacity: Capacity) -> dict[str, int]:
    return {"ReadCapacityUnits": capacity[0], "WriteCapacityUnits": capacity[1]}


def stream_specification(view: str | None) -> dict[str, Any]:
    return {"StreamEnabled": False} if view is None else {"StreamEnabled": True, "StreamViewType": view}


def encryption_specification(encryption: str) -> dict[str, Any]:
    match encryption:
        case "AWS_OWNED":
            return {"Enabled": False}
        case "AWS_MANAGED":
            return {"Enabled": True, "SSEType": "KMS"}
        case _:
            return {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": encryption}


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
