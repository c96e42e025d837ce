"""Runs of writes: what a handler asks for one after the other, and a batch can take, goes in requests of 25.

A put or delete of such a run is planned at once, and sent with those that follow it. The writes of one item keep
their order, and so do a run and whatever stands before and behind it.
"""

from __future__ import annotations

from typing import Any

from singletable.client.calls import Steps
from singletable.design.actions import Prepared
from singletable.design.batch_reading import hashable
from singletable.design.batches import batch_request, is_taken, send_batch
from singletable.design.committing import commit
from singletable.design.preparing import prepare, schema_for
from singletable.design.session import Session
from singletable.design.writes import Delete, Put
from singletable.errors import UnknownOperationError
from singletable.limits import BATCH_WRITE_ITEMS_MAX


class WriteRun:
    """Collects writes that no other write stands between, until there are enough of them for a request."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: dict[tuple[Any, ...], Prepared] = {}

    def takes(self, write: Put[Any] | Delete[Any]) -> bool:
        """Tell whether a write can be a part of a run: it needs nothing but its own item, whatever is stored."""
        if not is_taken(self._session, write):
            return False
        # A write with copies makes sure that their sources still have the same.
        copying = self._session.catalog.belonging.copying
        return isinstance(write, Delete) or not copying(schema_for(self._session, write.entity))

    def add(self, write: Put[Any] | Delete[Any]) -> Steps[None]:
        """Take one more; before it, send those that wait if they are enough, or have the same item among them."""
        prepared = yield from prepare(self._session, write)
        (action,) = prepared.actions
        key = hashable(action.key)
        if key in self._waiting or len(self._waiting) == BATCH_WRITE_ITEMS_MAX:
            yield from self.flush()
        self._waiting[key] = prepared
        prepared.finish(None)  # the handler goes on with the entity as it will be stored, and may change it

    def flush(self) -> Steps[None]:
        """Send all that wait."""
        waiting, self._waiting = list(self._waiting.values()), {}
        if len(waiting) > 1:
            try:
                yield from self._send(waiting)
            except UnknownOperationError:
                pass  # a target without batches takes them one by one
            else:
                return
        for prepared in waiting:
            yield from commit(self._session, prepared.actions)

    def _send(self, waiting: list[Prepared]) -> Steps[None]:
        try:
            yield from send_batch(self._session, [batch_request(each.actions[0]) for each in waiting])
        finally:
            self._session.cache.clear()
