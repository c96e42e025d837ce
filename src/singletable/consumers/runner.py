"""A running consumer: it reads the log after its position, and gives the filtered changes to the handler."""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson

from singletable import limits
from singletable.consumers.delivery import Batch, Dead, Delivery
from singletable.consumers.events import LoggedRecord, Presentation
from singletable.consumers.filters import make_filter
from singletable.consumers.handlers import CheckedHandler
from singletable.consumers.leases import LeaseKeeper
from singletable.consumers.options import ConsumerOptions
from singletable.consumers.states import Missed, moment
from singletable.consumers.writes import Writes
from singletable.engine.stream_records import sequence_number
from singletable.errors import ApiError
from singletable.storage import consumers
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.consumers import DeadRow, Lease, Mark, Registered, Stretch
from singletable.storage.log import Entry
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction
from singletable.wire.parameters import OperationContext

logger = logging.getLogger("singletable.consumers")

# Entries that no filter passes are looked at in pieces of that many, and their position is not stored sooner:
# otherwise each write of the table would cost another one.
_LOOK_ENTRIES: Final = 1_000
# A consumer with nothing to do gives its lease back, and costs nothing until there is something.
_IDLE_US: Final = 1_000_000


class StepResult(enum.Enum):
    """The result of one step of a consumer."""

    MOVED = enum.auto()
    IDLE = enum.auto()
    HELD_BY_ANOTHER = enum.auto()
    ENDED = enum.auto()
    """The log is gone, or the consumer was forgotten, or all of a deleted table is read."""


