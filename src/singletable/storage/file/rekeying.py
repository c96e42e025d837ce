"""Giving a file another key, a first one, or none: `encrypt`, `decrypt`, `rekey`.

The file is written anew beside itself, brought to the disk, read back, and put in its place in one step. A kill at
any moment leaves the old file or the new one, whole, and at most a `….partial`, which the next try removes. Nobody
may have the file open meanwhile: SQLite cannot change the key below a connection. A wrapped key is put down before
that, as `FILE.key.next`, so that the key of either file is there.
"""

from __future__ import annotations

import os
import urllib.parse
from contextlib import closing
from secrets import randbits
from typing import Any

import apsw

from singletable import errors
from singletable.storage import schema
from singletable.storage.file import failures
from singletable.storage.file.durable_files import make_private_file, put_in_place, remove, write_whole
from singletable.storage.file.encryption import FileKey, header_of, is_encrypted, not_encrypted
from singletable.storage.file.file_copies import alone, claimed_temporary
from singletable.storage.file.formats import check_recognised
from singletable.storage.file.given_keys import (
    GivenKey,
    KeySource,
    envelope_path,
    key_for,
    new_key,
    promote_envelope,
    wrapped,
)
from singletable.storage.file.page_copies import WrittenFile
from singletable.storage.file.page_sums import reserve_sums
from singletable.storage.file.write_ahead_log import change_mark, check_log_belongs, new_mark


def encrypt_file(path: str, key: GivenKey) -> None:
    """Encrypt a plain file that nobody has open."""
    failures.require_file(path)
    if is_encrypted(header_of(path)):
        raise errors.FileKeyError(
            f"{path} is encrypted already", hint="give it another key: singletable rekey, or rekey_file"
        )
    _rewrite(path, None, key)


def decrypt_file(path: str, key: GivenKey) -> None:
    """Make a plain file of an encrypted one that nobody has open."""
    _rewrite(path, _known_key(path, key), None)


def rekey_file(path: str, key: GivenKey, new: GivenKey) -> None:
    """Encrypt a file that nobody has open with another key. Its older backups keep the key that they have."""
    _rewrite(path, _known_key(path, key), new)


def rewrap_key(path: str, old: KeySource, new: KeySource) -> None:
    """Wrap the key of a file with the newest master key of a source. The file stays as it is, and in use."""
    write_whole(envelope_path(path), wrapped(_known_key(path, old).raw, new))


def _known_key(path: str, key: GivenKey) -> FileKey:
    failures.require_file(path)
    if not is_encrypted(header_of(path)):
        raise not_encrypted(path)
    return key_for(path, key, may_make=False)


def _rewrite(path: str, old: FileKey | None, given: GivenKey | None) -> None:
    try:
        check_log_belongs(path, old)
        with claimed_temporary(path) as made, alone(path, old) as connection:
            if connection is None:
                raise errors.CorruptDatabaseError(
                    f"{path} cannot be read as a database",
                    hint=f"see what is wrong: singletable check {path}",
                )
            if check_recognised(connection.execute, path) != schema.FORMAT_VERSION:
                raise errors.NotADatabaseError(
                    f"{path} has an older format", hint="open it once with Database.open, which upgrades it"
                )
            new = None if given is None else new_key(path, given)
            _write_anew(connection, made, new)
            put_in_place(made, path)
            if isinstance(given, KeySource):
                promote_envelope(path)
            else:
                remove(envelope_path(path))
    except apsw.Error as error:
        raise failures.translate(error, path) from error
    except OSError as error:
        raise failures.failed_files(error, path) from error


def _write_anew(old: apsw.Connection, made: str, key: FileKey | None) -> None:
    """Write all that a connection sees to a new file, under another key, and compare that with the disk."""
    written = WrittenFile(made, key)
    try:
        make_private_file(made)
        execute = old.execute
        execute("BEGIN").fetchall()
        statements: list[Any] = execute("SELECT sql FROM main.sqlite_schema WHERE sql IS NOT NULL").fetchall()
        names: list[Any] = execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall()
        execute("COMMIT").fetchall()  # nobody else can write: the file is held alone
        with closing(written.connect()) as connection:
            if key is None:
                reserve_sums(connection)
            create = "; ".join(sql for (sql,) in statements)  # in their order: the first table gets its page
            connection.execute(
                f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {create};"
                f"PRAGMA application_id = {schema.APPLICATION_ID};"
                f"PRAGMA user_version = {schema.FORMAT_VERSION}; COMMIT"
            ).fetchall()
        address = f"file:{urllib.parse.quote(os.path.abspath(made))}?vfs={written.vfs}"
        execute(
            "ATTACH ? AS new KEY ?",
            (address, "") if key is None else (f"{address}&cipher=aegis", key.text),
        ).fetchall()
        execute(
            "PRAGMA new.journal_mode = OFF; PRAGMA new.synchronous = OFF; PRAGMA new.mmap_size = 0; BEGIN"
        ).fetchall()
        for (name,) in names:
            execute(f"INSERT INTO new.{name} SELECT * FROM main.{name}").fetchall()
        execute("COMMIT; DETACH new").fetchall()
        with closing(written.connect()) as connection:
            change_mark(connection.execute, new_mark(randbits))
        written.verify()
    finally:
        written.forget()
