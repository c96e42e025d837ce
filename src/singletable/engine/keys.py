"""Keys of requests, checked against a table: the right attributes, types and lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from singletable import limits
from singletable.errors import INVALID, ResourceNotFoundError, ValidationError
from singletable.storage.catalog import Catalog
from singletable.storage.definitions import KeyAttribute
from singletable.storage.images import PrimaryKey
from singletable.storage.tables import Index, Table
from singletable.values.keys import key_bytes, partition_bytes
from singletable.values.sizes import value_bytes
from singletable.values.types import Item, KeyType, Value

_NO_MATCH = "The provided key element does not match the schema"
# Both sentences that begin so are in the API reference, TransactionCanceledException.
_UPDATED_INDEX_KEY = "The update expression attempted to update the secondary index key"


class EmptyKeyError(ValidationError):
    """A key is empty. AWS refuses a whole transaction for it, where other wrong keys cancel it with a reason."""


class Paths(Protocol):
    """An expression, as far as the paths in it are concerned."""

    @property
    def nested_attributes(self) -> frozenset[str]: ...


def require_table(catalog: Catalog, name: str) -> Table:
    table = catalog.get(name)
    if table is None:
        raise ResourceNotFoundError("Requested resource not found")
    return table


def key_of_item(table: Table, item: Item) -> PrimaryKey:
    """Return the key of an item that is to be stored."""
    return _key(table, item, _payload_of_item)


def key_of_request(table: Table, key: Item) -> PrimaryKey:
    """Return the key that a Key parameter names."""
    if len(key) != len(table.key_names):
        raise ValidationError(_NO_MATCH)
    return _key(table, key, _payload_of_key)


def _key(table: Table, item: Item, payload_of: Callable[[Item, str, KeyType], str]) -> PrimaryKey:
    name, key_type = table.partition_name, table.partition_type
    partition = _partition_part(name, key_type, payload_of(item, name, key_type))
    sort_name, sort_type = table.sort_name, table.sort_type
    if sort_name is None or sort_type is None:
        return PrimaryKey(partition, b"")
    return PrimaryKey(partition, _sort_part(sort_name, sort_type, payload_of(item, sort_name, sort_type)))


def _payload_of_item(item: Item, name: str, key_type: KeyType) -> str:
    value = item.get(name)
    if value is None:
        raise ValidationError(f"{INVALID}Missing the key {name} in the item")
    payload: str | None = value.get(key_type)
    if payload is None:
        actual = next(iter(value))
        raise ValidationError(f"{INVALID}Type mismatch for key {name} expected: {key_type} actual: {actual}")
    return payload


def _payload_of_key(key: Item, name: str, key_type: KeyType) -> str:
    value = key.get(name)
    payload: str | None = None if value is None else value.get(key_type)
    if payload is None:
        raise ValidationError(_NO_MATCH)
    return payload


def _partition_part(name: str, key_type: KeyType, payload: str) -> bytes:
    """Return the partition column of a key."""
    if not payload:
        raise empty_key(name, key_type)
    part = key_bytes(key_type, payload)
    if len(part) > limits.PARTITION_KEY_BYTES_MAX:
        raise partition_key_too_long()
    return partition_bytes(part)


def _sort_part(name: str, key_type: KeyType, payload: str) -> bytes:
    if not payload:
        raise empty_key(name, key_type)
    part = key_bytes(key_type, payload)
    if len(part) > limits.SORT_KEY_BYTES_MAX:
        raise sort_key_too_long()
    return part


# --- errors of values that no key can have ----------------------------------------------------


def partition_key_too_long() -> ValidationError:
    return ValidationError(
        # AWS's own words, with the space missing.
        f"{INVALID}Size of hashkey has exceeded the maximum size limit of{limits.PARTITION_KEY_BYTES_MAX} bytes"
    )


def sort_key_too_long() -> ValidationError:
    return ValidationError(
        f"{INVALID}Aggregated size of all range keys has exceeded "
        f"the size limit of {limits.SORT_KEY_BYTES_MAX} bytes"
    )


def empty_key(name: str, key_type: KeyType) -> EmptyKeyError:
    return EmptyKeyError(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        f"an empty {_kind(key_type)} value. Key: {name}"
    )


def empty_index_key(index: str, name: str, key_type: KeyType) -> EmptyKeyError:
    return EmptyKeyError(
        "One or more parameter values are not valid. A value specified for a secondary index key is not "
        f"supported. The AttributeValue for a key attribute cannot contain an empty {_kind(key_type)} "
        f"value. IndexName: {index}, IndexKey: {name}"
    )


def index_key_mismatch(index: str, attribute: KeyAttribute, actual: str) -> ValidationError:
    return ValidationError(
        f"{INVALID}Type mismatch for Index Key "
        f"{attribute.name} Expected: {attribute.type} Actual: {actual} IndexName: {index}"
    )


def _kind(key_type: KeyType) -> str:
    return "string" if key_type == "S" else "binary"


def check_key_paths(table: Table, *expressions: Paths | None) -> None:
    """Refuse a path into a key attribute of the table or of an index: keys are scalars."""
    for expression in expressions:
        if expression is not None and expression.nested_attributes:
            _check_nested(table, expression.nested_attributes)


def _check_nested(table: Table, nested: frozenset[str]) -> None:
    words = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
    for name in table.key_names:
        if name in nested:
            raise ValidationError(f"{words}Key: {name}")
    for index in table.indexes:
        for name, _ in index.key_types:
            if name in nested:
                raise ValidationError(f"{words}IndexKey: {name}")


# --- keys of indexes --------------------------------------------------------------------------


def check_index_types(table: Table, types: Mapping[str, str]) -> None:
    """Refuse an update that gives an index key another type, as far as the request tells.

    AWS checks this before it reads the item, and so before any condition: for a value, a sum or a fallback
    (dynalite's tests). It checks values that are copied from the item later, with another message.
    """
    for index in _by_name(table.indexes):
        for attribute in index.definition.key.attributes:
            given = types.get(attribute.name, attribute.type)
            if given != attribute.type:
                raise index_key_mismatch(index.name, attribute, given)


def check_index_keys(table: Table, item: Item, *, is_update: bool = False) -> None:
    """Refuse an item with an index key attribute of a wrong type or length. A missing one is fine.

    So an item that is older than the index, and does not fit it, cannot be updated until it fits: "After the
    backfill phase completes, all writes to items that violate the new index's key schema will be rejected" (AWS
    guide, "Detecting and correcting index key violations").
    """
    for index in table.indexes:
        for name, key_type in index.key_types:
            value = item.get(name)
            if value is not None:
                payload = value.get(key_type)
                if not payload or len(payload) > index.key_characters_safe:
                    _check_index_values(table, item, is_update=is_update)
                    return


def _by_name(indexes: Iterable[Index]) -> list[Index]:
    # Where several indexes are concerned, AWS speaks of the first of them by name.
    return sorted(indexes, key=lambda index: index.name)


def _check_index_values(table: Table, item: Item, *, is_update: bool) -> None:
    for index in _by_name(table.indexes):
        key = index.definition.key
        for half, kind, bytes_max in (
            (key.partition, "HASH", limits.PARTITION_KEY_BYTES_MAX),
            (key.sort, "RANGE", limits.SORT_KEY_BYTES_MAX),
        ):
            given = [attribute for attribute in half if attribute.name in item]
            for attribute in given:
                _check_index_value(index, attribute, item[attribute.name], bytes_max, is_update=is_update)
            if len(half) > 1:
                _check_aggregate(index, kind, {one.name: item[one.name] for one in given}, bytes_max)


def _check_index_value(
    index: Index, attribute: KeyAttribute, value: Value, bytes_max: int, *, is_update: bool
) -> None:
    payload = value.get(attribute.type)
    if payload is None and is_update:
        raise ValidationError(f"{_UPDATED_INDEX_KEY} to unsupported type")
    if payload is None:
        raise index_key_mismatch(index.name, attribute, next(iter(value)))
    if not payload and is_update:
        raise EmptyKeyError(
            "One or more parameter values are not valid. The update expression attempted to update a "
            "secondary index key to a value that is not supported. The AttributeValue for a key "
            f"attribute cannot contain an empty {_kind(attribute.type)} value."
        )
    if not payload:
        raise empty_index_key(index.name, attribute.name, attribute.type)
    size = value_bytes(value)
    if size > bytes_max and is_update:
        raise ValidationError(f"{_UPDATED_INDEX_KEY} beyond allowed size limits")
    if size > bytes_max:
        # AWS's answer, in github.com/architect/dynalite/issues/35 and wellcomecollection/platform/issues/2285.
        raise ValidationError(
            f"{INVALID}Size limit exceeded for Index Key {attribute.name} "
            f"Actual Size: {size} bytes Max Size: {bytes_max} bytes IndexName: {index.name}"
        )


def _check_aggregate(index: Index, kind: str, given: Item, bytes_max: int) -> None:
    """Refuse values that are too long together; those that are missing count nothing."""
    size = sum(map(value_bytes, given.values()))
    if size > bytes_max:
        # The rule and its words are those of AWS's own local build (DynamoDB Local 3.3.1).
        raise ValidationError(
            f"Aggregate size for {kind} key attributes {', '.join(given)} of index {index.name} has exceeded "
            f"limit {bytes_max} bytes, with actual size {size} bytes"
        )
