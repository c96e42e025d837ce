"""Kept data: unique values, aggregates, copies and derived items, which the layer keeps up to date by itself.

Each kind has one module. The module holds everything that the kind does: it resolves declarations, plans the
effects of a write and of a stream record, checks and repairs for `verify`, adds items to a load, refuses writes
by hand, and describes itself for the blueprint. `kind` has the interface and what all kinds
share, `links` how children are found.

Nothing here carries out a write: a kind returns actions, and the rooms above (`writes`, `streams`, `upkeep`)
carry them out.

To add a kind, write a subclass of `Kind` in a module of its own and add it to `KINDS`. To add an aggregate, write
a marker class in `aggregate`.
"""

from __future__ import annotations

from typing import Final

from singletable.design.kept.aggregate import Aggregates
from singletable.design.kept.copy import Copies
from singletable.design.kept.derived import Derivations
from singletable.design.kept.kind import Kept, Kind
from singletable.design.kept.unique import Uniques
from singletable.design.model.catalog import Catalog

# The actions of a write come in this order.
KINDS: Final[tuple[type[Kind], ...]] = (Uniques, Aggregates, Copies, Derivations)


def keep(catalog: Catalog) -> Kept:
    """Resolve the kept data that the entities of a design declare."""
    return Kept(catalog, KINDS)
