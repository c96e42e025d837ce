"""The new file: items as they were found or brought back, and all that follows from them computed anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from secrets import randbits
from typing import Any, Final, NamedTuple

from singletable.storage import schema
from singletable.storage.catalog import Execute
from singletable.storage.definitions import (
    RecoveryDefinition,
    StreamDefinition,
    TableDefinition,
    encode_definition,
)
from singletable.storage.file.write_ahead_log import new_mark, write_mark
from singletable.storage.images import Image, PrimaryKey
from singletable.storage.log import EXPIRED, REMOVED, Entry
from singletable.storage.past import moment_text, size_of
from singletable.storage.repair.findings import Findings, is_item_of
from singletable.storage.repair.sources import BackedUp, LogNews, Recovered, choose, newest_entries
from singletable.storage.repair.trees import LOST
from singletable.storage.streams import Shard, open_shard
from singletable.storage.tables import Table
from singletable.values.types import Item

_INSERT_ROW: Final = "INSERT OR IGNORE INTO {}(id, pk, sk, bytes, item) VALUES (?, ?, ?, ?, ?)"
_INSERT_LOG_ROW: Final = (
    "INSERT OR IGNORE INTO {}(seq, at, event, pk, sk, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_NEVER: Final = 1 << 63  # behind every number of a log, and every time
NO_NEWS: Final = LogNews({}, _NEVER, _NEVER)


class BroughtBack(NamedTuple):
    """An item whose row was lost, and where its image is from."""

    key: Item
    recovered: Recovered


@dataclass(slots=True)
class RepairedTable:
    """What came of the items of a table."""

    name: str
    kept: int = 0
    brought_back: list[BroughtBack] = field(default_factory=list)
    lost: list[Item] = field(default_factory=list)
    """The keys of those that no place has any more."""
    lost_without_key: int | None = 0
    """How many more there were; None if that cannot be told."""

    @property
    def is_exact(self) -> bool:
        """Whether the table is what it was."""
        return (
            not self.lost
            and self.lost_without_key == 0
            and not any(one.recovered.may_be_older for one in self.brought_back)
        )


@dataclass(slots=True)
class _Log:
    """The part of a log that is kept, by its first and last number: none if it begins anew."""

    first: int
    end: int
    end_us: int
    news: LogNews

    begins_anew: bool = False


class Rebuilt:
    """Fills an empty database from what was found."""

    def __init__(
        self,
        found: Findings,
        execute: Execute,
        backups: BackedUp,
        now_us: int,
        tell: Callable[[], None],
    ) -> None:
        self._found = found
        self._execute = execute
        self._backups = backups
        self._now_us = now_us
        self._tell = tell
        self.notes: list[str] = []
        self._next_id = 1
        self._logs: dict[int, _Log] = {}

    def fill(self, definitions: list[TableDefinition], logged: dict[int, int]) -> list[RepairedTable]:
        """Write all tables; `logged` are the ids of those with a log, each with its `since`."""
        self._meta(definitions, logged)
        results = []
        names = {definition.id: definition.name for definition in definitions}
        for table_id in logged:
            self._logs[table_id] = self._survey_log(table_id, names.get(table_id), logged[table_id])
        self._now_us = max([self._now_us, *(log.end_us + 1 for log in self._logs.values())])
        kept: list[TableDefinition] = []
        for definition in definitions:
            if self._is_unfinished_restore(definition):
                continue
            result = self._fill_table(Table(definition))
            results.append(result)
            kept.append(self._dated(definition, result))
        for definition in kept:
            self._execute(schema.SAVE_TABLE, (definition.name, definition.id, encode_definition(definition)))
        self._fill_logs(kept, logged)
        self._copy_registers(kept)
        self._execute("INSERT OR REPLACE INTO meta VALUES ('next_id', ?)", (self._next_id,))
        write_mark(self._execute, new_mark(randbits), is_new_file=True)
        return results

    # --- numbers of the file ----------------------------------------------------------------------

    def _meta(self, definitions: list[TableDefinition], logged: dict[int, int]) -> None:
        stored = dict(self._found.whole_rows("meta"))
        for name in ("newest", "trusted", "backups_kept"):
            if name in stored:
                self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, stored[name]))
        self._now_us = max(self._now_us, stored.get("newest", 0) + 1)
        version = max(stored.get("catalog_version", 0), 1) + 1
        self._execute("INSERT OR REPLACE INTO meta VALUES ('catalog_version', ?)", (version,))
        ids = [*logged, *(int(name.split("_")[1]) for name in self._found.trees if _has_id(name))]
        for definition in definitions:
            ids += [definition.id, *(index.id for index in definition.indexes)]
            ids += [definition.ttl.id] if definition.ttl else []
        ids += [row[0] for row in self._found.whole_rows("stream")]
        ids += [row[0] for row in self._found.whole_rows("counter")]
        self._next_id = max(stored.get("next_id", 1), *(one + 1 for one in ids), 1)
        if not self._found.is_complete("meta"):
            self.notes.append("the time up to which the clock was trusted is lost: it is trusted from now on")

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    # --- items ------------------------------------------------------------------------------------

    def _fill_table(self, table: Table) -> RepairedTable:
        self._make_tables(table)
        result = RepairedTable(table.name)
        writer = _TableWriter(self._execute, table)
        name = schema.item_table(table.id)
        broken: dict[PrimaryKey, int] = {}  # rows of which a part cannot be read
        is_complete = self._found.is_complete(name)
        for row in self._found.rows(name):
            self._tell()
            _, pk, sk, size, raw = row.columns
            if row.is_whole:
                result.kept += writer.add(row.id, PrimaryKey(pk, sk), size, raw)
            elif pk is not LOST and sk is not LOST:
                broken[PrimaryKey(pk, sk)] = row.id
            else:
                is_complete = False
        if broken or not is_complete:
            self._bring_back(table, writer, result, broken, is_complete=is_complete)
        writer.finish()
        return result

    def _make_tables(self, table: Table) -> None:
        self._execute(schema.create_item_table(table.id)).fetchall()
        for index in table.indexes:
            self._execute(schema.create_index_table(index.id)).fetchall()
            if not index.is_ready:
                self._execute(schema.SAVE_BACKFILL, (index.id, 0))
        if table.expiry is not None:
            self._execute(schema.create_expiry_table(table.expiry.id)).fetchall()
            if not table.expiry.is_ready:
                self._execute(schema.SAVE_BACKFILL, (table.expiry.id, 0))

    def _count_of(self, table_id: int) -> int | None:
        rows = self._found.whole_rows("counter")
        return next((items for store_id, items, _ in rows if store_id == table_id), None)

    def _bring_back(
        self,
        table: Table,
        writer: _TableWriter,
        result: RepairedTable,
        broken: dict[PrimaryKey, int],
        *,
        is_complete: bool,
    ) -> None:
        """Find the keys of items that are missing, and an image of each."""
        log = self._logs.get(table.id)
        missing = broken if is_complete else broken | self._missing_keys(table, writer, log)
        missing = {key: row_id for key, row_id in missing.items() if not writer.has(key)}
        news = log.news if log is not None and table.logs_changes else NO_NEWS
        news = replace(news, newest=newest_entries(self._entries(table.id), missing.keys()))
        images = {key: news.image(key) for key in missing}
        wanted = [key for key, image in images.items() if image is None or image.may_be_older]
        backed_up = self._backups.items(table.definition, wanted)
        # Those whose row ids are known first: the others get new ids, behind these.
        for key in sorted(missing, key=lambda key: (not missing[key], key)):
            image = choose(images[key], backed_up.get(key), news, key)
            attributes = table.key_attributes(key)
            if image is not None and writer.add(missing[key] or None, key, size_of(image.raw), image.raw):
                result.brought_back.append(BroughtBack(attributes, image))
            else:
                result.lost.append(attributes)
        if not is_complete and not self._found.is_complete(f"{schema.item_table(table.id)}_key"):
            count = self._count_of(table.id)
            known = result.kept + len(result.brought_back) + len(result.lost)
            result.lost_without_key = None if count is None else max(0, count - known)

    def _missing_keys(self, table: Table, writer: _TableWriter, log: _Log | None) -> dict[PrimaryKey, int]:
        """Return the keys of items that must be there and are not, with their row ids, as indexes and log know."""
        missing: dict[PrimaryKey, int] = {}
        name = f"{schema.item_table(table.id)}_key"
        indexes = [name, *(schema.index_table(index.id) for index in table.indexes)]
        for index in indexes:
            for row in self._found.rows(index):
                *_, pk, sk, row_id = row.columns
                if LOST not in (pk, sk, row_id) and not writer.has(PrimaryKey(pk, sk)):
                    missing[PrimaryKey(pk, sk)] = row_id
            if self._found.is_complete(name):
                return missing
        if log is not None and table.logs_changes:
            for key, entry in newest_entries(self._entries(table.id), None).items():
                is_there = entry.event not in (REMOVED, EXPIRED) and log.news.knows(entry)
                if is_there and key not in missing and not writer.has(key):
                    missing[key] = 0
        return missing

    def homeless(self, tables: dict[str, Table]) -> Iterator[tuple[Item, list[str]]]:
        """Yield the keys of items that can be read and fit several tables, with the names of those."""
        for tree, names in self._found.homeless:
            table = tables[names[0]]
            for row in self._found.rows_of(tree):
                if row.is_whole and is_item_of(table, row):
                    key = PrimaryKey(row.columns[1], row.columns[2])
                    yield table.key_attributes(key), [tables[name].name for name in names]

    # --- logs -------------------------------------------------------------------------------------

    def _entries(self, table_id: int) -> Iterator[Entry]:
        for row in self._found.rows(schema.log_table(table_id)):
            if row.is_whole:
                yield Entry(row.id, *row.columns[1:])

    def _survey_log(self, table_id: int, table: str | None, since_us: int) -> _Log:
        """Find the newest part of a log that has no gap."""
        name = schema.log_table(table_id)
        times: dict[int, int] = {}
        broken = 0  # the newest entry of which a part cannot be read
        for row in self._found.rows(name):
            if row.is_whole:
                times[row.id] = row.columns[1]
            else:
                broken = max(broken, row.id)
        end = max(times, default=0)
        where = f"the log of table {table}" if table else f"the log of a deleted table, {name},"
        if broken > end or not self._found.ends_known(name):
            self.notes.append(
                f"{where} lost its newest entries, and begins anew: its stream and its past too"
            )
            return _Log(1, 0, 0, NO_NEWS, begins_anew=True)
        if not times:
            return _Log(1, 0, 0, LogNews({}, 1, since_us))
        first = end
        while first - 1 in times:
            first -= 1
        start_us = times[first]
        if first > min(times) or broken or not self._found.is_complete(name):
            self.notes.append(
                f"{where} lost entries, and begins at {moment_text(start_us)}: its stream and its past too"
            )
        exact = min((seq for seq in range(first, end + 1) if times[seq] > since_us), default=end + 1)
        exact_us = since_us if first == 1 else max(since_us, start_us)
        return _Log(first, end, times[end], LogNews({}, exact, exact_us))

    def _dated(self, definition: TableDefinition, result: RepairedTable) -> TableDefinition:
        """Return the definition with what it says of times: from when on stream and past know every change."""
        log, now_us = self._logs.get(definition.id), self._now_us
        recovery, stream = definition.recovery, definition.stream
        begins_anew = log is None or log.begins_anew
        if recovery is not None and (begins_anew or not result.is_exact):
            recovery = RecoveryDefinition(days=recovery.days, since_us=now_us)
            if not begins_anew:
                self.notes.append(
                    f"table {definition.name} can be brought back to moments from {moment_text(now_us)} on:"
                    " it is not all as it was"
                )
        label_us = definition.stream_label_us
        if stream is not None and begins_anew:
            stream = StreamDefinition(view=stream.view, created_us=now_us)
            label_us = max(now_us - now_us % 1000, (label_us or 0) + 1000)
            self.notes.append(
                f"table {definition.name} has a new stream: what reads its stream has to look for it"
            )
        return replace(definition, recovery=recovery, stream=stream, stream_label_us=label_us)

    def _fill_logs(self, definitions: list[TableDefinition], logged: dict[int, int]) -> None:
        by_id = {definition.id: definition for definition in definitions}
        for table_id in sorted({*logged, *(one.id for one in definitions if one.logs_changes)}):
            log, since_us = self._logs.get(table_id), logged.get(table_id, self._now_us)
            if log is None or log.begins_anew:
                if table_id not in by_id:
                    self._logs.pop(table_id, None)
                    continue  # of a deleted table: there is nothing left to read
                since_us = self._now_us
            self._execute(schema.create_log_table(table_id)).fetchall()
            self._execute(schema.INSERT_LOG, (table_id, since_us))
            if log is None or log.begins_anew:
                self._logs[table_id] = _Log(1, 0, 0, NO_NEWS, begins_anew=True)
                continue
            insert = _INSERT_LOG_ROW.format(schema.log_table(table_id))
            for entry in self._entries(table_id):
                if log.first <= entry.seq <= log.end:
                    self._execute(insert, entry)
        times = [log.end_us for log in self._logs.values()]
        times += [self._now_us for log in self._logs.values() if log.begins_anew]
        rows: list[Any] = self._execute(schema.NEWEST).fetchall()
        if times and max(times) > max((row[0] for row in rows), default=0):
            self._execute(schema.NOTE_NEWEST, (max(times),))

    # --- registers --------------------------------------------------------------------------------

    def _copy_registers(self, definitions: list[TableDefinition]) -> None:
        self._copy_streams(definitions)
        what = "a transaction that is sent again with the token of an earlier one may be carried out again"
        self._insert_all("token", self._registered("token", what))
        ends = {table_id: 0 if log.begins_anew else log.end for table_id, log in self._logs.items()}
        for row in self._registered("consumer", "a consumer whose row was lost begins where a new one does"):
            if row[0] in ends:
                position = min(row[2], ends[row[0]])
                self._insert("consumer", (*row[:2], position, *row[3:]))
        for row in self._registered(
            "dead_letter", "records that were put aside for their consumers are lost"
        ):
            if row[2] <= ends.get(row[0], 0):
                self._insert("dead_letter", row)

    def _registered(self, name: str, what_follows: str) -> list[tuple[Any, ...]]:
        if not self._found.is_complete(name):
            self.notes.append(f"a part of the internal table {name} is lost: {what_follows}")
        return self._found.whole_rows(name)

    def _insert_all(self, name: str, rows: list[tuple[Any, ...]]) -> None:
        for row in rows:
            self._insert(name, row)

    def _insert(self, name: str, row: tuple[Any, ...]) -> None:
        self._execute(f"INSERT OR IGNORE INTO {name} VALUES ({', '.join('?' * len(row))})", row)

    def _is_unfinished_restore(self, definition: TableDefinition) -> bool:
        if not definition.is_restoring:
            return False
        row = next((row for row in self._found.whole_rows("restore") if row[0] == definition.id), None)
        source = None if row is None else row[1]
        if row is None or (
            source is not None and (source not in self._logs or self._logs[source].begins_anew)
        ):
            self.notes.append(f"table {definition.name} was being restored, and is gone: restore it again")
            return True
        self._insert("restore", row)
        return False

    def _copy_streams(self, definitions: list[TableDefinition]) -> None:
        rows = self._registered("stream", "a stream whose row was lost is made anew, or gone if it had ended")
        shards: dict[int, list[tuple[Any, ...]]] = {}
        for shard in self._registered("shard", "streams have other shards: what reads them begins anew"):
            shards.setdefault(shard[0], []).append(shard)
        on = {one.id: one for one in definitions if one.stream is not None}
        for row in rows:
            stream_id, table_id, label_us, ended_us = row[0], row[1], row[3], row[6]
            log = self._logs.get(table_id)
            if log is None or log.begins_anew:
                continue
            own = shards.get(stream_id, [])
            if ended_us is not None:
                if self._found.is_complete("shard"):
                    self._insert("stream", row)
                    self._insert_all("shard", own)
            elif table_id in on and on[table_id].stream_label_us == label_us:
                self._insert("stream", row)
                if self._found.is_complete("shard"):
                    self._insert_all("shard", own)
                else:
                    self._open(stream_id, on[table_id], max((shard[1] for shard in own), default=-1) + 1)
                del on[table_id]
        for definition in on.values():
            stream_id = self._new_id()
            assert definition.stream is not None
            text = encode_definition(definition)
            label_us, view = definition.stream_label_us, definition.stream.view
            self._insert("stream", (stream_id, definition.id, definition.name, label_us, view, text, None))
            self._open(stream_id, definition, 0)

    def _open(self, stream_id: int, definition: TableDefinition, number: int) -> None:
        """Give a stream one shard, with all of its entries."""
        assert definition.stream is not None
        began_us = definition.stream.created_us
        sql = f"SELECT min(seq) FROM {schema.log_table(definition.id)} WHERE at >= ?"
        rows: list[Any] = self._execute(sql, (began_us,)).fetchall()
        first = rows[0][0] or self._logs[definition.id].end + 1
        open_shard(self._execute, Shard(stream_id, number, None, 0, 1, first, None, began_us, None))


class _TableWriter:
    """Writes the items of one table, with their index entries, expiry and counts."""

    def __init__(self, execute: Execute, table: Table) -> None:
        self._execute = execute
        self._table = table
        self._insert = _INSERT_ROW.format(schema.item_table(table.id))
        self._has = f"SELECT 1 FROM {schema.item_table(table.id)} WHERE pk = ? AND sk = ?"
        self._counts = {store_id: [0, 0] for store_id in (table.id, *(index.id for index in table.indexes))}

    def has(self, key: PrimaryKey) -> bool:
        return next(self._execute(self._has, key), None) is not None

    def add(self, row_id: int | None, key: PrimaryKey, size: int, raw: bytes) -> bool:
        """Write an item, unless it is there."""
        rows: list[Any] = self._execute(f"{self._insert} RETURNING id", (row_id, *key, size, raw)).fetchall()
        if not rows:
            return False
        image = Image(raw, size)
        self._count(self._table.id, size)
        for index in self._table.indexes:
            entry = index.entry_key(image.item) if index.is_ready else None
            if entry is not None:
                self._execute(index.insert_entry, (*entry, *key, rows[0][0]))
                self._count(index.id, index.projected_bytes(image))
        expiry = self._table.expiry
        if expiry is not None and expiry.is_ready:
            expires_s = expiry.time_of(image.item)
            if expires_s is not None:
                self._execute(expiry.insert_entry, (expires_s, rows[0][0]))
        return True

    def _count(self, store_id: int, size: int) -> None:
        counted = self._counts[store_id]
        counted[0] += 1
        counted[1] += size

    def finish(self) -> None:
        for store_id, (items, size) in self._counts.items():
            self._execute("INSERT INTO counter VALUES (?, ?, ?)", (store_id, items, size))


def _has_id(name: str) -> bool:
    kind, _, rest = name.partition("_")
    return kind in ("item", "index", "expiry", "log") and rest.isdigit()
