"""Times of entities as they are stored: with a zone, and cut to milliseconds, so that they read back equal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic_core import core_schema


def with_exact_times(schema: Any) -> Any:
    """Let every time in a schema have a zone, and be cut to milliseconds."""
    if isinstance(schema, dict):
        if schema.get("type") == "datetime":
            aware = {**schema, "tz_constraint": "aware"}
            return core_schema.no_info_after_validator_function(_cut_to_milliseconds, aware)
        return {name: with_exact_times(value) for name, value in schema.items()}
    if isinstance(schema, list):
        return [with_exact_times(value) for value in schema]
    if isinstance(schema, tuple):
        return tuple(with_exact_times(value) for value in schema)
    return schema


def _cut_to_milliseconds(value: datetime) -> datetime:
    surplus = value.microsecond % 1000
    return value.replace(microsecond=value.microsecond - surplus) if surplus else value
