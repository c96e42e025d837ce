"""The changes of Smart Cooking's table, handed to its handlers: once, twice each, and all over again."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from singletable.design.streams.dispatch import StreamDispatcher
from singletable.design.streams.once import GUARD_NAME
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from support.kept_together import records
from support.opened_designs import stored_items

ROUNDS_MAX = 10


def handle(db: SmartCooking, *, times: int = 1, known: Set[str] = frozenset()) -> int:
    """Hand every record to the handlers, so many times each, and those that follow; return how many there were.

    Those that are known are left out. Fails if handlers go on setting each other off.
    """
    dispatcher = StreamDispatcher(db, db.session, type(db).handlers)
    seen = {*known}
    for _ in range(ROUNDS_MAX):
        new = [record for record in records(db) if record["eventID"] not in seen]
        if not new:
            return len(seen) - len(known)
        seen |= {record["eventID"] for record in new}
        failure = dispatcher.dispatch(record for record in new for _ in range(times))
        if failure is not None:
            raise failure.error
    raise AssertionError(f"after {ROUNDS_MAX} rounds there are still {len(new)} new records")


def told(db: SmartCooking) -> set[str]:
    """Return the names of all records until now."""
    return {record["eventID"] for record in records(db)}


def stored(db: SmartCooking) -> dict[tuple[str, str], dict[str, Any]]:
    """Return all items by their keys, but for what the layer remembers for itself: by a scan."""
    return {
        (item["PK"]["S"], item["SK"]["S"]): item
        for item in stored_items(db)
        if item["entity_type"] != {"S": GUARD_NAME}
    }
