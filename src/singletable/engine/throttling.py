"""Throttling: requests are refused where AWS would refuse them for being too many.

A table and each of its global indexes has a bucket for reads and one for writes, and so has every partition of
them. A read is admitted before it begins and charged when its size is known; a write is charged between its plan
and its application, so that one that is refused has changed nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from singletable.capacity.buckets import TokenBucket
from singletable.clock import Clock
from singletable.engine.charges import Charge
from singletable.engine.throughput_limits import (
    Direction,
    Exceeded,
    Limit,
    error_of,
    limit_of,
    message_of,
    partition_limit,
)
from singletable.errors import ThrottledError, ThrottlingReason
from singletable.storage import fork
from singletable.storage.definitions import TableDefinition
from singletable.storage.tables import Table

# A bucket that is full is forgotten as soon as others come. If so many have something missing at a time, the one
# that was charged longest ago is forgiven.
PARTITIONS_MAX: Final = 10_000
_STORES_MAX: Final = 10_000  # of tables and indexes; a table that was deleted leaves in this way

_PARTITION_LIMITS: Final[dict[Direction, Limit]] = {
    "Read": partition_limit("Read"),
    "Write": partition_limit("Write"),
}


# Called for each table or global index that refuses something: its names, and whether that was a read.
OnEvent = Callable[[str, str | None, bool], None]


class _Store:
    """The bucket of a table or global index, with the definition that its rate was taken from."""

    __slots__ = ("bucket", "definition", "exceeded")

    def __init__(self, bucket: TokenBucket, definition: TableDefinition, exceeded: Exceeded) -> None:
        self.bucket = bucket
        self.definition = definition
        self.exceeded = exceeded


class Throttle:
    """All buckets of a database. Safe from any thread; each process that opens a file has its own."""

    def __init__(
        self, clock: Clock, table_arn: Callable[[str], str], on_event: OnEvent | None = None
    ) -> None:
        self._clock = clock
        self._table_arn = table_arn
        self._on_event = on_event
        self._lock = threading.Lock()
        self._clock_us = clock.now_us()
        self._now_us = self._clock_us  # goes on with the clock, and stands still where that goes back
        self._stores: OrderedDict[tuple[Direction, int], _Store] = OrderedDict()
        self._partitions: OrderedDict[tuple[Direction, int, bytes], TokenBucket] = OrderedDict()
        fork.watch(self)

    @property
    def partitions(self) -> int:
        """How many buckets of partitions are held."""
        return len(self._partitions)

    # --- requests ------------------------------------------------------------------------------

    def admit(self, direction: Direction, charge: Charge) -> None:
        """Raise when a bucket that a request needs is empty. Its cost need not be known yet."""
        with self._lock:
            self._read_clock()
            refusal = self._refusal(direction, [charge])
        if refusal is not None:
            raise refusal

    def charge(self, direction: Direction, charges: Iterable[Charge]) -> None:
        """Take the units that a request has consumed, also when that is more than there were."""
        with self._lock:
            self._read_clock()
            self._charge(direction, charges)

    def pay(self, direction: Direction, charges: Sequence[Charge]) -> None:
        """Charge a request of known cost, or raise."""
        refusal = self.take(direction, charges)
        if refusal is not None:
            raise refusal

    def take(self, direction: Direction, charges: Sequence[Charge]) -> ThrottledError | None:
        """Charge a part of a request that may be left out. Return the error if it is refused."""
        return self.take_all(direction, [charges])[0]

    def take_all(
        self, direction: Direction, parts: Sequence[Sequence[Charge]]
    ) -> list[ThrottledError | None]:
        """Charge every part of a request, or, if any is refused, none. Return the error of each part."""
        with self._lock:
            self._read_clock()
            refusals = [self._refusal(direction, charges) for charges in parts]
            if all(refusal is None for refusal in refusals):
                for charges in parts:
                    self._charge(direction, charges)
            return refusals

    def follow(self, table: Table) -> None:
        """Let a changed table, with its indexes, go on at its new rates from this moment."""
        directions: tuple[Direction, ...] = ("Read", "Write")
        with self._lock:
            self._read_clock()
            for direction in directions:
                for index in (None, *table.indexes):
                    charge = Charge(table, index, None, 0.0)
                    if (direction, charge.store_id) in self._stores:
                        self._store(direction, charge)

    # --- forking -------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Do nothing: to wait for the lock here could hold up a request that the database waits for."""

    def after_fork(self, *, in_child: bool) -> None:
        if in_child:
            self._lock = threading.Lock()  # a thread of the parent may have held it

    # --- under the lock ------------------------------------------------------------------------

    def _read_clock(self) -> None:
        clock_us = self._clock.now_us()
        self._now_us += max(0, clock_us - self._clock_us)
        self._clock_us = clock_us

    def _refusal(self, direction: Direction, charges: Iterable[Charge]) -> ThrottledError | None:
        found = [(charge, kind) for charge in charges for kind in self._exceeded(direction, charge)]
        if not found:
            return None
        if self._on_event is not None:
            for table, index in dict.fromkeys((charge.table, charge.index) for charge, _ in found):
                self._on_event(table.name, None if index is None else index.name, direction == "Read")
        first, exceeded = found[0]
        definition = first.table.definition
        return error_of(definition)(
            message_of(definition, exceeded, direction, of_index=first.index is not None),
            # A partition and its table may be exceeded by one name; an entry that moves is of two partitions.
            tuple(dict.fromkeys(self._reason(direction, charge, kind) for charge, kind in found)),
        )

    def _exceeded(self, direction: Direction, charge: Charge) -> Iterator[Exceeded]:
        store = self._store(direction, charge)
        if not store.bucket.admits(self._now_us):
            yield store.exceeded
        if charge.partition is not None:
            partition = self._partitions.get((direction, charge.store_id, charge.partition))
            if partition is not None and not partition.admits(self._now_us):
                yield _PARTITION_LIMITS[direction].exceeded

    def _reason(self, direction: Direction, charge: Charge, exceeded: Exceeded) -> ThrottlingReason:
        arn = self._table_arn(charge.table.name)
        if charge.index is None:
            return ThrottlingReason(f"Table{direction}{exceeded}", arn)
        return ThrottlingReason(f"Index{direction}{exceeded}", f"{arn}/index/{charge.index.name}")

    def _charge(self, direction: Direction, charges: Iterable[Charge]) -> None:
        for charge in charges:
            self._store(direction, charge).bucket.charge(charge.units, self._now_us)
            if charge.partition is not None:
                bucket = self._partition(direction, charge.store_id, charge.partition)
                bucket.charge(charge.units, self._now_us)

    def _store(self, direction: Direction, charge: Charge) -> _Store:
        definition = charge.table.definition
        place = (direction, charge.store_id)
        store = self._stores.get(place)
        if store is None:
            store = self._stores[place] = self._new_store(direction, charge)
            if len(self._stores) > _STORES_MAX:
                self._stores.popitem(last=False)
        elif store.definition is not definition:
            limit = _limit(direction, charge)
            store.bucket.change(rate=limit.rate, depth=limit.depth, now_us=self._now_us)
            store.definition, store.exceeded = definition, limit.exceeded
        self._stores.move_to_end(place)
        return store

    def _new_store(self, direction: Direction, charge: Charge) -> _Store:
        """Make a bucket as it was when the table was made: with one second's units, and more since then.

        Before this process had it open, nobody used it, as far as is known.
        """
        definition = charge.table.definition
        limit = _limit(direction, charge)
        age_us = max(0, self._clock_us - definition.created_us)
        made_us = self._now_us - age_us
        bucket = TokenBucket(rate=limit.rate, depth=limit.depth, level=limit.rate, at_us=made_us)
        return _Store(bucket, definition, limit.exceeded)

    def _partition(self, direction: Direction, store_id: int, partition: bytes) -> TokenBucket:
        place = (direction, store_id, partition)
        bucket = self._partitions.get(place)
        if bucket is None:
            self._forget_partitions()
            limit = _PARTITION_LIMITS[direction]
            bucket = TokenBucket(rate=limit.rate, depth=limit.depth, level=limit.depth, at_us=self._now_us)
            self._partitions[place] = bucket
        else:
            self._partitions.move_to_end(place)
        return bucket

    def _forget_partitions(self) -> None:
        """Make room for a bucket. Two are looked at for each that is added, so that idle ones become fewer."""
        for _ in range(2):
            oldest = next(iter(self._partitions.items()), None)
            if oldest is None:
                return
            place, bucket = oldest
            if len(self._partitions) < PARTITIONS_MAX and not bucket.is_full(self._now_us):
                return
            del self._partitions[place]


def _limit(direction: Direction, charge: Charge) -> Limit:
    index = None if charge.index is None else charge.index.definition
    return limit_of(charge.table.definition, index, direction)
