"""Keys of requests, checked against a table: the right attributes, types and lengths."""

from __future__ import annotations

from singletable import limits
from singletable.errors import ResourceNotFoundError, ValidationError
from singletable.storage.catalog import Catalog
from singletable.storage.images import PrimaryKey
from singletable.storage.tables import Index, Table
from singletable.values.keys import key_bytes, partition_bytes
from singletable.values.sizes import value_bytes
from singletable.values.types import Item, KeyType, Value

_NO_MATCH = "The provided key element does not match the schema"


def require_table(catalog: Catalog, name: str) -> Table:
    table = catalog.get(name)
    if table is None:
        raise ResourceNotFoundError("Requested resource not found")
    return table


def key_of_item(table: Table, item: Item) -> PrimaryKey:
    """Return the key of an item that is to be stored."""
    name, key_type = table.partition_name, table.partition_type
    partition = partition_bytes(_partition_part(name, key_type, _payload_of_item(item, name, key_type)))
    if table.sort_name is None or table.sort_type is None:
        return PrimaryKey(partition, b"")
    payload = _payload_of_item(item, table.sort_name, table.sort_type)
    return PrimaryKey(partition, _sort_part(table.sort_name, table.sort_type, payload))


def key_of_request(table: Table, key: Item) -> PrimaryKey:
    """Return the key that a Key parameter names."""
    if len(key) != len(table.key_names):
        raise ValidationError(_NO_MATCH)
    name, key_type = table.partition_name, table.partition_type
    partition = partition_bytes(_partition_part(name, key_type, _payload_of_key(key, name, key_type)))
    if table.sort_name is None or table.sort_type is None:
        return PrimaryKey(partition, b"")
    payload = _payload_of_key(key, table.sort_name, table.sort_type)
    return PrimaryKey(partition, _sort_part(table.sort_name, table.sort_type, payload))


def _payload_of_item(item: Item, name: str, key_type: KeyType) -> str:
    value = item.get(name)
    if value is None:
        raise ValidationError(
            f"One or more parameter values were invalid: Missing the key {name} in the item"
        )
    payload: str | None = value.get(key_type)
    if payload is None:
        actual = next(iter(value))
        raise ValidationError(
            "One or more parameter values were invalid: "
            f"Type mismatch for key {name} expected: {key_type} actual: {actual}"
        )
    return payload


def _payload_of_key(key: Item, name: str, key_type: KeyType) -> str:
    value = key.get(name)
    payload: str | None = None if value is None else value.get(key_type)
    if payload is None:
        raise ValidationError(_NO_MATCH)
    return payload


def _partition_part(name: str, key_type: KeyType, payload: str) -> bytes:
    part = _part(name, key_type, payload)
    if len(part) > limits.PARTITION_KEY_BYTES_MAX:
        # AWS's own words, with the space missing.
        raise ValidationError(
            "One or more parameter values were invalid: "
            f"Size of hashkey has exceeded the maximum size limit of{limits.PARTITION_KEY_BYTES_MAX} bytes"
        )
    return part


def _sort_part(name: str, key_type: KeyType, payload: str) -> bytes:
    part = _part(name, key_type, payload)
    if len(part) > limits.SORT_KEY_BYTES_MAX:
        raise ValidationError(
            "One or more parameter values were invalid: Aggregated size of all range keys has exceeded "
            f"the size limit of {limits.SORT_KEY_BYTES_MAX} bytes"
        )
    return part


def _part(name: str, key_type: KeyType, payload: str) -> bytes:
    if not payload:
        raise ValidationError(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
            f"an empty {_kind(key_type)} value. Key: {name}"
        )
    return key_bytes(key_type, payload)


def _kind(key_type: KeyType) -> str:
    return "string" if key_type == "S" else "binary"


def check_index_keys(table: Table, item: Item) -> None:
    """Refuse an item that an index of its table could not hold: absent is fine, unfit is not."""
    for index in table.indexes:
        key = index.definition.key
        for attribute in key.attributes:
            value = item.get(attribute.name)
            if value is not None:
                _check_index_value(index, attribute.name, attribute.type, value)
        _check_index_sizes(index, item)


def _check_index_value(index: Index, name: str, key_type: KeyType, value: Value) -> None:
    payload = value.get(key_type)
    if payload is None:
        actual = next(iter(value))
        raise ValidationError(
            "One or more parameter values were invalid: Type mismatch for Index Key "
            f"{name} Expected: {key_type} Actual: {actual} IndexName: {index.name}"
        )
    if not payload:
        raise ValidationError(
            "One or more parameter values are not valid. A value specified for a secondary index key is not "
            f"supported. The AttributeValue for a key attribute cannot contain an empty {_kind(key_type)} "
            f"value. IndexName: {index.name}, IndexKey: {name}"
        )


def _check_index_sizes(index: Index, item: Item) -> None:
    key = index.definition.key
    for attribute in key.partition:
        _check_index_size(index, item, attribute.name, limits.PARTITION_KEY_BYTES_MAX)
    for attribute in key.sort:
        _check_index_size(index, item, attribute.name, limits.SORT_KEY_BYTES_MAX)


def _check_index_size(index: Index, item: Item, name: str, bytes_max: int) -> None:
    value = item.get(name)
    if value is not None and value_bytes(value) > bytes_max:
        raise ValidationError(
            "One or more parameter values were invalid: Size of a secondary index key has exceeded the maximum "
            f"size limit of {bytes_max} bytes. IndexName: {index.name}, IndexKey: {name}"
        )
