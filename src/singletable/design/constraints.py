"""What Pydantic is told of a value beyond its type, `Field(ge=1, le=53)`: taken apart, as text and as data.

The constraints are those of annotated_types and Pydantic, known by the names of their values: ge, max_length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

from annotated_types import BaseMetadata, Unit
from pydantic import Strict
from pydantic.types import UuidVersion

from singletable.design.annotations import plain_value
from singletable.design.condition_data import condition_data
from singletable.design.conditions import Condition

_NAMES: Final = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")


def flat(markers: Iterable[Any]) -> Iterator[Any]:
    """Take groups of markers apart: those of a `Field`, and annotated_types' own, such as Interval and Len."""
    for each in markers:
        members = getattr(each, "metadata", None)  # of a Field
        if members is None and isinstance(each, Iterable) and not isinstance(each, str):
            members = each  # annotated_types.GroupedMetadata, as Interval or Len
        if members is None:
            yield each
        else:
            yield from flat(members)


def constraints_in(markers: Iterable[Any]) -> list[Any]:
    """Return the constraints among markers: what a value is asked, not functions that may change it."""
    return [each for each in flat(markers) if _is_constraint(each)]


def _is_constraint(marker: Any) -> bool:
    return isinstance(marker, BaseMetadata | UuidVersion) and not isinstance(marker, Strict | Unit)


def values_of(constraints: Iterable[Any], *names: str) -> Iterator[Any]:
    """Return the values that constraints have under these names."""
    for each in constraints:
        yield from (value for name in names if (value := getattr(each, name, None)) is not None)


def constraints_text(constraints: Iterable[Any]) -> str:
    """Write constraints as people write them: ge=2000, pattern='^[a-z]+$'."""
    texts = []
    for each in flat(constraints):
        known = [f"{name}={value!r}" for name in _NAMES for value in values_of([each], name)]
        texts += known or [repr(each)]
    return ", ".join(texts)


# --- as data --------------------------------------------------------------------------------------------


def marker_data(markers: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Return markers as data: their kinds and their values."""
    for marker in markers:
        if hasattr(marker, "metadata"):  # a Field
            yield from marker_data(marker.metadata)
        elif is_dataclass(marker):
            yield {"kind": type(marker).__name__, **_values(marker)}
        elif isinstance(marker, BaseMetadata):  # Pydantic's own: it has no class for each, only their names
            yield from ({"kind": name, "value": plain_value(value)} for name, value in vars(marker).items())
        else:
            yield {"kind": type(marker).__name__}


def _values(marker: Any) -> dict[str, Any]:
    given = {field.name: getattr(marker, field.name) for field in fields(marker)}
    return {
        name: condition_data(value) if isinstance(value, Condition) else plain_value(value)
        for name, value in given.items()
        if value is not None
    }