class ConsumerRunner:
    """A running consumer, in one thread at a time. It holds the lease from its first step until `rest`."""

    def __init__(
        self,
        session: OperationContext,
        table: Table,
        name: str,
        handler: CheckedHandler,
        options: ConsumerOptions,
        *,
        owner: str,
        wait: Callable[[float], object],
        random: Callable[[], float],
        is_stopping: Callable[[], bool],
    ) -> None:
        self.name = name
        self._options = options
        self._filter = make_filter(options.events, options.changed)
        self._session = session
        self._store = session.store
        self._clock = session.store.clock
        self._shown_as = _presentation(session, table)
        self._keeper = LeaseKeeper(
            session.store,
            Lease(table_id=table.id, name=name, owner=owner, length_us=round(options.lease_s * 1_000_000)),
        )
        self._delivery = Delivery(
            handler,
            partial(Writes, session),
            self._commit,
            options,
            wait=wait,
            random=random,
            is_stopping=is_stopping,
        )
        self._mark: Mark | None = None  # where it stands; None while it does not hold the lease
        self._stored_seq = 0
        self._idle_since_us: int | None = None

    @property
    def table(self) -> Table:
        return self._shown_as.table

    @property
    def owner(self) -> str:
        return self._keeper.lease.owner

    @property
    def position(self) -> int | None:
        """Return the number of the last entry that it is done with; None while it does not hold the lease."""
        mark = self._mark
        return None if mark is None else mark.seq

    def step(self) -> StepResult:
        """Do one step, if there is one: deliver one batch, report missed changes, or take the lease."""
        if self._mark is None:
            return self._begin()
        stretch = self._read(self._mark.seq, self._rows_max)
        registered = stretch.registered
        if registered is None or registered.owner != self.owner:
            self.lose()
            return StepResult.ENDED if registered is None else StepResult.HELD_BY_ANOTHER
        missed = self._missed(self._mark, registered, stretch)
        if missed is not None:
            self._tell(missed, self._mark, stretch)
            return StepResult.MOVED
        if not stretch.entries:
            return self._idle(is_deleted=stretch.table is None)
        self._idle_since_us = None
        self._handle(self._batch(_before_break(stretch.entries, registered, stretch)))
        return StepResult.MOVED

    def rest(self) -> None:
        """Release the lease, so that another process can continue at once."""
        mark, self._mark = self._mark, None
        self._keeper.give_back(mark if mark is not None and mark.seq != self._stored_seq else None)

    def lose(self) -> None:
        """Note that another holds the lease by now."""
        self._mark = None
        self._keeper.drop()

    # --- beginning and pausing ------------------------------------------------------------------

    def _begin(self) -> StepResult:
        stretch = self._read(None, 1)
        registered = stretch.registered
        if registered is None:
            return StepResult.ENDED
        if not stretch.entries and self._missed(_mark_of(registered), registered, stretch) is None:
            return StepResult.ENDED if stretch.table is None else StepResult.IDLE
        if registered.holder(self._clock.elapsed_us()) not in (None, self.owner):
            return StepResult.HELD_BY_ANOTHER
        taken = self._keeper.take()
        if taken is None:
            return StepResult.HELD_BY_ANOTHER
        self._mark = _mark_of(taken)
        self._stored_seq = taken.position
        self._idle_since_us = None
        return StepResult.MOVED

    def _idle(self, *, is_deleted: bool) -> StepResult:
        if is_deleted:
            self.rest()
            return StepResult.ENDED
        elapsed_us = self._clock.elapsed_us()
        if self._idle_since_us is None:
            self._idle_since_us = elapsed_us
        elif elapsed_us - self._idle_since_us >= _IDLE_US:
            self.rest()
        return StepResult.IDLE

    # --- reading --------------------------------------------------------------------------------

    @property
    def _rows_max(self) -> int:
        size = self._options.batch_size
        return size if self._filter.is_open else max(size, _LOOK_ENTRIES)

    def _read(self, after: int | None, rows_max: int) -> Stretch:
        table_id, name = self._keeper.lease.table_id, self.name

        def work(execute: Execute, catalog: Catalog) -> Stretch:
            return consumers.select_stretch(
                execute,
                catalog,
                table_id,
                name,
                after=after,
                rows_max=rows_max,
                bytes_max=limits.CONSUMER_BATCH_BYTES_MAX,
            )

        stretch = self._store.read(work)
        # A stream that was turned off, or a table that was deleted, is shown as it last was.
        if (
            stretch.table is not None
            and stretch.table is not self.table
            and stretch.table.definition.stream is not None
        ):
            self._shown_as = _presentation(self._session, stretch.table)
        return stretch

    def _batch(self, entries: list[Entry]) -> Batch:
        records: list[LoggedRecord] = []
        end = Mark(entries[-1].seq, entries[-1].at_us)
        for entry in entries:
            if not self._filter.passes(entry):
                continue
            if len(records) == self._options.batch_size:
                end = Mark(entry.seq - 1, records[-1].mark.at_us)
                break
            records.append(LoggedRecord(entry, self._shown_as))
        return Batch(records, end)

    # --- handing over ---------------------------------------------------------------------------

    def _handle(self, batch: Batch) -> None:
        if batch.records:
            self._delivery.deliver(batch)
        elif batch.end.seq - self._stored_seq >= _LOOK_ENTRIES:
            self._commit(batch.end)
        self._mark = batch.end

    def _commit(self, mark: Mark, *, writes: Writes | None = None, dead: Dead | None = None) -> None:
        lease = self._keeper.lease
        elapsed_us = self._clock.elapsed_us()

        def work(transaction: Transaction) -> list[Any]:
            consumers.advance(transaction, lease, mark, elapsed_us)
            if dead is not None:
                row = _dead_row(dead, transaction.now_us)
                consumers.put_aside(transaction, lease.table_id, lease.name, row)
            return [] if writes is None else writes.apply(transaction)

        try:
            results = self._store.write(work)
        except ApiError as error:
            if writes is None:
                raise
            raise writes.fail(error) from error
        self._keeper.renewed(elapsed_us)
        self._mark = mark
        self._stored_seq = mark.seq
        if writes is not None:
            writes.finish(results)
        if dead is not None:
            logger.warning(
                "consumer %r of table %r has put record %s aside after %d tries: %s",
                *(lease.name, self.table.name, sequence_number(dead.record.mark.seq), dead.tries, dead.error),
            )

    # --- what was missed ------------------------------------------------------------------------

    def _missed(self, mark: Mark, registered: Registered, stretch: Stretch) -> Missed | None:
        """Return the changes after a position that can no longer be read; None if there are none."""
        oldest = stretch.oldest
        if oldest is not None and oldest.seq > mark.seq + 1:
            return Missed(
                table=self.table.name,
                name=self.name,
                reason="trimmed",
                records=oldest.seq - 1 - mark.seq,
                first=sequence_number(mark.seq + 1),
                last=sequence_number(oldest.seq - 1),
                after=moment(registered.position_us),
                before=moment(oldest.at_us),
            )
        is_there = not stretch.entries or stretch.entries[0].at_us >= stretch.since_us
        if stretch.since_us != registered.log_since_us and is_there:
            return Missed(
                table=self.table.name,
                name=self.name,
                reason="not logged",
                records=None,
                first=None,
                last=None,
                after=moment(registered.position_us),
                before=moment(stretch.since_us),
            )
        return None

    def _tell(self, missed: Missed, mark: Mark, stretch: Stretch) -> None:
        """Report missed changes, and continue after them. If the process is killed, they may be reported twice."""
        (self._options.on_missed or _warn)(missed)
        registered = stretch.registered
        assert registered is not None
        since_us = stretch.since_us
        if missed.reason == "trimmed":
            assert stretch.oldest is not None
            mark = Mark(stretch.oldest.seq - 1, mark.at_us)
            # Whether logging was off in between is told when the entries before that are read.
            since_us = registered.log_since_us
        lease, entries = self._keeper.lease, missed.records or 0
        self._store.write(
            lambda transaction: consumers.tell_missed(
                transaction, lease, mark, since_us=since_us, entries=entries
            )
        )
        self._mark = mark
        self._stored_seq = mark.seq


def _presentation(session: OperationContext, table: Table) -> Presentation:
    return Presentation(table, region=session.region, table_arn=session.table_arn(table.name))


def _warn(missed: Missed) -> None:
    logger.warning(
        "consumer %r of table %r has missed %s changes (%s), made after %s and before %s",
        *(missed.name, missed.table, "some" if missed.records is None else missed.records, missed.reason),
        *(missed.after.isoformat(), missed.before.isoformat()),
    )


def _mark_of(registered: Registered) -> Mark:
    return Mark(registered.position, registered.position_us)


def _before_break(entries: list[Entry], registered: Registered, stretch: Stretch) -> list[Entry]:
    """Return the entries up to the moment at which logging was turned on again: what is missing is told there."""
    if stretch.since_us == registered.log_since_us:
        return entries
    return [entry for entry in entries if entry.at_us < stretch.since_us]


def _dead_row(dead: Dead, at_us: int) -> DeadRow:
    shown = orjson.dumps(dead.record.event())
    return DeadRow(dead.record.mark.seq, at_us, shown, dead.error, dead.tries)
