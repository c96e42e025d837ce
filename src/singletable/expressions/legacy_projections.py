"""AttributesToGet, from before there were projection expressions, as the projection that an expression gives."""

from __future__ import annotations

from collections.abc import Sequence

from singletable.errors import INVALID
from singletable.expressions.checks import NO_CHECKS
from singletable.expressions.nodes import Path
from singletable.expressions.path_trees import grow_tree
from singletable.expressions.prepared import Uses
from singletable.expressions.projections import PreparedProjection, Projection
from singletable.values.refused import ValueRefusedError


def legacy_projection(names: Sequence[str]) -> Projection:
    """Return the projection on whole attributes. A name may hold any characters: it is never a path."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueRefusedError(f"{INVALID}Duplicate value in attribute name: {name}")
        seen.add(name)
    paths = [Path((name,)) for name in names]
    return Projection(PreparedProjection(NO_CHECKS, Uses.of("", (), paths), grow_tree(paths)))
