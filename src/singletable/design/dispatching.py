"""Runs the handlers of a design over the records of its table's stream, in their order.

A record that fails ends the batch: it is named, with those behind it still to be done, as AWS Lambda wants it
("ReportBatchItemFailures"). So one bad record never takes good ones along, and the order of changes holds. Of one
record, the handlers run in the order of their declaration; those behind one that fails wait until it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from singletable.client.calls import Steps
from singletable.design.catalog import Catalog
from singletable.design.changes import Change, ItemChange, Record, item_changes, sequence_number, table_of
from singletable.design.doing_once import Occasion, carry_out_once
from singletable.design.once import Once
from singletable.design.replaying import carry_out
from singletable.design.session import Session
from singletable.design.stored_values import Item
from singletable.design.streams import SINGLE_WRITES, HandlerWrite, StreamHandler
from singletable.design.upkeep import EntityChange, upkeep_steps
from singletable.design.write_runs import WriteRun
from singletable.design.writes import Delete, Put
from singletable.errors import InvalidWriteError, TableDiffersError

VIEW: Final = "NEW_AND_OLD_IMAGES"
_TAKEN: Final = (*SINGLE_WRITES, Once)
Response: TypeAlias = dict[str, list[dict[str, str]]]


@dataclass(frozen=True, slots=True)
class Failure:
    """The first record of a batch that could not be handled, and why."""

    sequence_number: str
    error: Exception


class Dispatcher:
    """Hands the records of a stream to the handlers of a design."""

    def __init__(self, design: Any, session: Session, handlers: Sequence[StreamHandler]) -> None:
        self._design = design
        self._session = session
        self._handlers: dict[type[Any], list[StreamHandler]] = {}
        for handler in handlers:
            self._handlers.setdefault(handler.watch.entity, []).append(handler)
        self._kept = kept_by_stream(session.catalog)

    def dispatch(self, records: Iterable[Record]) -> Failure | None:
        """Handle records one after the other; return the first that fails, and leave those behind it."""
        for record in records:
            try:
                self._check(record)
                for change in item_changes(self._session.catalog, record):
                    self._handle(change)
            except Exception as error:
                return Failure(sequence_number(record), error)
        return None

    def _check(self, record: Record) -> None:
        table = table_of(record)
        if table is not None and table != self._session.table:
            raise TableDiffersError(
                f"a change of table {table} was delivered, and {self._session.catalog.name} is open on "
                f"{self._session.table}",
                hint="connect the function to the stream of the table that it writes to",
            )
        refuse_view(record["dynamodb"].get("StreamViewType", VIEW), self._session.table)

    def _handle(self, item_change: ItemChange) -> None:
        entity = item_change.schema.entity
        handlers = self._handlers.get(entity, [])
        if not handlers and entity not in self._kept:
            return  # what nobody watches need not be valid either
        change = item_change.typed()
        if entity in self._kept:
            self._upkeep(item_change, change)
        for handler in handlers:
            if is_watched(handler, item_change, change):
                self._run(handler, item_change, change)

    def _run(self, handler: StreamHandler, item_change: ItemChange, change: Change[Any]) -> None:
        occasion = Occasion(handler.name, change.event_id or change.sequence_number)
        run = WriteRun(self._session)
        try:
            for write in _writes(handler, handler.function(self._design, change)):
                self._session.run(self._carry_out(write, item_change.key, occasion, run))
        except Exception:
            self._session.run(run.flush())  # what a handler has asked for before it fails is carried out
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

    def _upkeep(self, item_change: ItemChange, change: Change[Any]) -> None:
        # Where one entity took another's place, a record is two changes, and each is counted once.
        event_id = f"{change.event_id}-{item_change.schema.name}"
        kept = EntityChange(item_change.schema, change.old, change.new, event_id, change.is_expired)
        self._session.run(upkeep_steps(self._session, kept))


def kept_by_stream(catalog: Catalog) -> frozenset[type[Any]]:
    """Return the entities whose changes counters, copies and derived items follow, by way of the stream."""
    belonging = catalog.belonging
    copying = {copied.link.child for copied in belonging.copies if copied.by == "stream"}
    return frozenset(
        entity
        for entity, schema in catalog.schemas.items()
        if schema in copying
        or belonging.counted(schema, "stream")
        or belonging.repeated(schema, "stream")
        or belonging.made_from(schema, "stream")
    )


def is_watched(handler: StreamHandler, item_change: ItemChange, change: Change[Any]) -> bool:
    """Tell whether a change is one that a handler is for."""
    fields = handler.watch.fields
    return not fields or any(item_change.has_changed(field, change) for field in fields)


def _writes(
    handler: StreamHandler, result: HandlerWrite | Iterable[HandlerWrite] | None
) -> Iterable[HandlerWrite]:
    if result is None:
        return
    writes = (result,) if isinstance(result, _TAKEN) else result
    for write in writes:
        if not isinstance(write, _TAKEN):
            raise InvalidWriteError(
                f"the handler {handler.name} yields {write!r}, and Create, Put, Update, Delete and Once are "
                "carried out"
            )
        yield write


def refuse_view(view: str, table: str) -> None:
    """Refuse a stream that does not show items as they were and as they are."""
    if view != VIEW:
        raise TableDiffersError(
            f"the stream of table {table} shows {view}, and handlers get items as they were and as they are",
            hint=f'stream = "{VIEW}" in the table of the design',
        )


def response(failure: Failure | None, *, tells_error: bool = False) -> Response:
    """Return what a handler answers: which record failed, if one did; to the embedded engine also why."""
    if failure is None:
        return {"batchItemFailures": []}
    named = {"itemIdentifier": failure.sequence_number}
    if tells_error:
        named["error"] = f"{type(failure.error).__name__}: {failure.error}"
    return {"batchItemFailures": [named]}


def records_of(event: Mapping[str, Any]) -> list[Record]:
    records: list[Record] = event["Records"]
    return records
