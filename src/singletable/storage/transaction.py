"""One write transaction: the only place that changes a database."""

from __future__ import annotations

import apsw

from singletable import limits
from singletable.storage import schema, streams
from singletable.storage.catalog import Catalog, scalar
from singletable.storage.changes import Change, EntryMove
from singletable.storage.definitions import (
    IndexDefinition,
    TableDefinition,
    TtlDefinition,
    encode_definition,
)
from singletable.storage.expiry import Expiry
from singletable.storage.images import PrimaryKey, Stored
from singletable.storage.log import EXPIRED, INSERTED, MODIFIED, REMOVED, select_end
from singletable.storage.reading import Counts, select_counts, select_image
from singletable.storage.tables import Table

# A physical table with more rows than this is emptied piece by piece in the background before it is dropped.
_DROP_AT_ONCE_ITEMS = 1_000


class PostponedError(Exception):
    """A request would take longer than this transaction may take, and has written nothing."""


class BehindLogError(Exception):
    """A log has a later time than this transaction, which another process has given: to be run anew behind it."""

    def __init__(self, newest_us: int) -> None:
        super().__init__()
        self.newest_us = newest_us


class Transaction:
    """What a group of requests reads and writes before its COMMIT.

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
        self.clock_us = clock_us  # what the clock says
        self.is_dirty = False
        self.has_logged = False
        self.has_noted = False
        self.keeps_moment = False  # its time is stored, not only with changes: all that follow must be later
        self.known_logs = known_logs  # whose newest entry is not later than this transaction
        self.room: int | None = None  # for items that are read; with too little of it, a request is postponed
        self.changes: list[Change] | None = None  # a list, where somebody wants to know what was applied
        self.expired: dict[str, int] = {}  # items of each table that were deleted because they had
        self._counts: dict[int, list[int]] = {}

    # --- items ------------------------------------------------------------------

    def get(self, table: Table, key: PrimaryKey) -> Stored | None:
        """Return the item as it stands, with what this transaction has written so far."""
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
        """Return the counts of a table or index, with what this transaction has added so far."""
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
