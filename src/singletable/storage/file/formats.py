"""Making a file, recognising one, and bringing an older one up to date."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from secrets import randbits
from typing import Any, Final

import apsw
import orjson

from singletable import errors, limits
from singletable.storage import schema
from singletable.storage.catalog import Execute, scalar
from singletable.storage.file.connections import Location, connect
from singletable.storage.file.durable_files import make_private_folders, remove
from singletable.storage.file.encryption import is_unlocked
from singletable.storage.file.failures import failed_files
from singletable.storage.file.page_copies import copy_connection, put_copy_in_place, sums_path
from singletable.storage.file.page_sums import (
    SUM_BYTES,
    give_missing_sums,
    has_sums,
    is_damage,
    reserve_sums,
    reserved_bytes,
)
from singletable.storage.file.turns import Turns
from singletable.storage.file.write_ahead_log import new_mark, write_mark
from singletable.storage.images import encode_item

_NAME: Final = re.compile(r"format-[0-9]+-([0-9]{8}T[0-9]{6}Z)\.db")
_INTERRUPTED: Final = re.compile(r"format-[0-9]+-[0-9]{8}T[0-9]{6}Z\.db\.partial")
_TIME: Final = "%Y%m%dT%H%M%SZ"
_SUMS_SINCE: Final = 4  # the format whose pages end with their sums

_log = logging.getLogger("singletable.storage")


def _mark_binary_items(execute: Execute) -> None:
    """Format 2 stores a space before items that hold binary values, in tables and in the log."""
    tables = [schema.item_table(row[0]) for row in execute("SELECT id FROM catalog")]
    columns = [(table, "id", "item") for table in tables]
    for table, row_id, column in (*columns, ("log", "seq", "before"), ("log", "seq", "after")):
        update = f"UPDATE {table} SET {column} = ? WHERE {row_id} = ?"
        for number, raw in execute(f"SELECT {row_id}, {column} FROM {table} WHERE {column} IS NOT NULL"):
            marked = encode_item(orjson.loads(raw))
            if marked != raw:
                execute(update, (marked, number))


_OLD_ENTRY: Final = "at, event, pk, sk, before, after"


def _divide_log(execute: Execute) -> None:
    """Format 3 has a log for each table, registers of streams and their readers, and settings for both.

    The old log was never trimmed. The entries that streams still show are moved; the background deletes the rest.
    """
    execute("ALTER TABLE log RENAME TO old_log").fetchall()
    execute(schema.INSERT_DROPPED, ("old_log",))
    execute(schema.CREATE_REGISTERS).fetchall()
    shown_after = _last_not_shown(execute)
    inserts: dict[int, str] = {}
    since_us: dict[int, int] = {}
    rows: list[Any] = execute("SELECT definition FROM catalog").fetchall()
    for (text,) in rows:
        raw = orjson.loads(text)
        del raw["recovery_days"]
        raw |= dict.fromkeys(("ttl", "ttl_changed_us", "recovery", "restore", "deleting_us"))
        if raw["stream_label_us"] is not None:
            raw["stream_label_us"] -= raw["stream_label_us"] % 1000
        execute("UPDATE catalog SET definition = ? WHERE name = ?", (orjson.dumps(raw), raw["name"]))
        if raw["stream"] is not None:
            since_us[raw["id"]] = raw["stream"]["created_us"]
            inserts[raw["id"]] = schema.insert_entry_of_log(raw["id"])
            _register_stream(execute, raw)
            _move_last_not_shown(execute, raw["id"], shown_after, since_us[raw["id"]])
    execute(schema.NOTE_NEWEST, (max(since_us.values(), default=0),))
    shown = f"SELECT table_id, {_OLD_ENTRY} FROM old_log WHERE seq > ? ORDER BY seq"
    for table_id, *entry in execute(shown, (shown_after,)):
        if table_id in inserts and entry[0] >= since_us[table_id]:
            execute(inserts[table_id], entry)


def _last_not_shown(execute: Execute) -> int:
    """Return the number of the last entry of the old log that is too old for a stream; its times never fall."""
    newest_us = next(execute("SELECT at FROM old_log ORDER BY seq DESC LIMIT 1"), (0,))[0]
    shown_us = newest_us - limits.STREAM_KEPT_S * 1_000_000
    with closing(execute("SELECT seq, at FROM old_log ORDER BY seq DESC")) as entries:
        return next((seq for seq, at_us in entries if at_us < shown_us), 0)


def _move_last_not_shown(execute: Execute, table_id: int, shown_after: int, since_us: int) -> None:
    """Move the newest entry that a stream no longer shows, as trimming leaves it: numbers go on behind it."""
    # Answered by the index of the old log alone.
    sql = "SELECT count(*), max(seq) FROM old_log WHERE table_id = ? AND seq <= ?"
    number, old_seq = next(execute(sql, (table_id, shown_after)))
    sql = (
        f"INSERT INTO {schema.log_table(table_id)}(seq, {_OLD_ENTRY})"
        f" SELECT ?, {_OLD_ENTRY} FROM old_log WHERE seq = ? AND at >= ?"
    )
    execute(sql, (number, old_seq, since_us))


def _register_stream(execute: Execute, raw: dict[str, Any]) -> None:
    table_id, began_us = raw["id"], raw["stream"]["created_us"]
    execute(schema.create_log_table(table_id)).fetchall()
    execute(schema.INSERT_LOG, (table_id, began_us))
    stream_id = int(scalar(execute(schema.NEXT_ID)))
    execute(
        "INSERT INTO stream(id, table_id, table_name, label, view, definition) VALUES (?, ?, ?, ?, ?, ?)",
        (stream_id, table_id, raw["name"], raw["stream_label_us"], raw["stream"]["view"], orjson.dumps(raw)),
    )
    execute(
        "INSERT INTO shard(stream_id, number, part, parts, first, began) VALUES (?, 0, 0, 1, 1, ?)",
        (stream_id, began_us),
    )


def _note_no_sums(execute: Execute) -> None:
    """Format 4 has a checksum at the end of each page. Pages get it behind this transaction, from `_give_sums`."""
    execute(schema.NOTE_NO_SUMS)


# From each older format version, the step to the next. A step runs inside the transaction that upgrades.
UPGRADES: Final[Mapping[int, Callable[[Execute], None]]] = {
    1: _mark_binary_items,
    2: _divide_log,
    3: _note_no_sums,
}


def prepare(connection: apsw.Connection, place: Location, now_us: int) -> None:
    """Make the database if the file is empty, upgrade it if it is old, refuse it if it is not ours."""
    if connection.readonly("main"):
        raise errors.ReadOnlyDatabaseError(
            f"{place.path} cannot be written", hint="check the permissions of the file and of its directory"
        )
    is_current = _is_current(connection, place)
    if not place.in_memory:
        if place.key is None:
            _check_header(connection, place.path)
            reserve_sums(connection)  # in a file that is made now, or written anew
        _use_write_ahead_log(connection, place)  # also of a copy, which SQLite has made without it
    if not is_current:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not _is_current(connection, place):  # another process may have been faster
                _create_or_upgrade(connection.execute, place, now_us)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    if place.in_memory or place.key is not None:  # the pages of an encrypted file have tags
        return
    if not has_sums(connection):
        _give_sums(connection, place.path)
    give_missing_sums(connection)


def _check_header(connection: apsw.Connection, path: str) -> None:
    """Raise if the header contradicts itself: whether pages have sums is said twice there."""
    header, seen = _header(connection.execute), None
    while header != seen:  # another process may be making or upgrading the file
        reserved = reserved_bytes(connection)
        seen, header = header, _header(connection.execute)
    _, version, is_empty = header
    if version >= _SUMS_SINCE:
        is_right = reserved == SUM_BYTES or _is_noted(connection.execute)
    else:
        is_right = reserved == 0 or is_empty
    if not is_right:
        raise errors.CorruptDatabaseError(
            f"{path} is damaged: its header says format {version}, and {reserved} bytes for the sums of pages",
            hint="run `singletable repair` on it, or restore a backup",
        )


def _is_noted(execute: Execute) -> bool:
    return next(execute(schema.HAS_NO_SUMS), None) is not None


def _give_sums(connection: apsw.Connection, path: str) -> None:
    """Write all pages of an older file anew, with their sums: in one transaction, which changes nothing else.

    Of a new file, this only brings its first pages from the log to where readers see that they have sums.
    """
    execute = connection.execute
    if _is_noted(execute):
        try:
            execute(
                "PRAGMA temp_store = FILE"
            ).fetchall()  # the copy that SQLite makes on the way is as large
            execute("VACUUM").fetchall()
            execute(schema.FORGET_NO_SUMS).fetchall()
        except apsw.Error as error:
            if is_damage(error):
                raise
            _log.warning("%s has no checksums yet, since it could not be written anew: %s", path, error)
            return
        finally:
            execute("PRAGMA temp_store = MEMORY").fetchall()
    turns = Turns(path)
    for tries in itertools.count():
        execute("PRAGMA wal_checkpoint").fetchall()
        execute("SELECT count(*) FROM sqlite_schema").fetchall()
        if has_sums(connection):
            return
        if not turns.wait(tries):
            return  # somebody reads an older state; the next open looks again


def _use_write_ahead_log(connection: apsw.Connection, place: Location) -> None:
    """Switch a file to SQLite's write-ahead log. Where several processes do, SQLite does not wait by itself."""
    if scalar(connection.execute("PRAGMA journal_mode")) == "wal":
        return
    turns = Turns(place.path)
    for tries in itertools.count():
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except apsw.BusyError:
            if not turns.wait(tries):
                raise


