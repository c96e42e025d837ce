"""A value as compressed JSON: for large fields, of which DynamoDB would charge every byte."""

from __future__ import annotations

import gzip
import json
import zlib
from decimal import Decimal
from typing import Any, Final

from singletable.design.stored_values import AttributeValue, encode
from singletable.errors import InvalidWriteError

_MAGIC: Final = b"\x1f\x8b"


def compressed(value: AttributeValue) -> bytes:
    """Return an attribute value as compressed JSON. Numbers are exact; a set is a list."""
    # Without the time of writing in its head, equal values are stored as equal bytes.
    return gzip.compress(_json(value).encode(), mtime=0)


def is_compressed(content: bytes) -> bool:
    """Tell whether bytes are those of a compressed value."""
    return bytes(content).startswith(_MAGIC)


def decompressed(content: bytes) -> AttributeValue:
    """Read compressed JSON back; raise ValueError if it is damaged."""
    try:
        text = gzip.decompress(bytes(content))
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"what is compressed cannot be read: {error}") from error
    return encode(json.loads(text, parse_float=Decimal), _no_models)


def _json(value: AttributeValue) -> str:
    ((tag, content),) = value.items()
    match tag:
        case "S":
            return json.dumps(content, ensure_ascii=False)
        case "N":
            return str(content)
        case "BOOL":
            return "true" if content else "false"
        case "NULL":
            return "null"
        case "L":
            return f"[{','.join(map(_json, content))}]"
        case "M":
            members = (
                f"{json.dumps(name, ensure_ascii=False)}:{_json(each)}" for name, each in content.items()
            )
            return f"{{{','.join(members)}}}"
        case "SS":
            return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        case "NS":
            return f"[{','.join(content)}]"
        case _:
            raise InvalidWriteError("bytes cannot be stored in a compressed field, which is JSON")


def _no_models(model: object) -> Any:
    raise AssertionError(f"JSON holds no {type(model).__name__}")
