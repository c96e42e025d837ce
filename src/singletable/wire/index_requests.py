"""The indexes of CreateTable and UpdateTable: from DynamoDB shapes to requests, with the rules for one index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from singletable import limits
from singletable.engine.tables import NewIndex, undefined_keys
from singletable.errors import INVALID, ValidationError
from singletable.storage.definitions import Projection
from singletable.wire.parameters import Params
from singletable.wire.table_settings import index_settings, throughput


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
    """Refuse keys whose attributes are not defined."""
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
