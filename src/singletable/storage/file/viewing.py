"""Reading a file that others may be writing, without any means to change it: for commands that only look."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TypeVar

import apsw

from singletable import errors
from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute, catalog_version, load_catalog
from singletable.storage.file import failures
from singletable.storage.file.connections import connect_for_reading
from singletable.storage.file.encryption import FileKey
from singletable.storage.file.formats import check_readable
from singletable.storage.file.given_keys import key_of
from singletable.storage.file.open_files import OpenFiles
from singletable.storage.file.write_ahead_log import check_log_belongs
from singletable.storage.reading import snapshot

T = TypeVar("T")

_CATALOG_TRIES_MAX: Final = 100


class FileView:
    """A database file. It is neither made nor upgraded; writers are not held up."""

    def __init__(self, path: str, key: FileKey | None = None) -> None:
        failures.require_file(path)
        self.path = path
        key = key_of(path, key)
        try:
            check_log_belongs(path, key)
            self._files = OpenFiles(path, key)
            self._files.learn()
            self._connection = connect_for_reading(path, key)
            try:
                self._files.learn_beside()
            except BaseException:
                self._connection.close(True)
                raise
        except apsw.Error as error:
            raise failures.translate(error, path) from error

    def read(self, work: Callable[[Execute, Catalog], T]) -> T:
        """Run `work` with a connection and the catalog that was valid for its reads. It may run twice."""
        execute = self._connection.execute
        self._files.check()  # a command that follows a removed file would wait for ever
        try:
            for _ in range(_CATALOG_TRIES_MAX):
                self._check_format()
                with snapshot(execute):
                    catalog = load_catalog(execute)
                try:
                    result = work(execute, catalog)
                except apsw.SQLError:
                    if catalog_version(execute) == catalog.version:
                        raise
                    continue
                if catalog_version(execute) == catalog.version:
                    return result
        except apsw.Error as error:
            raise failures.translate(error, self.path) from error
        raise failures.not_understood(self.path)

    def _check_format(self) -> None:
        version = check_readable(self._connection, self.path)
        if version != schema.FORMAT_VERSION:
            raise errors.NotADatabaseError(
                f"{self.path} has format {version}; only format {schema.FORMAT_VERSION} can be read as it is",
                hint="open it once with Database.open, which upgrades it or makes it",
            )

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