def format_version(execute: Execute) -> int:
    return int(scalar(execute("PRAGMA user_version")))


# In one statement, so that another process that is making the database is seen before or after, not half way.
_SELECT_HEADER: Final = """
SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
       NOT EXISTS (SELECT 1 FROM sqlite_schema)
"""


def _header(execute: Execute) -> tuple[int, int, bool]:
    """Return the application id and the format version of a file, and whether it is empty."""
    rows: list[Any] = execute(_SELECT_HEADER).fetchall()
    application, version, is_empty = rows[0]
    return application, version, bool(is_empty)


def check_recognised(execute: Execute, path: str) -> int:
    """Return the format of a file, 0 for an empty one. Raise unless it is of a format that this release knows."""
    application, version, is_empty = _header(execute)
    if application != schema.APPLICATION_ID and not (is_empty and application == version == 0):
        raise errors.NotADatabaseError(
            f"{path} is an SQLite database, but not one of singletable",
            hint="give the path of a database made by singletable, or of a file that does not exist yet",
        )
    check_known(version, path)
    return version


def check_readable(connection: apsw.Connection, path: str) -> int:
    """Return the format of a file that is read and not opened for writing. Raise unless its header fits itself."""
    version = check_recognised(connection.execute, path)
    if not is_unlocked(connection):  # of an encrypted file, a header that is damaged cannot be decrypted
        _check_header(connection, path)
    return version


