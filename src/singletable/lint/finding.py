"""What the linter finds: a place of a blueprint, what is wrong there, why it matters, how to repair it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from singletable.blueprint import Blueprint
    from singletable.blueprint.positions import Path


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "E"  # rejected, a wrong result, or lost data
    WARNING = "W"  # works, but is fragile, hot or dear
    DISAGREEMENT = "D"  # a contradiction, or a wrong figure
    NOTE = "N"  # worth to know


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. The first path is the place; the others have their share in it.

    `facts` are what a proof needs: keys, values, items, as the rule that made the finding wants them.
    """

    code: str
    severity: Severity
    paths: tuple[Path, ...]
    message: str  # what is wrong, one sentence
    because: str = ""  # why it matters, with actual values
    repair: str = ""  # what to do
    document: str = ""  # the document that says it so, where documents differ
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False, hash=False)

    @property
    def path(self) -> Path:
        """Return the path of the place in the blueprint."""
        return self.paths[0]

    def places(self, blueprint: Blueprint) -> tuple[str, ...]:
        """Name the places as people would: `entity Bed`, `attribute Bed.number`, `pattern 2`."""
        return tuple(dict.fromkeys(place_name(blueprint, path) for path in self.paths))


_KINDS = {
    "entities": "entity",
    "patterns": "pattern",
    "indexes": "index",
    "volumes": "volume",
    "rates": "rate",
    "loads": "load",
    "consumers": "consumer",
    "services": "service",
    "roles": "role",
    "alarms": "alarm",
    "metrics": "metric",
    "figures": "figure",
    "rules": "rule",
    "changes": "change",
    "remarks": "remark",
    "ttl_rules": "expiry",
}
_NAMES = ("name", "number", "entity", "of", "topic")


def place_name(blueprint: Blueprint, path: Path) -> str:
    """Name a place as people would: `entity Bed`, `attribute Bed.number`, `pattern 2`, `table`."""
    if len(path) < 2 or path[0] not in _KINDS:
        return str(path[0]) if path else "design"
    part = getattr(blueprint, str(path[0]))[path[1]]
    name = next(str(getattr(part, each)) for each in _NAMES if hasattr(part, each))
    if path[0] == "entities" and len(path) >= 4 and path[2] == "attributes":
        return f"attribute {name}.{part.attributes[path[3]].name}"
    return f"{_KINDS[str(path[0])]} {name}"
