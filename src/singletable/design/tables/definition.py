"""A table as data, in one form for both sources: the declaration of a design, and the description by a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from singletable.client.calls import Answer, Call, Params, Steps
from singletable.client.capabilities import Capabilities, is_unknown_operation
from singletable.design.model.catalog import Catalog
from singletable.design.model.declarations import DeclaredIndex, Projection
from singletable.errors import ApiError, CapabilityError, ResourceNotFoundError, TableNotFoundError

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


def _declared_index(catalog: Catalog, index: DeclaredIndex) -> IndexDefinition:
    capacity = index.capacity or catalog.table.capacity
    return IndexDefinition(index.name, index.pk, index.sk, catalog.projections[index.name], capacity)


# --- requests ---------------------------------------------------------------------------------------------


def create_request(declared: TableDefinition, capabilities: Capabilities) -> Params:
    """Return the CreateTable of a definition, with the settings that the request takes and the target supports."""
    params: Params = {
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


def index_request(index: IndexDefinition, capabilities: Capabilities) -> Params:
    """Return an index as CreateTable and UpdateTable take it."""
    if not capabilities.multi_attribute_keys and (len(index.pk) > 1 or len(index.sk) > 1):
        raise CapabilityError(
            f"index {index.name} has keys of several attributes ({', '.join((*index.pk, *index.sk))}), which the "
            "target does not know",
            hint="give the index one attribute for each key, written by a template",
        )
    params: Params = {
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


def _projection(projection: Projection) -> Params:
    if isinstance(projection, str):
        return {"ProjectionType": projection}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)}


def throughput(capacity: Capacity) -> dict[str, int]:
    return {"ReadCapacityUnits": capacity[0], "WriteCapacityUnits": capacity[1]}


def stream_specification(view: str | None) -> Params:
    return {"StreamEnabled": False} if view is None else {"StreamEnabled": True, "StreamViewType": view}


def encryption_specification(encryption: str) -> Params:
    match encryption:
        case "AWS_OWNED":
            return {"Enabled": False}
        case "AWS_MANAGED":
            return {"Enabled": True, "SSEType": "KMS"}
        case _:
            return {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": encryption}


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


T = TypeVar("T")

# DynamoDB answers with one or the other, depending on the operation.
NOT_FOUND: Final = (ResourceNotFoundError, TableNotFoundError)
_PITR_DAYS: Final = 35  # of a target that does not say how many
_ON: Final = frozenset({"ENABLED", "ENABLING"})


def describe_table(name: str) -> Steps[Answer | None]:
    """Describe a table; None if it does not exist."""
    try:
        answer = yield Call("DescribeTable", {"TableName": name})
    except NOT_FOUND:
        return None
    description: Answer = answer["Table"]
    return description


def found_table(name: str, capabilities: Capabilities) -> Steps[TableDefinition | None]:
    """Read every setting of a table that a design can declare; None if the table does not exist."""
    description = yield from describe_table(name)
    if description is None:
        return None
    arn = description.get("TableArn", "")
    ttl = (yield from _if_known(active_ttl(name))) if capabilities.time_to_live else None
    days = (yield from _if_known(_recovery_days(name))) if capabilities.point_in_time_recovery else None
    tags = (yield from _if_known(_tags(arn))) if capabilities.tags else None
    return definition_of(description, ttl=ttl, pitr_days=days, tags=tags)


def _if_known(asked: Steps[T]) -> Steps[T | None]:
    """Send a request; None, as for a setting that is off, if the target does not have the operation."""
    try:
        return (yield from asked)
    except ApiError as error:
        if not is_unknown_operation(error):
            raise
        return None


def definition_of(
    description: Answer,
    *,
    ttl: str | None = None,
    pitr_days: int | None = None,
    tags: Mapping[str, str] | None = None,
) -> TableDefinition:
    """Read the answer of DescribeTable. Settings that it does not hold are passed in."""
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


def _index(index: Answer, *, is_local: bool, is_provisioned: bool) -> IndexDefinition:
    pk, sk = _keys(index["KeySchema"])
    capacity = _capacity(index) if is_provisioned else None
    return IndexDefinition(index["IndexName"], pk, sk, _found_projection(index), capacity, is_local)


def _found_projection(index: Answer) -> Projection:
    projection = index.get("Projection") or {}
    match projection.get("ProjectionType", "ALL"):
        case "ALL":
            return "ALL"
        case "KEYS_ONLY":
            return "KEYS_ONLY"
        case _:
            return tuple(sorted(projection.get("NonKeyAttributes", ())))


def _capacity(described: Answer) -> Capacity:
    units = described.get("ProvisionedThroughput") or {}
    return units.get("ReadCapacityUnits", 0), units.get("WriteCapacityUnits", 0)


def _encryption(description: Answer) -> str:
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