def check_not_upgraded(execute: Execute, path: str) -> None:
    """Raise when a newer release has changed the format of a file that is open here."""
    check_known(format_version(execute), path)


def check_known(version: int, path: str) -> None:
    """Raise if a format is newer than this release."""
    if version > schema.FORMAT_VERSION:
        raise errors.NewerFormatError(
            f"{path} has format {version}; this release reads formats up to {schema.FORMAT_VERSION}",
            hint="upgrade singletable: pip install --upgrade singletable",
        )


def _is_current(connection: apsw.Connection, place: Location) -> bool:
    return check_recognised(connection.execute, place.path) == schema.FORMAT_VERSION


def _create_or_upgrade(execute: Execute, place: Location, now_us: int) -> None:
    version = format_version(execute)
    if version == 0:
        execute(schema.CREATE + schema.CREATE_REGISTERS).fetchall()
        if not place.in_memory:
            write_mark(execute, new_mark(randbits), is_new_file=True)
        return
    if not place.in_memory:
        copy_before_upgrade(place, version, now_us)
    while version < schema.FORMAT_VERSION:
        UPGRADES[version](execute)
        version += 1
        execute(f"PRAGMA user_version = {version}").fetchall()


# --- copies of a file of an older format, kept in the folder of its backups -----------------------


def copy_before_upgrade(place: Location, version: int, now_us: int) -> None:
    """Copy a file before its upgrade, while nobody else can change it. If the copy fails, there is no upgrade."""
    folder = place.backups
    if folder is None:
        return
    at = datetime.fromtimestamp(now_us // 1_000_000, UTC).strftime(_TIME)
    path = os.path.join(folder, f"format-{version}-{at}.db")
    made = f"{path}.partial"
    try:
        make_private_folders(folder)
        for name in os.listdir(folder):
            if _INTERRUPTED.fullmatch(name):
                remove(os.path.join(folder, name))
        source = connect(place)
        try:
            put_copy_in_place(made, path, copy_connection(source, made, key=place.key))
        finally:
            source.close(True)
            with contextlib.suppress(OSError):
                remove(made)
    except OSError as error:
        raise failed_files(error, path) from error


def old_copies(folder: str, before_us: int) -> list[tuple[str, int]]:
    """Return the names of copies that were made before a moment, each with its time."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(folder):
            match = _NAME.fullmatch(name)
            if match is None:
                continue
            made = datetime.strptime(match[1], _TIME).replace(tzinfo=UTC)
            made_us = int(made.timestamp()) * 1_000_000
            if made_us <= before_us:
                found.append((name, made_us))
    return found


def remove_old_copies(folder: str, before_us: int) -> None:
    """Remove copies that were made before a moment."""
    for name, _ in old_copies(folder, before_us):
        with contextlib.suppress(FileNotFoundError):
            remove(os.path.join(folder, name))
            remove(sums_path(os.path.join(folder, name)))
