"""The folder of a database's backups: in it a folder for each table, in that two files for each backup.

`ID.db` is the backup, `ID.json` says what it is. The second is written last, and removed first: a backup exists
when its JSON does. While one is made there is `ID.making`, which its maker holds locked; so what was left of one
that was interrupted is told from one that another process is making.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from singletable import errors, limits
from singletable.storage.backup_records import (
    BackupKey,
    BackupRecord,
    decode_record,
    encode_record,
    is_backup_id,
)
from singletable.storage.durable_files import (
    claimed,
    make_private_folders,
    remove,
    sync_directory,
    write_whole,
)
from singletable.storage.failures import failed_files

_CLEANING_S_MAX: Final = 1.0
_PARTS: Final = ("db", "db-journal", "db-wal", "db-shm", "json.new")


class BackupFolder:
    """Where backups are kept. It is made when the first one is."""

    def __init__(self, path: str | None) -> None:
        self._path = path  # None: a temporary one, which goes with this object
        self._finalizer: weakref.finalize[..., BackupFolder] | None = None

    @property
    def path(self) -> str:
        if self._path is None:
            self._path = tempfile.mkdtemp(prefix="singletable-backups-")
            self._finalizer = weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)
        return self._path

    def hidden(self, message: str) -> str:
        """Return a message without the place of the folder, for those who are not to know it."""
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
        """Return what a backup is; None if there is none."""
        if self._path is None:
            return None
        record = _read(self._part(key, "json"))
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
        """Yield the path to write a backup to. If it is not published in this block, nothing stays of it."""
        folder, process = os.path.join(self.path, key.table), os.getpid()
        try:
            make_private_folders(folder)
            sync_directory(self.path)
            # Whoever cleans up may hold the file for a moment, before its maker does.
            with claimed(self._part(key, "making"), patience_s=_CLEANING_S_MAX) as is_ours:
                if not is_ours or os.path.exists(self._part(key, "json")):
                    raise errors.BackupInUseError(f"Backup is being created: {key.id}")
                try:
                    self._remove_parts(key)
                    yield self._part(key, "db")
                finally:
                    is_parent = os.getpid() == process  # whose it is; a child may come here when it ends
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
        """Let a backup exist, whose file is complete and on the disk."""
        sync_directory(os.path.join(self.path, record.key.table))
        write_whole(self._part(record.key, "json"), encode_record(record))

    def withdraw(self, key: BackupKey) -> None:
        """Let a backup exist no more. Its file is still there, for `remove`."""
        try:
            remove(self._part(key, "json"))
            sync_directory(os.path.join(self.path, key.table))
        except OSError as error:
            raise failed_files(error, self._part(key, "json")) from error

    def remove(self, key: BackupKey) -> None:
        """Remove a backup. Who is killed in between has removed it."""
        self.withdraw(key)
        try:
            self._remove_parts(key)
        except OSError as error:
            raise failed_files(error, self._part(key, "db")) from error

    def _remove_parts(self, key: BackupKey) -> None:
        for ending in _PARTS:
            remove(self._part(key, ending))

    # --- what is left over ----------------------------------------------------------------------

    def clean(self, now_us: int) -> None:
        """Remove what interrupted makers have left, and backups of deleted tables that have expired."""
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


def read_beside(data_path: str) -> BackupRecord | None:
    """Return what a backup is, given its file, in whatever folder that lies."""
    return _read(os.path.splitext(data_path)[0] + ".json")


def _read(path: str) -> BackupRecord | None:
    try:
        with open(path, "rb") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failed_files(error, path) from error
    return decode_record(text, path)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise failed_files(error, folder) from error
