"""Keys of requests, checked against a table: the right attributes, types and lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, Protocol

from singletable import limits
from singletable.errors import ResourceNotFoundError, ValidationError
from singletable.storage.catalog import Catalog
from singletable.storage.images import PrimaryKey
from singletable.storage.tables import Index, Table
from singletable.values.keys import key_bytes, partition_bytes
from singletable.values.sizes import value_bytes
from singletable.values.types import Item, KeyType, Value

NO_MATCH = "The provided key element does not match the schema"


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
        raise ValidationError(NO_MATCH)
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
        raise ValidationError(NO_MATCH)
    return payload


def _partition_part(name: str, key_type: KeyType, payload: str) -> bytes:
    """Return the partition column of a key."""
    part = key_bytes(key_type, payload) if payload else _refuse_empty(name, key_type)
    if len(part) > limits.PARTITION_KEY_BYTES_MAX:
        # AWS's own words, with the space missing.
        raise ValidationError(
            "One or more parameter values were invalid: "
            f"Size of hashkey has exceeded the maximum size limit of{limits.PARTITION_KEY_BYTES_MAX} bytes"
        )
    return partition_bytes(part)


def _sort_part(name: str, key_type: KeyType, payload: str) -> bytes:
    part = key_bytes(key_type, payload) if payload else _refuse_empty(name, key_type)
    if len(part) > limits.SORT_KEY_BYTES_MAX:
        raise ValidationError(
            "One or more parameter values were invalid: Aggregated size of all range keys has exceeded "
            f"the size limit of {limits.SORT_KEY_BYTES_MAX} bytes"
        )
    return part


def _refuse_empty(name: str, key_type: KeyType) -> NoReturn:
    raise EmptyKeyError(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        f"an empty {_kind(key_type)} value. Key: {name}"
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


# Text of so many characters fits into any key, however its characters are encoded.
_SURELY_SHORT = limits.SORT_KEY_BYTES_MAX // 4


def check_index_keys(table: Table, item: Item, *, written: frozenset[str] | None = None) -> None:
    """Refuse an item that an index of its table could not hold: absent is fine, unfit is not.

    An update answers for the attributes that it has `written`; the item may hold others that were there before
    their index was.
    """
    for index in table.indexes:
        for name, key_type in index.key_types:
            value = item.get(name)
            if value is not None:
                payload = value.get(key_type)
                if not payload or len(payload) > _SURELY_SHORT:
                    _check_index_values(table, item, written)
                    return


def _check_index_values(table: Table, item: Item, written: frozenset[str] | None) -> None:
    # Where several indexes are concerned, AWS names the first of them by name.
    for index in sorted(table.indexes, key=lambda index: index.name):
        for name, key_type in index.key_types:
            value = item.get(name)
            if value is not None and (written is None or name in written):
                if written is not None and value.get(key_type) == "":
                    raise EmptyKeyError(
                        "One or more parameter values are not valid. The update expression attempted to update a "
                        "secondary index key to a value that is not supported. The AttributeValue for a key "
                        f"attribute cannot contain an empty {_kind(key_type)} value."
                    )
                _check_index_value(index, name, key_type, value)


def _check_index_value(index: Index, name: str, key_type: KeyType, value: Value) -> None:
    payload = value.get(key_type)
    if payload is None:
        actual = next(iter(value))
        raise ValidationError(
            "One or more parameter values were invalid: Type mismatch for Index Key "
            f"{name} Expected: {key_type} Actual: {actual} IndexName: {index.name}"
        )
    if not payload:
        raise EmptyKeyError(
            "One or more parameter values are not valid. A value specified for a secondary index key is not "
            f"supported. The AttributeValue for a key attribute cannot contain an empty {_kind(key_type)} "
            f"value. IndexName: {index.name}, IndexKey: {name}"
        )
    is_partition = any(attribute.name == name for attribute in index.definition.key.partition)
    bytes_max = limits.PARTITION_KEY_BYTES_MAX if is_partition else limits.SORT_KEY_BYTES_MAX
    if value_bytes(value) > bytes_max:
        raise ValidationError(
            "One or more parameter values were invalid: Size of a secondary index key has exceeded the maximum "
            f"size limit of {bytes_max} bytes. IndexName: {index.name}, IndexKey: {name}"
        )
