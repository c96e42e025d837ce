"""One write transaction: the only place that changes a database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import apsw

from singletable import limits
from singletable.storage import schema, streams
from singletable.storage.catalog import Catalog, Execute, scalar
from singletable.storage.changes import Change, EntryMove
from singletable.storage.definitions import (
    IndexDefinition,
    TableDefinition,
    TtlDefinition,
    encode_definition,
)
from singletable.storage.file.encryption import FileKey
from singletable.storage.images import PrimaryKey, StoredImage
from singletable.storage.log import (
    EXPIRED,
    INSERTED,
    MODIFIED,
    REMOVED,
    newest_time_us,
    select_end,
    select_logs,
)
from singletable.storage.reading import Counts, select_counts, select_image
from singletable.storage.tables import Expiry, Table

T = TypeVar("T")

# A physical table with more rows than this is emptied piece by piece in the background before it is dropped.
_DROP_AT_ONCE_ITEMS = 1_000

_NOTED_EVERY_US: Final = 100_000  # to note each change would make every put slower


class PostponedError(Exception):
    """A request would take longer than this transaction may take, and has written nothing."""


class BehindLogError(Exception):
    """A log has a later time, from another process, than this transaction: run it again with a later time."""

    def __init__(self, newest_us: int) -> None:
        super().__init__()
        self.newest_us = newest_us


class Transaction:
    """The reads and writes of a group of requests before its COMMIT.

    Requests plan first and write afterwards: `is_dirty` tells that statements were carried out, after which
    a request may no longer fail by itself (SQLite ends the whole transaction on a full disk or an I/O error,
    so a savepoint would be false safety).
    """

    __slots__ = (
        "_counts",
        "catalog",
        "changes",
        "clock_us",
        "connection",
        "execute",
        "expired",
        "has_logged",
        "has_noted",
        "is_dirty",
        "keeps_moment",
        "key",
        "known_logs",
        "now_us",
        "room",
    )

    def __init__(
        self,
        connection: apsw.Connection,
        catalog: Catalog,
        now_us: int,
        clock_us: int,
        known_logs: set[int],
    ) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.catalog = catalog
        self.now_us = now_us  # the time of changes, which never goes back
        self.clock_us = clock_us  # the time of the clock
        self.is_dirty = False
        self.has_logged = False
        self.has_noted = False
        self.keeps_moment = False  # its time is stored apart from changes: all later times must be greater
        self.known_logs = known_logs  # logs with no entry later than this transaction
        self.room: int | None = None  # for items that are read; with too little of it, a request is postponed
        self.key: FileKey | None = None  # of the file, and of the backups beside it
        self.changes: list[Change] | None = None  # a list, where the applied changes are wanted
        self.expired: dict[str, int] = {}  # how many expired items of each table were deleted
        self._counts: dict[int, list[int]] = {}

    # --- items ------------------------------------------------------------------

    def get(self, table: Table, key: PrimaryKey) -> StoredImage | None:
        """Return the item as it stands, with the writes of this transaction so far."""
        image = select_image(self.execute, table, key)
        if image is not None and self.room is not None:
            self.room -= image.item_bytes
            if self.room < 0 and not self.is_dirty:
                raise PostponedError
        return image

    def apply(self, change: Change) -> None:
        """Write a change with everything that follows from it: index entries, expiry, counts, log entry."""
        before, after = change.before, change.after
        if after is None and before is None:
            return
        if change.table.logs_changes and before and after and after.holds_same_as(before):
            # A write that changes nothing leaves no record (AWS guide, "Change data capture"). The order of
            # attributes and of the members of maps is nothing: clients send them in any (Go's maps have none). The
            # item stays in the order that its log knows.
            return
        self.is_dirty = True
        row_id = self._write_item(change)
        for move in change.moves:
            self._write_entry(move, change, row_id)
        if change.table.expiry is not None:
            self._write_expiry(change.table.expiry, change, row_id)
        self.count(
            change.table.id,
            items=(after is not None) - (before is not None),
            item_bytes=(after.item_bytes if after else 0) - (before.item_bytes if before else 0),
        )
        if change.table.logs_changes:
            self._log(change)
        if change.is_expiry:
            name = change.table.name
            self.expired[name] = self.expired.get(name, 0) + 1
        if self.changes is not None:
            self.changes.append(change)

    def _write_item(self, change: Change) -> int:
        before, after, table = change.before, change.after, change.table
        if before is None:
            assert after is not None
            self.execute(table.insert_item, (*change.key, after.item_bytes, after.raw))
            return self.connection.last_insert_rowid()
        if after is None:
            self.execute(table.delete_item, (before.row_id,))
        else:
            self.execute(table.update_item, (after.item_bytes, after.raw, before.row_id))
        return before.row_id

    def _write_entry(self, move: EntryMove, change: Change, row_id: int) -> None:
        before, after = change.before, change.after
        index, old, new = move
        if old == new and index.is_ready:
            if before and after and new:
                growth = index.projected_bytes(after) - index.projected_bytes(before)
                self.count(index.id, items=0, item_bytes=growth)
            return
        if before and old:
            self.execute(index.delete_entry, (*old, *change.key))
            # While an index is being filled, the item may not have had its entry yet.
            if index.is_ready or self.connection.changes():
                self.count(index.id, items=-1, item_bytes=-index.projected_bytes(before))
        if after and new:
            self.execute(index.insert_entry, (*new, *change.key, row_id))
            self.count(index.id, items=1, item_bytes=index.projected_bytes(after))

    def _write_expiry(self, expiry: Expiry, change: Change, row_id: int) -> None:
        before, after = change.before, change.after
        old = None if before is None else expiry.time_of(before.item)
        new = None if after is None else expiry.time_of(after.item)
        if old == new and expiry.is_ready:
            return
        if old is not None:
            self.execute(expiry.delete_entry, (old, row_id))
        if new is not None:
            self.execute(expiry.insert_entry, (new, row_id))

    def _log(self, change: Change) -> None:
        before, after, table = change.before, change.after, change.table
        old = before.raw if before else None
        new = after.raw if after else None
        if new is None:
            event = EXPIRED if change.is_expiry else REMOVED
        else:
            event = INSERTED if old is None else MODIFIED
        if table.id not in self.known_logs:
            self._look_at_log(table.id)
        kept = new if table.definition.stream is not None else None
        self.execute(table.insert_log, (change.at_us, event, *change.key, old, kept))
        self.has_logged = True

    def _look_at_log(self, table_id: int) -> None:
        newest_us = select_end(self.execute, table_id).at_us
        if newest_us > self.now_us:
            raise BehindLogError(newest_us)
        self.known_logs.add(table_id)

    # --- counts -------------------------------------------------------------------

    def counts(self, store_id: int) -> Counts:
        """Return the counts of a table or index, with the additions of this transaction so far."""
        stored = select_counts(self.execute, store_id)
        items, item_bytes = self._counts.get(store_id, (0, 0))
        return Counts(stored.items + items, stored.item_bytes + item_bytes)

    def count(self, store_id: int, *, items: int, item_bytes: int) -> None:
        if items or item_bytes:
            pending = self._counts.setdefault(store_id, [0, 0])
            pending[0] += items
            pending[1] += item_bytes

    def flush_counts(self) -> None:
        """Write the counts of the whole group; the last statements before its COMMIT."""
        for store_id, (items, item_bytes) in self._counts.items():
            if items or item_bytes:
                self.execute(schema.ADD_TO_COUNTER, (items, item_bytes, store_id))

    def note_time(self) -> None:
        """Let other processes know the time of this transaction before they look at logs."""
        self.execute(schema.NOTE_NEWEST, (self.now_us,))
        self.has_noted = True

    # --- tables --------------------------------------------------------------------

    def new_id(self) -> int:
        """Return an id that no table or index has had."""
        self.is_dirty = True
        return int(scalar(self.execute(schema.NEXT_ID)))

    def create_table(self, definition: TableDefinition) -> None:
        self.is_dirty = True
        self.execute(schema.create_item_table(definition.id)).fetchall()
        self.execute(schema.INSERT_COUNTER, (definition.id,))
        for index in definition.indexes:
            self._create_index(index)
        if definition.logs_changes:
            self._create_log(definition.id)
        if definition.stream is not None:
            streams.open_stream(self.execute, self.new_id(), definition, self.now_us)
        self.save(definition)

    def alter_table(self, definition: TableDefinition) -> None:
        """Store a new definition of a table; make and drop the indexes in which it differs."""
        self.is_dirty = True
        table = self.catalog.named(definition.name)
        assert table is not None
        old = {index.id: index for index in table.definition.indexes}
        new = {index.id: index for index in definition.indexes}
        for index_id in old.keys() - new.keys():
            self._drop_index(index_id)
        for index_id in new.keys() - old.keys():
            self._create_index(new[index_id])
            if new[index_id].status == "CREATING":
                self.execute(schema.SAVE_BACKFILL, (index_id, 0))
        self._alter_log(table.definition, definition)
        self._alter_expiry(table.definition.ttl, definition.ttl)
        self.save(definition)

    def _alter_log(self, old: TableDefinition, new: TableDefinition) -> None:
        if new.logs_changes and not old.logs_changes:
            self._create_log(new.id)
        if old.stream != new.stream:
            if old.stream is not None:
                streams.end_stream(self.execute, old.id, self.now_us)
            if new.stream is not None:
                streams.open_stream(self.execute, self.new_id(), new, self.now_us)

    def _create_log(self, table_id: int) -> None:
        # It may be there from earlier on: a log stays as long as its table, so that its numbers go on.
        self.execute(schema.create_log_table(table_id)).fetchall()
        self.execute(schema.INSERT_LOG, (table_id, self.now_us))

    def _alter_expiry(self, old: TtlDefinition | None, new: TtlDefinition | None) -> None:
        old_id, new_id = (None if ttl is None else ttl.id for ttl in (old, new))
        if old_id == new_id:
            return
        if old_id is not None:
            self._drop_expiry(old_id)
        if new_id is not None:
            self.execute(schema.create_expiry_table(new_id)).fetchall()
            self.execute(schema.SAVE_BACKFILL, (new_id, 0))

    def _drop_expiry(self, expiry_id: int) -> None:
        self.execute(schema.INSERT_DROPPED, (schema.expiry_table(expiry_id),))
        self.execute(schema.DELETE_BACKFILL, (expiry_id,))

    def delete_table(self, table: Table) -> None:
        self.is_dirty = True
        for index in table.indexes:
            self._drop_index(index.id)
        if table.expiry is not None:
            self._drop_expiry(table.expiry.id)
        if table.definition.stream is not None:
            streams.end_stream(self.execute, table.id, self.now_us)
        self._drop(schema.item_table(table.id), self.counts(table.id).items)
        self._forget_counts(table.id)
        self.execute(schema.FORGET_TABLE, (table.name,))
        self.catalog = self.catalog.without_table(self._bump_version(), table.name)

    def _create_index(self, index: IndexDefinition) -> None:
        self.execute(schema.create_index_table(index.id)).fetchall()
        self.execute(schema.INSERT_COUNTER, (index.id,))

    def _drop_index(self, index_id: int) -> None:
        self._drop(schema.index_table(index_id), self.counts(index_id).items)
        self.execute(schema.DELETE_BACKFILL, (index_id,))
        self._forget_counts(index_id)

    def _drop(self, name: str, items: int) -> None:
        if items <= _DROP_AT_ONCE_ITEMS:
            self.execute(f"DROP TABLE {name}").fetchall()
        else:
            self.execute(schema.INSERT_DROPPED, (name,))

    def _forget_counts(self, store_id: int) -> None:
        self.execute(schema.DELETE_COUNTER, (store_id,))
        self._counts.pop(store_id, None)

    def save(self, definition: TableDefinition) -> None:
        """Store the definition of a table, and let the rest of this transaction use it."""
        text = encode_definition(definition)
        self.execute(schema.SAVE_TABLE, (definition.name, definition.id, text))
        self.catalog = self.catalog.with_table(self._bump_version(), definition)

    def _bump_version(self) -> int:
        self.keeps_moment = True
        return int(scalar(self.execute(schema.BUMP_CATALOG)))

    # --- idempotency tokens ---------------------------------------------------------------

    def token_digest(self, token: str) -> bytes | None:
        """Return the digest of the request that used a token in the last ten minutes."""
        row = next(self.execute(schema.SELECT_TOKEN, (token,)), None)
        # A token from the future was left by a clock that has been put back since.
        if row is None or abs(self.clock_us - row[0]) >= limits.TRANSACTION_TOKEN_S * 1_000_000:
            return None
        digest: bytes = row[1]
        return digest

    def save_token(self, token: str, digest: bytes) -> None:
        self.is_dirty = True
        self.execute(schema.FORGET_OLD_TOKENS, (self.clock_us - limits.TRANSACTION_TOKEN_S * 1_000_000,))
        self.execute(schema.SAVE_TOKEN, (token, self.clock_us, digest))


# --- the times of changes: none gets an earlier one than the newest that is known, whatever the clock says ---


def noted_us(execute: Execute) -> int:
    """Return the newest time that was noted."""
    noted: int = next(execute(schema.NEWEST), (0,))[0]
    return noted


class ChangeTimes:
    """The newest times of changes that one process knows. The holder of the writer uses it.

    The newest time is that of the newest entry of all logs, or a later moment that is stored elsewhere, such as a
    start or an end. A process that opens a database looks at all logs. Later, while other processes write, it
    reads the time that they have noted, which may be a tenth of a second behind, and looks at the end of each log
    that it writes to.
    """

    __slots__ = ("_last_us", "_noted_us", "known_logs")

    def __init__(self) -> None:
        self._last_us = 0
        self._noted_us = 0
        self.known_logs: set[int] = set()  # those that no other process has written to since the last look

    def learn_all(self, execute: Execute) -> None:
        """Read the exact newest time of the file, from all logs."""
        self.learn_noted(execute)
        self.stand_behind(newest_time_us(execute, select_logs(execute)))

    def learn_noted(self, execute: Execute) -> None:
        """Read the time that other processes have noted: one number, which may be a little behind."""
        self._noted_us = noted_us(execute)
        self.stand_behind(self._noted_us)
        self.known_logs.clear()

    def stand_behind(self, newest_us: int) -> None:
        """Make every later time greater than this one."""
        self._last_us = max(self._last_us, newest_us)

    def next_us(self, clock_us: int) -> int:
        """Return the time of the next transaction; after the clock was put back, one behind the last time."""
        return clock_us if clock_us >= self._last_us else self._last_us + 1

    def note(self, transaction: Transaction) -> None:
        """Note the time of a transaction for other processes: now and then, and always if the clock is behind."""
        now_us = transaction.now_us
        if transaction.keeps_moment or (
            transaction.has_logged
            and (now_us > transaction.clock_us or now_us - self._noted_us >= _NOTED_EVERY_US)
        ):
            transaction.note_time()

    def committed(self, transaction: Transaction) -> None:
        self._last_us = transaction.now_us
        if transaction.has_noted:
            self._noted_us = transaction.now_us


# --- how the parts of a store read and write -------------------------------------------------------


class Read(Protocol):
    """Runs work with a connection that reads, and the catalog."""

    def __call__(self, work: Callable[[Execute, Catalog], T], /) -> T: ...


class Write(Protocol):
    """Runs work in a write transaction."""

    def __call__(self, work: Callable[[Transaction], T], /) -> T: ...
