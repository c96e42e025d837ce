"""Parts of a change as text for people: moments, names, values. Nothing here knows the engine."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import orjson

from singletable.visible import visible

_VALUE_CHARACTERS_MAX = 60


def time_text(at_us: int) -> str:
    """Return a moment in UTC, to the microsecond."""
    return datetime.fromtimestamp(at_us / 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def decoded(image: bytes | None) -> dict[str, Any]:
    """Return an item of the log; of one that was not there, no attributes."""
    item: dict[str, Any] = {} if image is None else orjson.loads(image)
    return item


def value_text(value: Any) -> str:
    """Return an attribute value, cut where it is long; nothing in it can control a terminal."""
    ((tag, payload),) = value.items()
    text = payload if tag == "N" else json_text(payload)
    if tag == "B":
        text = f"b64{text}"
    return text if len(text) <= _VALUE_CHARACTERS_MAX else f"{text[: _VALUE_CHARACTERS_MAX - 3]}..."


def name_text(name: str) -> str:
    """Return the name of an attribute, quoted where it is not plain."""
    return name if name.isidentifier() else json_text(name)


def json_text(value: Any) -> str:
    """Return a value as JSON in which all but what controls a terminal is written as it is."""
    return visible(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
