"""Items as plain JSON: numbers are JSON numbers with all their digits, sets are lists, binary values are base64.

A program that reads them as binary fractions loses what those cannot hold; Python keeps it with
`json.loads(text, parse_float=Decimal)`.
"""

from __future__ import annotations

import base64
from typing import Any

import orjson

from singletable.design.model.projections import partial_item
from singletable.design.model.schema import EntitySchema
from singletable.design.values.fields import decompressed, is_compressed, markers_of
from singletable.design.values.items import AttributeValue, Item
from singletable.design.values.markers import Compressed
from singletable.values.numbers import normalize


def shown_item(schema: EntitySchema, entity: Any) -> Item:
    """Return an entity as it is stored, with its keys and its type. What is compressed is what it holds.

    Of a partial entity, it is what an index holds.
    """
    item = schema.to_item(entity) if type(entity) is schema.entity else partial_item(schema, entity)
    for name, field in schema.entity.model_fields.items():
        stored = schema.fields[name].stored
        content = item.get(stored, {}).get("B")
        is_marked = any(isinstance(marker, Compressed) for marker in markers_of(field))
        if is_marked and content is not None and is_compressed(content):
            item[stored] = decompressed(content)
    return item


def plain_item(item: Item) -> dict[str, Any]:
    """Return an item as plain JSON, for `json_line`."""
    return {name: plain(value) for name, value in item.items()}


def plain(value: AttributeValue) -> Any:
    """Return an attribute value as plain JSON, for `json_line`."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return _number(content)
        case "NS":
            return [_number(text) for text in content]
        case "B":
            return _base64(content)
        case "BS":
            return [_base64(member) for member in content]
        case "M":
            return plain_item(content)
        case "L":
            return [plain(member) for member in content]
        case "NULL":
            return None
        case _:
            return content


def json_line(data: Any) -> str:
    """Return JSON in one line."""
    return orjson.dumps(data).decode()


def _number(text: str) -> Any:
    return orjson.Fragment(normalize(text))  # as the table holds it: 37.5, not 37.500


def _base64(content: bytes) -> str:
    return base64.b64encode(bytes(content)).decode()
