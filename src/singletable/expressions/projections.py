"""Projections: which parts of an item are returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from singletable.expressions import tokens as kinds
from singletable.expressions.checks import NO_CHECKS, CheckList
from singletable.expressions.functions import CONDITIONS
from singletable.expressions.grammar import ExpressionReader
from singletable.expressions.nodes import Path
from singletable.expressions.path_trees import Branch, grow_tree, select
from singletable.expressions.prepared import Names, Uses
from singletable.limits import EXPRESSION_CACHE_ENTRIES_MAX
from singletable.values.types import Item


@dataclass(frozen=True, slots=True)
class PreparedProjection:
    checks: CheckList
    uses: Uses
    tree: Branch


class Projection:
    """The paths that are asked for."""

    __slots__ = ("_flat", "_prepared")

    def __init__(self, prepared: PreparedProjection) -> None:
        self._prepared = prepared
        # A tuple of names when no path goes inside an attribute.
        self._flat = None if prepared.uses.nested_attributes else tuple(prepared.uses.attributes)

    def apply(self, item: Item) -> Item:
        """Return the parts of an item that the paths find."""
        if self._flat is None:
            return select(item, self._prepared.tree)
        return {name: item[name] for name in self._flat if name in item}

    @property
    def attributes(self) -> frozenset[str]:
        """The top-level attributes it takes from."""
        return self._prepared.uses.attributes

    @property
    def nested_attributes(self) -> frozenset[str]:
        """The top-level attributes that it looks inside of, with "." or "[]"; keys are not allowed there."""
        return self._prepared.uses.nested_attributes


@lru_cache(maxsize=EXPRESSION_CACHE_ENTRIES_MAX)
def prepare_projection(source: str, names: Names) -> PreparedProjection:
    """Parse a projection."""
    paths = _parse(source, dict(names))
    tree = grow_tree(paths)
    return PreparedProjection(NO_CHECKS, Uses.of(source, names, paths), tree)


def _parse(source: str, names: Mapping[str, str | None]) -> list[Path]:
    reader = ExpressionReader(source, names, CONDITIONS)
    paths = [reader.path()]
    while reader.take(",", kinds.END).kind == ",":
        paths.append(reader.path())
    reader.finish()
    return paths
