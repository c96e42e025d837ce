"""The versions of an item: its state after each of its changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from singletable.engine.keys import key_of_request, require_table
from singletable.storage.catalog import Execute
from singletable.storage.log import EXPIRED, INSERTED, MODIFIED, REMOVED, Entry
from singletable.storage.past import OlderThan, recovery_window, select_versions
from singletable.storage.past_store import recovery_is_off
from singletable.storage.tables import Table
from singletable.storage.transaction import Read
from singletable.values.types import Item

Event = Literal["INSERT", "MODIFY", "REMOVE", "EXPIRE"]

EVENTS: Final[dict[int, Event]] = {
    INSERTED: "INSERT",
    MODIFIED: "MODIFY",
    REMOVED: "REMOVE",
    EXPIRED: "EXPIRE",
}
_VERSIONS_A_READ: Final = 64


class StoredVersion(NamedTuple):
    """A change of an item, and the item before and after it as it is stored (None: it did not exist)."""

    at_us: int
    event: Event
    before: bytes | None
    after: bytes | None


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the attributes that differ, sorted, with their values before and after (None: it was not there)."""
    return {
        name: (before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    }


def history(read: Read, table: str, key: Item, *, now_us: int, kept_us: int) -> Iterator[StoredVersion]:
    """Yield the versions of an item that are kept, newest first. The times are those of `recovery_window`."""

    def entries(older_than: OlderThan | None) -> list[Entry]:
        return read(lambda execute, catalog: _entries(execute, require_table(catalog, table), older_than))

    def _entries(execute: Execute, found: Table, older_than: OlderThan | None) -> list[Entry]:
        recovery = found.definition.recovery
        if recovery is None:
            raise recovery_is_off(table)
        window = recovery_window(execute, found, recovery, now_us=now_us, kept_us=kept_us)
        return select_versions(
            execute,
            found,
            key_of_request(found, key),
            since_us=window.earliest_us,
            older_than=older_than,
            rows_max=_VERSIONS_A_READ,
        )

    some = entries(None)
    while some:
        for entry in some:
            yield StoredVersion(entry.at_us, EVENTS[entry.event], entry.before, entry.after)
        last = some[-1]
        some = entries(OlderThan(last.seq, last.at_us, last.before)) if len(some) == _VERSIONS_A_READ else []
