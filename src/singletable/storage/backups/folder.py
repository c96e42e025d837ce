"""The folder of a database's backups: in it a folder for each table, in that two files for each backup.

`ID.db` is the backup, `ID.json` describes it; both are encrypted if the database is. The JSON is written last and
removed first: a backup exists when its JSON does. While a backup is made, its maker holds a lock on `ID.making`.
So the leftovers of an interrupted maker can be told from a backup that another process is making.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

from singletable import errors, limits
from singletable.storage.definitions import TableDefinition, decode_definition, encode_definition
from singletable.storage.file.durable_files import (
    claimed,
    make_private_folders,
    remove,
    sync_directory,
    write_whole,
)
from singletable.storage.file.encryption import FileKey, seal, unseal
from singletable.storage.file.failures import failed_files
from singletable.storage.schema import FORMAT_VERSION

_CLEANING_S_MAX: Final = 1.0
_PARTS: Final = ("db", "db-journal", "db-wal", "db-shm", "json.new")

BackupType = Literal["USER", "SYSTEM"]
Origin = Literal["request", "schedule", "migration", "deletion"]
PRUNED: Final[tuple[Origin, ...]] = (
    "schedule",
    "migration",
)  # those that a schedule deletes when they are old
# AWS gives the backup that it makes of a deleted table this one, in place of a random number (ack-api-quirks,
# DDB-BACKUP-015).
SYSTEM_SUFFIX: Final = "00000000"
_ID: Final = re.compile(r"[0-9]{14}-[0-9a-f]{8}")
_TEXTS: Final = ("id", "name", "origin", "sha256")
_NUMBERS: Final = ("created_us", "items", "item_bytes", "file_bytes")


# --- the record beside the file of a backup: its table, when it was made, its checksum ------------


class BackupKey(NamedTuple):
    """The name of a backup: its table, and an id that begins with the time it was made. Ids sort by that time."""

    id: str
    table: str

    @property
    def created_ms(self) -> int:
        return int(self.id[:14])

    @property
    def type(self) -> BackupType:
        return "SYSTEM" if self.id.endswith(f"-{SYSTEM_SUFFIX}") else "USER"


def backup_id(created_us: int, suffix: str) -> str:
    """Return an id as AWS forms it: milliseconds in 14 digits, and 8 hexadecimal ones."""
    return f"{created_us // 1000:014d}-{suffix}"


def is_backup_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupRecord:
    """A backup. `definition` is its table's at that moment, with the settings that the file leaves out."""

    id: str
    name: str
    origin: Origin
    created_us: int
    expires_us: int | None
    definition: TableDefinition
    items: int
    item_bytes: int
    file_bytes: int = 0
    sha256: str = ""
    """Of the file; empty while that is being made."""

    @property
    def key(self) -> BackupKey:
        return BackupKey(self.id, self.definition.name)

    @property
    def is_made(self) -> bool:
        return bool(self.sha256)


