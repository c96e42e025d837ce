"""Items in plain values, as a design document writes them, and as DynamoDB has them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any


def plain(value: Mapping[str, Any]) -> Any:
    """Return an attribute value as JSON would have it; what is compressed is unpacked."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return Decimal(content)
        case "L":
            return [plain(each) for each in content]
        case "M":
            return plain_item(content)
        case "B":
            return json.loads(gzip.decompress(content))
    return content


def plain_item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in item.items()}


def typed(value: Any) -> dict[str, Any]:
    """Return a plain value as an attribute value."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int() | Decimal():
            return {"N": str(value)}
        case str():
            return {"S": value}
        case list():
            return {"L": [typed(each) for each in value]}
    return {"M": typed_item(value)}


def typed_item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: typed(value) for name, value in item.items()}
