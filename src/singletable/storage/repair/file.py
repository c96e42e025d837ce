"""Repairing a file: a new one is made beside it, verified, and then put in its place; the damaged one is kept."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import apsw

from singletable import errors
from singletable.storage import schema
from singletable.storage.check import check_connection, check_file
from singletable.storage.check_log import logged_since_us
from singletable.storage.definitions import StreamDefinition, TableDefinition, decode_definition
from singletable.storage.file import failures
from singletable.storage.file.durable_files import make_private_file, put_in_place, remove
from singletable.storage.file.encryption import header_of, is_encrypted
from singletable.storage.file.file_copies import (
    check_differ,
    check_free,
    claimed_temporary,
    end_replacing,
    held_alone,
    replace_kept,
    told,
)
from singletable.storage.file.formats import check_known
from singletable.storage.file.page_copies import WrittenFile
from singletable.storage.file.page_sums import SUM_BYTES, give_sums, reserve_sums
from singletable.storage.file.write_ahead_log import check_log_belongs
from singletable.storage.past import moment_text
from singletable.storage.repair.findings import Findings
from singletable.storage.repair.pages import Pages
from singletable.storage.repair.rebuilt import Rebuilt, RepairedTable
from singletable.storage.repair.sources import BackedUp
from singletable.storage.tables import Table
from singletable.values.types import Item

Phase = Literal["reading", "writing", "verifying", "checking"]
Progress = Callable[[Phase, int, int], None]
"""Called with the name of the step, how much of it is done, and the total."""

_PROGRESS_ROWS: Final = 1_000
_UNDERSTOOD: Final = (ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairReport:
    """What a repair has found, and what has become of it."""

    path: str
    repaired: str | None = None
    """Where the repaired database is; None if the file is sound."""
    kept: str | None = None
    """Where the damaged file is now, if it was replaced."""
    damaged_pages: list[int] = field(default_factory=list)
    tables: list[RepairedTable] = field(default_factory=list)
    unattributed: list[tuple[Item, list[str]]] = field(default_factory=list)
    """Items that can be read and are in no table, since they fit several: each with the names of those."""
    notes: list[str] = field(default_factory=list)
    """What else is lost or changed: logs, streams, consumers, settings."""

    @property
    def is_sound(self) -> bool:
        return self.repaired is None

    @property
    def is_all_back(self) -> bool:
        """Whether all is as it was."""
        return all(table.is_exact for table in self.tables) and not self.unattributed and not self.notes


def repair_file(
    path: str,
    *,
    out: str | None = None,
    backups: str | None = None,
    now_us: int,
    progress: Progress = lambda phase, done, total: None,
) -> RepairReport:
    """Bring back what a damaged file, its log, its indexes and its backups still have.

    The file is replaced at once or not at all, and kept under another name; with `out`, it is left alone.
    """
    failures.require_file(path)
    if is_encrypted(header_of(path)):
        raise errors.StorageFailedError(
            f"{path} is encrypted: a repair reads plain files",
            hint="restore a backup; where all pages can be decrypted, singletable decrypt makes a plain file",
        )
    if out is not None:
        check_free(out, force=False)
        check_differ(path, out)
    for kept in sorted(glob.glob(f"{glob.escape(path)}.damaged-*Z")):
        with told(path):
            end_replacing(path, kept)
    try:
        check_log_belongs(path)
        with told(out or path), held_alone(path) as connection:
            pages = Pages(path, lambda done, total: progress("reading", done, total))
            try:
                _check_ours(pages, path)
                if _is_sound(pages, connection, progress):
                    return RepairReport(path=path)
                with claimed_temporary(out or path) as made:
                    report = _make(
                        pages, path, made, BackedUp(backups or f"{path}.backups"), now_us, progress
                    )
                    return _place(report, made, out, now_us)
            finally:
                pages.close()  # last: that ends the locks on the file
    except apsw.Error as error:
        raise failures.translate(error, path) from error


def _check_ours(pages: Pages, path: str) -> None:
    first = pages.page(1)
    header = pages.header if first is None else first
    is_ours = header.startswith(b"SQLite format 3\0") and header[68:72] == schema.APPLICATION_ID.to_bytes(4)
    if first is not None and is_ours:
        check_known(int.from_bytes(first[60:64]), path)
    if (first is None or (is_ours and first[20] == SUM_BYTES)) and pages.fitting:
        return
    if is_ours:
        raise errors.NotADatabaseError(
            f"{path} has no checksums, by which pages that are right could be told from damaged ones",
            hint="restore a backup; a file of an older format gets them when it is opened with Database.open",
        )
    raise errors.NotADatabaseError(
        f"{path} has no page that singletable has written",
        hint="restore a backup: singletable restore COPY FILE",
    )


def _is_sound(pages: Pages, connection: apsw.Connection | None, progress: Progress) -> bool:
    if pages.damaged or pages.log.transactions_lost or connection is None:
        return False
    try:
        return not check_connection(connection.execute, lambda done, total: progress("checking", done, total))
    except apsw.Error:
        return False


# --- the new file -----------------------------------------------------------------------------------


def _make(
    pages: Pages, path: str, made: str, backups: BackedUp, now_us: int, progress: Progress
) -> RepairReport:
    found = Findings(pages)
    notes: list[str] = []
    if pages.log.transactions_lost:
        count = pages.log.transactions_lost
        notes.append(f"the write-ahead log is damaged: its last transactions, {count} or more, are lost")
    definitions = list(_definitions(found, path, backups, notes))
    tables = {definition.id: Table(definition) for definition in definitions}
    counts = {row[0]: (row[1], row[2]) for row in found.whole_rows("counter")}
    logged = _logged(found, tables)
    found.place_unnamed(tables.values(), logged, counts)
    total = sum(counts[table_id][0] for table_id in tables if table_id in counts)
    with _new_database(made, progress) as connection:
        rebuilt = Rebuilt(found, connection.execute, backups, now_us, _counting(progress, total))
        results = rebuilt.fill(definitions, logged)
        names = {schema.item_table(table.id): table for table in tables.values()}
        unattributed = list(rebuilt.homeless(names))
    problems = check_file(made, lambda done, total: progress("checking", done, total))
    _remove_log(made)  # empty: the check has only read
    if problems:
        raise errors.CorruptDatabaseError(
            f"{path} could not be repaired: {problems[0].where}: {problems[0].what}",
            hint="restore a backup; nothing was changed. The mistake is ours: please report it",
        )
    os.chmod(made, stat.S_IMODE(os.stat(path).st_mode))
    return RepairReport(
        path=path,
        damaged_pages=pages.damaged,
        tables=results,
        unattributed=unattributed,
        notes=notes + rebuilt.notes,
    )


def _counting(progress: Progress, total: int) -> Callable[[], None]:
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if done % _PROGRESS_ROWS == 0:
            progress("writing", min(done, total), total)

    return tell


@contextmanager
def _new_database(made: str, progress: Progress) -> Iterator[apsw.Connection]:
    """Yield a connection to a new database; in the end it is on the disk, and compared with what was written."""
    written = WrittenFile(made)
    try:
        _remove_log(made)
        make_private_file(made)
        try:
            connection = apsw.Connection(made, vfs=written.vfs)
            try:
                reserve_sums(connection)
                give_sums(connection)
                connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN").fetchall()
                connection.execute(schema.CREATE + schema.CREATE_REGISTERS).fetchall()
                yield connection
                connection.execute("COMMIT").fetchall()
                # As every file has it. Alone, SQLite needs no shared memory for its log, which goes with this.
                connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL").fetchall()
            finally:
                connection.close(True)
        except apsw.Error as error:
            raise failures.translate(error, made) from error
        written.verify(lambda done, total: progress("verifying", done, total))
    finally:
        written.forget()


def _remove_log(made: str) -> None:
    for ending in ("-wal", "-shm"):
        remove(made + ending)


def _place(report: RepairReport, made: str, out: str | None, now_us: int) -> RepairReport:
    if out is not None:
        put_in_place(made, out)
        return replace(report, repaired=out)
    at = datetime.fromtimestamp(now_us // 1_000_000, UTC)
    while os.path.lexists(kept := f"{report.path}.damaged-{at:%Y%m%dT%H%M%SZ}"):
        at += timedelta(seconds=1)  # that of an earlier repair stays
    replace_kept(made, report.path, kept)
    return replace(report, repaired=report.path, kept=kept)


# --- the definitions of tables ----------------------------------------------------------------------


def _definitions(
    found: Findings, path: str, backups: BackedUp, notes: list[str]
) -> Iterator[TableDefinition]:
    """Yield the definition of each table: from the catalog, or else from its stream or a backup."""
    known: set[int] = set()
    for _, table_id, text in found.whole_rows("catalog"):
        known.add(table_id)
        yield decode_definition(text)
    if found.is_complete("catalog"):
        return
    dropped = {row[0] for row in found.whole_rows("dropped")}
    for name in sorted(found.trees):
        kind, _, number = name.partition("_")
        if kind == "item" and number.isdigit() and int(number) not in known and name not in dropped:
            yield _older_definition(int(number), found, path, backups, notes)


def _older_definition(
    table_id: int, found: Findings, path: str, backups: BackedUp, notes: list[str]
) -> TableDefinition:
    candidates = [one for one in backups.definitions() if one[1].id == table_id]
    streams = [row for row in found.whole_rows("stream") if row[1] == table_id]
    candidates += [(row[3], decode_definition(row[5])) for row in streams]
    if not candidates:
        raise errors.CorruptDatabaseError(
            f"{path} cannot be repaired: the definition of table {table_id} is lost; no stream or backup has it",
            hint="give the folder of its backups with --backups, or restore a backup of the file",
        )
    at_us, definition = max(candidates, key=lambda one: one[0])
    notes.append(
        f"the definition of table {definition.name} is lost: its settings are those of {moment_text(at_us)}"
    )
    ttl = definition.ttl
    open_stream = next((row for row in streams if row[6] is None), None)
    return replace(
        definition,
        indexes=tuple(index for index in definition.indexes if schema.index_table(index.id) in found.trees),
        ttl=ttl if ttl and schema.expiry_table(ttl.id) in found.trees else None,
        stream=StreamDefinition(view=open_stream[4], created_us=open_stream[3]) if open_stream else None,
        stream_label_us=max((row[3] for row in streams), default=None),
        recovery=definition.recovery if schema.log_table(table_id) in found.trees else None,
    )


def _logged(found: Findings, tables: dict[int, Table]) -> dict[int, int]:
    """Return the tables that have a log, each with the time since when it has every change."""
    logged: dict[int, int] = dict(found.whole_rows("log"))
    if not found.is_complete("log"):
        dropped = {row[0] for row in found.whole_rows("dropped")}
        for name in found.trees:
            kind, _, number = name.partition("_")
            if kind == "log" and number.isdigit() and name not in dropped:
                table = tables.get(int(number))
                since_us = logged_since_us(table) if table and table.logs_changes else 0
                logged.setdefault(int(number), since_us)
    return logged
