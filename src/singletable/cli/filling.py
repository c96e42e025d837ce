"""The table of a system, filled with made-up data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from singletable.cli.messages import say, say_error
from singletable.client import EmbeddedClient
from singletable.design.definitions import declared_table
from singletable.design.drift import unsupported

if TYPE_CHECKING:
    from singletable.design import Design, Loaded
    from singletable.systems import Seed, System


def has_items(db: Design) -> bool:
    """Tell whether there is an item in the table of a design."""
    params = {"TableName": db.session.table, "Limit": 1, "ConsistentRead": True}
    return bool(db.session.client.call("Scan", params)["Items"])


def say_that_it_has_items(db: Design, target: str) -> None:
    """Say that a table is not filled, since it is not empty."""
    say_error(
        f"the table {db.session.table} on {target} has items already",
        hint="--add writes all the same: over what has the same keys, beside everything else",
    )


def say_what_is_not_kept(db: Design) -> None:
    """Say which settings of a design its table does not have, because the target does not keep them."""
    declared = declared_table(db.catalog, db.session.table)
    for what in unsupported(declared, db.session.client.capabilities):
        say(f"{db.session.table} has no {what}: the target keeps none")


def fill(db: Design, system: System, made: Seed, progress: Callable[[int], object] | None = None) -> Loaded:
    """Write made-up data into the table of a system; tell how many entities are written."""
    loaded = db.load(made.entities, settled=made.is_settled, progress=progress)
    if made.is_settled and system.has_handlers and isinstance(db.session.client, EmbeddedClient):
        # All that handlers would do has happened: their consumer begins with what is written from now on.
        db.consume(start="LATEST", background=False).stop()
    return loaded


def counts_in_order(db: Design, loaded: Loaded) -> dict[str, int]:
    """Return how many there are of each entity, in the order of the design."""
    names = [entity.__name__ for entity in db.entities]
    return {name: loaded.counts[name] for name in names if name in loaded.counts}


def per_second(count: int, took_s: float) -> int:
    """Return how many there were in a second."""
    return round(count / max(took_s, 0.001))
