"""Attribute values as they arrive: checked, brought into the internal form, and measured, in one walk.

The walk is the hot path of every write. The values that nearly all items are made of are handled inline; anything
else, right or wrong, goes through `rules`, which knows all of DynamoDB's rules and messages. Texts are collected
on the way and measured together at the end, which is cheaper than one by one.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping
from typing import Any, Final

from singletable.errors import ValidationError
from singletable.limits import ATTRIBUTE_NAME_BYTES_MAX, NESTING_LEVELS_MAX, NUMBER_DIGITS_MAX
from singletable.values.json_types import attributes_of, check_attributes, check_value, utf8_of
from singletable.values.numbers import normalize
from singletable.values.rules import Source, check_names, checked_attributes, checked_value
from singletable.values.sets import in_order
from singletable.values.sizes import CONTAINER_BYTES, ELEMENT_BYTES, number_bytes
from singletable.values.types import Item, Value

_SOURCES: Final = {
    (native, older): Source(native=native, older=older) for native in (False, True) for older in (False, True)
}
_TEXT_ALONE: Final = {str}


def read_item(raw: Mapping[str, Any], *, native: bool, older: bool = False) -> tuple[Item, int]:
    """Return a checked copy of an item and its size in bytes.

    `native` input comes from Python callers, with binary values as bytes; otherwise they are base64 text. `older`
    chooses the wording of BatchWriteItem and of transactions (see `rules`). The copy shares no mutable object with
    the input. The size is not checked against any limit here.
    """
    texts: list[str] = []
    try:
        item, size = _attributes(raw, texts, _SOURCES[native, older], 1)
        size += _texts_bytes(texts)
        # A name that is too long makes an item that is longer still.
        if size > ATTRIBUTE_NAME_BYTES_MAX:
            check_names(item)
    except ValidationError:
        # Types come before values, in the whole item.
        check_attributes(raw, native=native)
        raise
    return item, size


def read_key(raw: Mapping[str, Any], *, native: bool, older: bool = False) -> Item:
    """Return a checked copy of the attributes of a key."""
    return read_item(raw, native=native, older=older)[0]


def read_value(raw: Any, *, native: bool, older: bool = False) -> Value:
    """Return a checked copy of an attribute value."""
    texts: list[str] = []
    try:
        value, size = _value(raw, texts, _SOURCES[native, older], 1)
        if size + _texts_bytes(texts) > ATTRIBUTE_NAME_BYTES_MAX:
            check_names({"value": value})
    except ValidationError:
        check_value(raw, native=native)
        raise
    return value


def _texts_bytes(texts: list[str]) -> int:
    joined = "".join(texts)
    return len(joined) if joined.isascii() else len(utf8_of(joined))


def _attributes(raw: Mapping[str, Any], texts: list[str], source: Source, level: int) -> tuple[Item, int]:
    """Return a copy of an item or map, and its size without the texts, which are added to the list."""
    if type(raw) is not dict or "" in raw:
        return checked_attributes(raw, source, level)
    item: Item = {}
    size = 0
    for name, value in raw.items():
        if type(name) is not str:
            attributes_of(raw)
            name = str.__str__(name)
        texts.append(name)
        if type(value) is dict and len(value) == 1:
            if "S" in value:
                payload = value["S"]
                if type(payload) is str:
                    texts.append(payload)
                    item[name] = {"S": payload}
                    continue
            elif "N" in value:
                payload = value["N"]
                # An empty number is worded in two ways.
                if type(payload) is str and payload:
                    # Most numbers are whole, and without zeros at either end they are as they should be.
                    if (
                        payload.isdigit()
                        and payload.isascii()
                        and payload[0] != "0" != payload[-1]
                        and len(payload) <= NUMBER_DIGITS_MAX
                    ):
                        size += (len(payload) + 3) >> 1
                    else:
                        payload = normalize(payload)
                        size += number_bytes(payload)
                    item[name] = {"N": payload}
                    continue
        item[name], value_size = _value(value, texts, source, level)
        size += value_size
    return item, size


def _value(raw: Any, texts: list[str], source: Source, level: int) -> tuple[Value, int]:
    """Return a copy of a value, and its size without the texts, which are added to the list."""
    if type(raw) is dict and len(raw) == 1:
        ((tag, payload),) = raw.items()
        kind = type(payload)
        if kind is str:
            if tag == "S":
                texts.append(payload)
                return {"S": payload}, 0
            if tag == "N" and payload:
                number = normalize(payload)
                return {"N": number}, number_bytes(number)
        elif kind is bool:
            if tag == "BOOL" or (tag == "NULL" and payload):
                return {str.__str__(tag): payload}, 1
        elif kind is bytes:
            if tag == "B" and source.native:
                return {"B": b2a_base64(payload, newline=False).decode()}, len(payload)
        elif kind is dict:
            if tag == "M" and level < NESTING_LEVELS_MAX:
                item, size = _attributes(payload, texts, source, level + 1)
                return {"M": item}, CONTAINER_BYTES + ELEMENT_BYTES * len(item) + size
        elif kind is list:
            if tag == "L" and level < NESTING_LEVELS_MAX:
                return _list(payload, texts, source, level + 1)
            if tag == "SS" or tag == "NS":
                return _set(tag, payload, texts, source)
    return checked_value(raw, source, level)


def _list(payload: list[Any], texts: list[str], source: Source, level: int) -> tuple[Value, int]:
    members: list[Value] = []
    size = CONTAINER_BYTES + ELEMENT_BYTES * len(payload)
    for raw in payload:
        value, value_size = _value(raw, texts, source, level)
        members.append(value)
        size += value_size
    return {"L": members}, size


def _set(tag: str, payload: list[Any], texts: list[str], source: Source) -> tuple[Value, int]:
    if set(map(type, payload)) == _TEXT_ALONE and len(set(payload)) == len(payload):
        if tag == "SS":
            texts += payload
            return {"SS": sorted(payload)}, 0
        if "" not in payload:
            numbers = [*map(normalize, payload)]
            if len(set(numbers)) == len(numbers):
                return {"NS": in_order("NS", numbers)}, sum(map(number_bytes, numbers))
    return checked_value({tag: payload}, source, 1)
