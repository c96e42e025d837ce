"""Changes as lines for people: when, what happened, to which item, and what is different in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from singletable.engine.history import EVENTS
from singletable.storage.log import INSERTED, MODIFIED
from singletable.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from singletable.storage.log import Entry
    from singletable.storage.tables import Table

_VALUE_CHARACTERS_MAX = 60


def time_text(at_us: int) -> str:
    """Return a moment in UTC, to the microsecond."""
    return datetime.fromtimestamp(at_us / 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def change_text(entry: Entry, table: Table) -> str:
    """Return a change in one line."""
    before, after = decoded(entry.before), decoded(entry.after)
    item = after or before
    key = " ".join(f"{name_text(name)}={value_text(item[name])}" for name in table.key_names if name in item)
    changes = ", ".join(_differences(before, after, table)) if entry.event in (INSERTED, MODIFIED) else ""
    return "  ".join(part for part in (time_text(entry.at_us), EVENTS[entry.event], key, changes) if part)


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


def _differences(before: dict[str, Any], after: dict[str, Any], table: Table) -> Iterator[str]:
    for name in sorted((before.keys() | after.keys()) - set(table.key_names)):
        old, new = before.get(name), after.get(name)
        shown = name_text(name)
        if old == new:
            continue
        if old is None:
            yield f"{shown}={value_text(new)}" if not before else f"+{shown}={value_text(new)}"
        elif new is None:
            yield f"-{shown}"
        else:
            yield f"{shown}: {value_text(old)} -> {value_text(new)}"
