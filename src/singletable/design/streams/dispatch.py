"""Runs the handlers of a design over the records of its table's stream, in their order.

A record that fails ends the batch: it is named, and the records behind it are delivered again, as AWS Lambda wants
it ("ReportBatchItemFailures"). So one bad record never takes good ones along, and the order of changes holds. Of
one record, the handlers run in the order of their declaration; those behind one that fails wait until it succeeds.
Writes that a batch can take go in requests of 25.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from singletable.client.calls import Steps
from singletable.design.kept.kind import Carrying, EntityChange, kept_of
from singletable.design.model.catalog import Catalog
from singletable.design.model.entity import Entity
from singletable.design.session.action import Prepared
from singletable.design.session.session import Session
from singletable.design.streams.change import VIEW, Change, ItemChange, Record, item_changes, read_record
from singletable.design.streams.handlers import HandlerWrite, StreamHandler
from singletable.design.streams.once import (
    SINGLE_WRITES,
    Occasion,
    Once,
    carry_out,
    carry_out_first,
    carry_out_once,
)
from singletable.design.values.items import Item, hashable
from singletable.design.writes.batch import batch_request, is_taken, send_batch
from singletable.design.writes.perform import perform
from singletable.design.writes.transaction import commit, prepare, settle
from singletable.design.writes.write import Delete, Put, schema_for
from singletable.errors import InvalidWriteError, TableDiffersError, UnknownOperationError
from singletable.limits import BATCH_WRITE_ITEMS_MAX
from singletable.values.change_records import ChangeRecord


class WriteRun:
    """Collects writes that no other write stands between, until there are enough of them for a request.

    The writes of one item keep their order, and so do a run and the writes before and behind it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: dict[tuple[object, ...], Prepared] = {}

    def takes(self, write: Put[Entity] | Delete[Entity]) -> bool:
        """Tell whether a write can be part of a run: it depends on no stored item."""
        if not is_taken(self._session, write):
            return False
        # A write with copies checks that their sources are unchanged, which a batch cannot.
        return isinstance(write, Delete) or not schema_for(self._session, write.entity).kept.filled

    def add(self, write: Put[Entity] | Delete[Entity]) -> Steps[None]:
        """Take one more write. First send the waiting ones, if there are enough or one is of the same item."""
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


_TAKEN: Final = (*SINGLE_WRITES, Once)
_CARRYING: Final = Carrying(perform, settle, carry_out_first)
Response: TypeAlias = dict[str, list[dict[str, str]]]


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """The first record of a batch that could not be handled, and why."""

    sequence_number: str
    error: Exception


class StreamDispatcher:
    """Hands the records of a stream to the handlers of a design."""

    def __init__(self, design: object, session: Session, handlers: Sequence[StreamHandler]) -> None:
        self._design = design
        self._session = session
        self._handlers: dict[type[Entity], list[StreamHandler]] = {}
        for handler in handlers:
            self._handlers.setdefault(handler.watch.entity, []).append(handler)
        self._kept = kept_by_stream(session.catalog)

    def dispatch(self, records: Iterable[Record | ChangeRecord]) -> FailedRecord | None:
        """Handle records one after the other. Stop at the first that fails, and return it."""
        for record in records:
            try:
                read = record if isinstance(record, ChangeRecord) else read_record(record)
                self._check(read)
                for change in item_changes(self._session.catalog, read):
                    self._handle(change)
            except Exception as error:
                if isinstance(record, ChangeRecord):
                    return FailedRecord(record.sequence_number, error)
                return FailedRecord(record["dynamodb"]["SequenceNumber"], error)
        return None

    def _check(self, record: ChangeRecord) -> None:
        table = record.table
        if table is not None and table != self._session.table:
            raise TableDiffersError(
                f"a change of table {table} was delivered, and {self._session.catalog.name} is open on "
                f"{self._session.table}",
                hint="connect the function to the stream of the table that it writes to",
            )
        refuse_view(record.view, self._session.table)

    def _handle(self, item_change: ItemChange) -> None:
        entity = item_change.schema.entity
        handlers = self._handlers.get(entity, [])
        if not handlers and entity not in self._kept:
            return  # nobody handles it, so it need not be valid
        change = item_change.typed()
        if entity in self._kept:
            self._upkeep(item_change, change)
        for handler in handlers:
            if is_watched(handler, item_change, change):
                self._run(handler, item_change, change)

    def _run(self, handler: StreamHandler, item_change: ItemChange, change: Change[Entity]) -> None:
        result = handler.function(self._design, change)
        if result is None:
            return
        occasion = Occasion(handler.name, change.event_id or change.sequence_number)
        run = WriteRun(self._session)
        try:
            for write in _writes(handler, result):
                self._session.run(self._carry_out(write, item_change.key, occasion, run))
        except Exception:
            self._session.run(run.flush())  # the earlier writes of a failed handler are carried out
            raise
        self._session.run(run.flush())

    def _carry_out(
        self, write: HandlerWrite, changed: Item, occasion: Occasion, run: WriteRun
    ) -> Steps[None]:
        if isinstance(write, Put | Delete) and run.takes(write):
            yield from run.add(write)
            return
        yield from run.flush()
        if isinstance(write, Once):
            yield from carry_out_once(self._session, write, changed, occasion.guard_name(write))
        else:
            yield from carry_out(self._session, write, changed)

    def _upkeep(self, item_change: ItemChange, change: Change[Entity]) -> None:
        # If one entity replaced another, a record is two changes, and each is counted once.
        event_id = f"{change.event_id}-{item_change.schema.name}"
        kept = EntityChange(item_change.schema, change.old, change.new, event_id)
        for kind in kept_of(self._session.catalog).streamed_kinds(item_change.schema):
            self._session.run(kind.on_record(self._session, kept, _CARRYING))


def kept_by_stream(catalog: Catalog) -> frozenset[type[Entity]]:
    """Return the entities whose changes update counters, copies or derived items by the stream."""
    kept = kept_of(catalog)
    return frozenset(entity for entity, schema in catalog.schemas.items() if kept.streamed_kinds(schema))


def is_watched(handler: StreamHandler, item_change: ItemChange, change: Change[Entity]) -> bool:
    """Tell whether a handler watches a change."""
    fields = handler.watch.fields
    return not fields or any(item_change.has_changed(field, change) for field in fields)


def _writes(handler: StreamHandler, result: HandlerWrite | Iterable[HandlerWrite]) -> Iterable[HandlerWrite]:
    writes = (result,) if isinstance(result, _TAKEN) else result
    for write in writes:
        if not isinstance(write, _TAKEN):
            raise InvalidWriteError(
                f"the handler {handler.name} yields {write!r}, and Create, Put, Update, Delete and Once are "
                "carried out"
            )
        yield write


def refuse_view(view: str, table: str) -> None:
    """Refuse a stream without old and new images."""
    if view != VIEW:
        raise TableDiffersError(
            f"the stream of table {table} shows {view}, and handlers get items as they were and as they are",
            hint=f'stream = "{VIEW}" in the table of the design',
        )


def response(failure: FailedRecord | None, *, tells_error: bool = False) -> Response:
    """Return the answer of a handler: the record that failed, if one did; for the embedded engine also why."""
    if failure is None:
        return {"batchItemFailures": []}
    named = {"itemIdentifier": failure.sequence_number}
    if tells_error:
        named["error"] = f"{type(failure.error).__name__}: {failure.error}"
    return {"batchItemFailures": [named]}