def encode_record(record: BackupRecord) -> bytes:
    """Return the JSON text of a record, with a checksum of its own."""
    raw: dict[str, Any] = {name: getattr(record, name) for name in (*_TEXTS, *_NUMBERS)}
    raw["expires_us"] = record.expires_us
    raw["format"] = FORMAT_VERSION
    raw["table"] = orjson.loads(encode_definition(record.definition))
    raw["checksum"] = _checksum(raw)
    return orjson.dumps(raw, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_record(text: bytes, path: str) -> BackupRecord:
    """Decode the text of `encode_record`. Raise a CorruptDatabaseError for anything else."""
    try:
        raw = orjson.loads(text)
        checksum = raw.pop("checksum")
        if checksum != _checksum(raw):
            raise ValueError
        if raw["format"] > FORMAT_VERSION:
            raise errors.NewerFormatError(
                f"{path} has format {raw['format']}; this release reads formats up to {FORMAT_VERSION}",
                hint="upgrade singletable: pip install --upgrade singletable",
            )
        given = {name: raw[name] for name in (*_TEXTS, *_NUMBERS, "expires_us")}
        return BackupRecord(**given, definition=decode_definition(orjson.dumps(raw["table"])))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise errors.CorruptDatabaseError(
            f"{path} is damaged: it is not what was written when the backup was made",
            hint="take another backup; the file beside it can be looked at with `singletable check`",
        ) from None


def _checksum(raw: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(raw, option=orjson.OPT_SORT_KEYS)).hexdigest()


# --- the folder -----------------------------------------------------------------------------------


class BackupFolder:
    """Where backups are kept. It is made when the first one is."""

    def __init__(self, path: str | None, key: FileKey | None = None) -> None:
        self._path = path  # None: a temporary one, which goes with this object
        self.key = key  # of the database, and so of its backups
        self._finalizer: weakref.finalize[..., BackupFolder] | None = None

    @property
    def path(self) -> str:
        if self._path is None:
            self._path = tempfile.mkdtemp(prefix="singletable-backups-")
            self._finalizer = weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
        return self._path

    def hidden(self, message: str) -> str:
        """Return a message without the path of the folder, for clients that must not learn it."""
        return message if self._path is None else message.replace(self._path, "the backups")

    def close(self) -> None:
        """Remove a temporary folder."""
        if self._finalizer is not None:
            self._finalizer()

    def leave_to_parent(self) -> None:
        """In a forked child: a temporary folder goes with the process that has made it, not with this one."""
        if self._finalizer is not None:
            self._finalizer.detach()

    # --- looking ----------------------------------------------------------------------------

    def existing(self, table: str | None = None) -> list[BackupKey]:
        """Return the backups that exist, of one table or of all, the oldest first."""
        if self._path is None:
            return []
        tables = self._tables() if table is None else [table]
        found = [
            BackupKey(name.removesuffix(".json"), of)
            for of in tables
            for name in _names(os.path.join(self._path, of))
            if name.endswith(".json") and is_backup_id(name.removesuffix(".json"))
        ]
        return sorted(found)

    def read(self, key: BackupKey) -> BackupRecord | None:
        """Return the record of a backup; None if there is no such backup."""
        if self._path is None:
            return None
        record = _read(self._part(key, "json"), self.key)
        # Another key is that of a table with a name that a file system takes for the same.
        return record if record is not None and record.key == key else None

    def data_path(self, key: BackupKey) -> str:
        return self._part(key, "db")

    def _tables(self) -> list[str]:
        if self._path is None:
            return []
        return [name for name in _names(self._path) if os.path.isdir(os.path.join(self._path, name))]

    def _part(self, key: BackupKey, ending: str) -> str:
        return os.path.join(self.path, key.table, f"{key.id}.{ending}")

    # --- making and removing ------------------------------------------------------------------

    @contextmanager
    def making(self, key: BackupKey) -> Iterator[str]:
        """Yield the path to write a backup to. If the block does not publish it, all its files are removed."""
        folder, process = os.path.join(self.path, key.table), os.getpid()
        try:
            make_private_folders(folder)
            sync_directory(self.path)
            # A process that cleans up may hold the file for a moment, before its maker does.
            with claimed(self._part(key, "making"), patience_s=_CLEANING_S_MAX) as is_ours:
                if not is_ours or os.path.exists(self._part(key, "json")):
                    raise errors.BackupInUseError(f"Backup is being created: {key.id}")
                try:
                    self._remove_parts(key)
                    yield self._part(key, "db")
                finally:
                    is_parent = os.getpid() == process  # a child may come here when it ends
                    if is_parent and not os.path.exists(self._part(key, "json")):
                        self._remove_parts(key)
        except OSError as error:
            raise failed_files(error, folder) from error

    @contextmanager
    def scheduling(self) -> Iterator[bool]:
        """Yield whether nobody else makes the backups of a schedule in this folder."""
        try:
            make_private_folders(self.path)
            # No table has a name with this character.
            with claimed(os.path.join(self.path, "~schedule.lock")) as is_ours:
                yield is_ours
        except OSError as error:
            raise failed_files(error, self.path) from error

    def publish(self, record: BackupRecord) -> None:
        """Let a backup exist, after its file is complete and on the disk."""
        sync_directory(os.path.join(self.path, record.key.table))
        text = encode_record(record)
        write_whole(self._part(record.key, "json"), text if self.key is None else seal(text, self.key))

    def withdraw(self, key: BackupKey) -> None:
        """Let a backup exist no more. Its file is still there, for `remove`."""
        try:
            remove(self._part(key, "json"))
            sync_directory(os.path.join(self.path, key.table))
        except OSError as error:
            raise failed_files(error, self._part(key, "json")) from error

    def remove(self, key: BackupKey) -> None:
        """Remove a backup. It is gone after the first step, even if the process is killed before the second."""
        self.withdraw(key)
        try:
            self._remove_parts(key)
        except OSError as error:
            raise failed_files(error, self._part(key, "db")) from error

    def _remove_parts(self, key: BackupKey) -> None:
        for ending in _PARTS:
            remove(self._part(key, ending))

    # --- leftovers ------------------------------------------------------------------------------

    def clean(self, now_us: int) -> None:
        """Remove the leftovers of interrupted makers, and expired backups of deleted tables."""
        for table in self._tables():
            for name in _names(os.path.join(self.path, table)):
                identity, _, ending = name.partition(".")
                if is_backup_id(identity):
                    with contextlib.suppress(OSError):
                        self._clean(BackupKey(identity, table), ending, now_us)

    def _clean(self, key: BackupKey, ending: str, now_us: int) -> None:
        if ending == "making":
            with claimed(self._part(key, "making")) as is_ours:
                if is_ours and not os.path.exists(self._part(key, "json")):
                    self._remove_parts(key)
        elif ending == "json":
            if key.type == "SYSTEM" and key.created_ms * 1000 + limits.SYSTEM_BACKUP_S * 1_000_000 <= now_us:
                self.remove(key)
        elif not any(os.path.exists(self._part(key, other)) for other in ("json", "making")):
            # Its mark was lost in a power cut; or it is being brought here by hand, and the rest follows.
            changed_us = os.stat(self._part(key, ending)).st_mtime_ns // 1000
            if now_us - changed_us > limits.LOST_BACKUP_S * 1_000_000:
                self._remove_parts(key)


def read_beside(data_path: str, key: FileKey | None) -> BackupRecord | None:
    """Return the record of a backup, given the path of its file in any folder."""
    return _read(os.path.splitext(data_path)[0] + ".json", key)


def _read(path: str, key: FileKey | None) -> BackupRecord | None:
    try:
        with open(path, "rb") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failed_files(error, path) from error
    if text.startswith(b"{"):
        return decode_record(text, path)  # of a backup from before the file was encrypted, or of a plain file
    opened = None if key is None else unseal(text, key)
    if opened is None:
        raise errors.FileKeyError(
            f"{path} is encrypted, and its key is not that of the database",
            hint="a backup keeps the key that its database had when it was made",
        )
    return decode_record(opened, path)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise failed_files(error, folder) from error
