"""Where a lost item may still be: the log of its table, the past in that log, and the backups of the table."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, NamedTuple

import apsw

from singletable import errors
from singletable.storage import schema
from singletable.storage.backups.files import open_backup
from singletable.storage.backups.folder import BackupFolder, BackupRecord
from singletable.storage.definitions import TableDefinition
from singletable.storage.images import PrimaryKey
from singletable.storage.log import EXPIRED, REMOVED, Entry

Source = Literal["log", "past", "backup"]


class Recovered(NamedTuple):
    """The image of a lost item that some place still has."""

    raw: bytes
    source: Source
    at_us: int
    """The moment up to which it is known to have been so."""
    may_be_older: bool
    """Whether the item may have changed after that."""


@dataclass(frozen=True, slots=True)
class LogNews:
    """What the log of a table tells of the items that are lost."""

    newest: dict[PrimaryKey, Entry]
    """The newest entry of each of them that can be read."""
    exact_from: int
    """From this number on, the log has every change up to now."""
    exact_from_us: int
    """From this moment on."""

    def knows(self, entry: Entry | None) -> bool:
        """Tell whether an entry is the newest change of its item."""
        return entry is not None and entry.seq >= self.exact_from

    def image(self, key: PrimaryKey) -> Recovered | None:
        """Return the item as its newest entry left it, or found it."""
        entry = self.newest.get(key)
        if entry is None or entry.event in (REMOVED, EXPIRED):
            return None
        if entry.after is not None:
            return Recovered(entry.after, "log", entry.at_us, not self.knows(entry))
        return None if entry.before is None else Recovered(entry.before, "past", entry.at_us - 1, True)


def newest_entries(entries: Iterable[Entry], keys: Container[PrimaryKey] | None) -> dict[PrimaryKey, Entry]:
    """Return the newest entry of each key; `keys` are those that matter."""
    newest: dict[PrimaryKey, Entry] = {}
    for entry in entries:
        if keys is None or entry.key in keys:
            known = newest.get(entry.key)
            if known is None or known.seq < entry.seq:
                newest[entry.key] = entry
    return newest


def choose(
    image: Recovered | None, backup: Recovered | None, news: LogNews, key: PrimaryKey
) -> Recovered | None:
    """Choose the newest image. That of a backup is the lost one if nothing has changed since, as the log knows."""
    if backup is None or (image is not None and (not image.may_be_older or image.at_us >= backup.at_us)):
        return image
    entry = news.newest.get(key)
    is_logged = backup.at_us >= news.exact_from_us
    return backup._replace(may_be_older=not is_logged or (entry is not None and entry.at_us > backup.at_us))


# --- backups --------------------------------------------------------------------------------------


class BackedUp:
    """The backups of one file, as far as they can be read."""

    def __init__(self, folder: str) -> None:
        self._records = list(_records(BackupFolder(folder))) if os.path.isdir(folder) else []
        self._data = BackupFolder(folder)

    def definitions(self) -> Iterator[tuple[int, TableDefinition]]:
        """Yield the definitions of tables, each with its time, the newest first."""
        for record in self._records:
            yield record.created_us, record.definition

    def items(self, table: TableDefinition, keys: Iterable[PrimaryKey]) -> dict[PrimaryKey, Recovered]:
        """Return items of a table from its newest backup; where that is damaged, from the one before it."""
        left, found = set(keys), dict[PrimaryKey, Recovered]()
        for record in self._records:
            if not left:
                break
            if record.definition.uuid == table.uuid:
                left -= self._look_up(record, left, found)
        return found

    def _look_up(
        self, record: BackupRecord, keys: set[PrimaryKey], found: dict[PrimaryKey, Recovered]
    ) -> set[PrimaryKey]:
        """Look for items in one backup. Return the keys that it could be asked for."""
        asked: set[PrimaryKey] = set()
        with contextlib.suppress(errors.DatabaseError), ExitStack() as stack:
            connection = stack.enter_context(open_backup(self._data.data_path(record.key)))
            sql = schema.select_item(record.definition.id)
            for key in keys:
                try:
                    row = next(connection.execute(sql, key), None)
                except apsw.IOError:
                    continue
                asked.add(key)
                if row is not None:
                    found[key] = Recovered(bytes(row[1]), "backup", record.created_us, True)
        return asked


def _records(folder: BackupFolder) -> Iterator[BackupRecord]:
    for key in reversed(folder.existing()):
        with contextlib.suppress(errors.DatabaseError):
            record = folder.read(key)
            if record is not None and record.is_made:
                yield record
