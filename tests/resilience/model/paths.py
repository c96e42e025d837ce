"""Document paths: names and list positions, and what they reach; and the text of names and values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from resilience.model.values import Item, Value, to_wire

if TYPE_CHECKING:
    from collections.abc import Iterable

Path = tuple[str | int, ...]


class Missing:
    """What a path reaches when there is nothing there (None is a value: NULL)."""


MISSING = Missing()


def reach(item: Value, path: Path) -> Value | Missing:
    """Follow a path; anything that does not fit reaches nothing."""
    here: Value | Missing = item
    for step in path:
        if isinstance(here, dict) and isinstance(step, str) and step in here:
            here = here[step]
            continue
        if not (isinstance(here, list) and isinstance(step, int) and step < len(here)):
            return MISSING
        here = here[step]
    return here


def project(item: Item, paths: Iterable[Path]) -> Item:
    """Keep what the paths reach; of a list, the kept elements close ranks in their order."""
    kept: dict[Any, Any] = {}
    for path in paths:
        found = reach(item, path)
        if found is MISSING:
            continue
        node = kept
        for step in path[:-1]:
            node = node.setdefault(step, {})
        node[path[-1]] = _Leaf(found)
    return {name: _assembled(node) for name, node in kept.items()}


@dataclass(frozen=True)
class _Leaf:
    value: Value


def _assembled(node: Any) -> Value:
    if isinstance(node, _Leaf):
        return node.value
    if all(isinstance(step, int) for step in node):
        return [_assembled(node[position]) for position in sorted(node)]
    return {name: _assembled(inner) for name, inner in node.items()}


def conflict(left: Path, right: Path) -> bool:
    """Tell whether two paths exclude each other: one holds the other, or they disagree on a type."""
    for one, other in zip(left, right, strict=False):
        if type(one) is not type(other):
            return True
        if one != other:
            return False
    return True


# Names of the strategies that may stand in an expression as they are; any other needs a placeholder.
PLAIN_NAMES = frozenset({"pk", "sk", "g1", "g2", "l1", "a1", "b1", "n1", "m1", "q1", "s1"})


@dataclass
class Printer:
    """Collects the placeholders of one request while its expressions are printed."""

    alias_all: bool = False
    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)

    def name(self, name: str) -> str:
        if name in PLAIN_NAMES and not self.alias_all:
            return name
        for alias, known in self.names.items():
            if known == name:
                return alias
        alias = f"#n{len(self.names)}"
        self.names[alias] = name
        return alias

    def path(self, path: Path) -> str:
        text = ""
        for step in path:
            if isinstance(step, int):
                text += f"[{step}]"
            else:
                text += ("." if text else "") + self.name(step)
        return text

    def value(self, value: Value) -> str:
        alias = f":v{len(self.values)}"
        self.values[alias] = to_wire(value)
        return alias

    def parameters(self) -> dict[str, Any]:
        """Return the request parameters for the placeholders; DynamoDB refuses empty ones."""
        parameters: dict[str, Any] = {}
        if self.names:
            parameters["ExpressionAttributeNames"] = self.names
        if self.values:
            parameters["ExpressionAttributeValues"] = self.values
        return parameters
