"""Copies of a file of an older format, made before it is upgraded and kept in the folder of its backups."""

from __future__ import annotations

import contextlib
import os
import re
from datetime import UTC, datetime
from typing import Final

from singletable.storage.connections import Place, connect
from singletable.storage.durable_files import make_private_folders, remove
from singletable.storage.failures import failed_files
from singletable.storage.page_copies import copy_connection, put_copy_in_place, sums_path

_NAME: Final = re.compile(r"format-[0-9]+-([0-9]{8}T[0-9]{6}Z)\.db")
_INTERRUPTED: Final = re.compile(r"format-[0-9]+-[0-9]{8}T[0-9]{6}Z\.db\.partial")
_TIME: Final = "%Y%m%dT%H%M%SZ"


def copy_before_upgrade(place: Place, version: int, now_us: int) -> None:
    """Keep a file as it is, while nobody else can change it. Without a copy, there is no upgrade."""
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
            put_copy_in_place(made, path, copy_connection(source, made))
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
