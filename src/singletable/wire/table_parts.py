"""The parts of a table in a request, which CreateTable, UpdateTable and the restores share: settings, indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from singletable import limits
from singletable.engine.tables import NewIndex, undefined_keys
from singletable.errors import INVALID, ValidationError
from singletable.storage.definitions import Projection, Throughput
from singletable.wire.parameters import Params
from singletable.wire.validation.shapes import SHAPES

# Settings that are kept and described, and change nothing in how items are stored.
TABLE_SETTINGS: Final = ("SSESpecification", "TableClass", "OnDemandThroughput", "WarmThroughput")
INDEX_SETTINGS: Final = ("OnDemandThroughput", "WarmThroughput")

_TABLE_CLASSES: Final = SHAPES["TableClass"]["enum"]
_UNITS_MAX: Final = 1_000_000_000_000  # dynalite, from the service


def throughput(given: Params) -> Throughput:
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        if given[name] > _UNITS_MAX:
            raise ValidationError(f"Given value {given[name]} for {name} is out of bounds")
    return Throughput(given["ReadCapacityUnits"], given["WriteCapacityUnits"])


def table_settings(params: Params) -> dict[str, Any]:
    """Return the settings that a request gives for its table."""
    settings = _given(params, TABLE_SETTINGS)
    if settings.get("TableClass", "STANDARD") not in _TABLE_CLASSES:
        # A sentence of its own, where other enums have one for all (ack-api-quirks, DDB-TABLE-442).
        raise ValidationError(
            "Invalid table-class parameter provided. Please try again with a valid table-class value: "
            f"[{', '.join(_TABLE_CLASSES)}]."
        )
    encryption = settings.get("SSESpecification")
    if encryption is not None:
        _check_encryption(encryption)
        enabled = encryption.get("Enabled")
        # A type or a key turns encryption on where Enabled is not given (ack-api-quirks, DDB-TABLE-044).
        is_on = "SSEType" in encryption if enabled is None else enabled
        settings["SSESpecification"] = {**encryption, "Enabled": is_on}
    return settings


def index_settings(index: Params) -> dict[str, Any]:
    """Return the settings that a request gives for an index."""
    return _given(index, INDEX_SETTINGS)


def _given(params: Params, names: Sequence[str]) -> dict[str, Any]:
    return {name: _copied(name, params[name]) for name in names if is_given(params, name)}


def is_given(params: Params, name: str) -> bool:
    """Tell whether a setting is given. An empty throughput counts as not given (DDB-TABLE-039, 456)."""
    value = params.get(name)
    return value is not None and (name not in INDEX_SETTINGS or bool(_copied(name, value)))


def _copied(name: str, setting: Any) -> Any:
    """Return a copy without unknown members, which AWS ignores."""
    if not isinstance(setting, Mapping):
        return setting
    known = SHAPES[name]["members"]
    return {member: setting[member] for member in known if setting.get(member) is not None}


def _check_encryption(encryption: Params) -> None:
    kind, key = encryption.get("SSEType"), encryption.get("KMSMasterKeyId")
    if encryption.get("Enabled") is False:
        for name in ("SSEType", "KMSMasterKeyId"):
            if encryption.get(name) is not None:
                raise ValidationError(f"{INVALID}{name} can not be specified if Enabled is false")
    if key is not None and kind != "KMS":
        raise ValidationError(f"{INVALID}SSEType KMS is required if KMSMasterKeyId is specified")
    if kind == "AES256":
        raise ValidationError(f"{INVALID}SSEType AES256 is not supported")


def check_on_demand_range(limited: Mapping[str, int], where: str, *, clearing: bool) -> None:
    """Refuse bounds of on-demand throughput below 1; `clearing` lets -1 pass, which takes a bound away."""
    for name, units in limited.items():
        if units < 1 and not (clearing and units == -1):
            raise ValidationError(
                f"{INVALID}Requested {name} for OnDemandThroughput for {where} is outside of valid range"
            )


# --- indexes ---------------------------------------------------------------------------------------------


def new_index(index: Params, *, is_global: bool) -> NewIndex:
    """Return an index that is to be made. Whether its attributes are defined is another question."""
    partition, sort = key_names(index["KeySchema"], is_global=is_global)
    given = index.get("ProvisionedThroughput") if is_global else None
    return NewIndex(
        name=index["IndexName"],
        is_global=is_global,
        partition=partition,
        sort=sort,
        projection=_projection(index["Projection"]),
        throughput=None if given is None else throughput(given),
        settings=index_settings(index),
    )


def element_names(elements: Iterable[Params]) -> list[str]:
    return [element["AttributeName"] for element in elements]


def key_names(
    elements: Sequence[Params], *, is_global: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the partition key and of the sort key; of each several, in a global index."""
    names = element_names(elements)
    kinds = [element["KeyType"] for element in elements]
    if len(names) == 2 and names[0] == names[1] and not (is_global and kinds[1] == "HASH"):
        raise ValidationError(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )
    if kinds[0] != "HASH":
        raise ValidationError("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if is_global:
        _check_global_key(names, kinds)
    elif kinds[1:] not in ([], ["RANGE"]):
        raise ValidationError("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
    partition_count = kinds.count("HASH")
    return tuple(names[:partition_count]), tuple(names[partition_count:])


def _check_global_key(names: Sequence[str], kinds: Sequence[str]) -> None:
    """Hold a key of several attributes to its rules, in AWS's words (ack-api-quirks, DDB-TABLE-123)."""
    if len(set(names)) != len(names):
        raise ValidationError("The KeySchema contains multiple key attributes with the same name")
    if kinds != sorted(kinds):  # "HASH" sorts before "RANGE"
        raise ValidationError(
            f"{INVALID}All HASH key attributes must precede RANGE key attributes in the KeySchema"
        )
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > limits.INDEX_KEY_ATTRIBUTES_MAX:
            raise ValidationError(
                f"{INVALID}The KeySchema exceeds the maximum allowed number of {kind} key attributes"
            )


def check_defined(elements: Sequence[Params], definitions: Iterable[str]) -> None:
    """Refuse keys with undefined attributes."""
    names, defined = element_names(elements), list(definitions)
    if any(name not in defined for name in names):
        raise undefined_keys(names, defined)


def _projection(projection: Params) -> Projection:
    kind = projection.get("ProjectionType")
    attributes = projection.get("NonKeyAttributes")
    if kind is None:
        raise ValidationError(f"{INVALID}Unknown ProjectionType: null")
    if kind == "INCLUDE" and not attributes:
        raise ValidationError(f"{INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if kind != "INCLUDE" and attributes:
        raise ValidationError(f"{INVALID}ProjectionType is {kind}, but NonKeyAttributes is specified")
    names = tuple(attributes or ())
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValidationError(f"{INVALID}Duplicate element in NonKeyAttributes: {name}")
    return Projection(kind, names)
