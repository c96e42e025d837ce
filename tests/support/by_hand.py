"""Changing a file behind the engine's back, with right checksums: as a mistake of ours would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from singletable.storage.file.page_sums import summed


@contextmanager
def opened_by_hand(path: str | Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path), vfs=summed())
    try:
        yield connection
    finally:
        connection.close()
