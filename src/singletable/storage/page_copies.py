"""Copies of whole databases, page by page: from a connection to a new file, with a checksum beside it.

A copy is written under another name, brought to the disk, read back from there and compared, and only then gets
its name. The checksum is its SHA-256, in the form that `sha256sum -c` reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

import apsw

from singletable.storage import failures
from singletable.storage.durable_files import make_private_file, put_in_place, write_whole
from singletable.storage.write_ahead_log import change_mark, new_mark
from singletable.storage.written_pages import WrittenFile

Phase = Literal["copying", "verifying"]
Progress = Callable[[Phase, int, int], None]
"""Called with what is being done, how many bytes or pages of it are, and of how many."""

_PAGES_A_STEP: Final = 256


class Copied(NamedTuple):
    """A file that is complete: its size, and its checksum."""

    bytes: int
    sha256: str


def no_progress(phase: Phase, done: int, total: int) -> None:
    pass


def sums_path(path: str) -> str:
    """Return where the checksum of a file stands."""
    return f"{path}.sha256"


def copy_connection(source: apsw.Connection, path: str, progress: Progress = no_progress) -> Copied:
    """Write the state that a connection sees now to a new file, and verify that."""
    written = WrittenFile(path)
    try:
        source.execute("BEGIN").fetchall()
        try:
            # Its transaction keeps the connection to one state, so the copy never has to begin again.
            source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            _copy_pages(source, written, progress)
        finally:
            source.execute("ROLLBACK").fetchall()
        sha256 = written.verify(lambda done, total: progress("verifying", done, total))
        return Copied(os.stat(path).st_size, sha256)
    finally:
        written.forget()


def _copy_pages(source: apsw.Connection, written: WrittenFile, progress: Progress) -> None:
    try:
        make_private_file(written.path)
        target = apsw.Connection(written.path, vfs=written.vfs)
        try:
            target.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").fetchall()
            with target.backup("main", source, "main") as pages:
                while not pages.done:
                    pages.step(_PAGES_A_STEP)
                    progress("copying", pages.page_count - pages.remaining, pages.page_count)
            change_mark(target.execute, new_mark(written.number_of_contents))
        finally:
            target.close(True)
    except apsw.Error as error:
        raise failures.translate(error, written.path) from error


def put_copy_in_place(made: str, copy: str, copied: Copied) -> None:
    """Give a copy its name. At no moment is there one under it to which no checksum fits."""
    old = read_sums(copy) if os.path.exists(copy) else []
    _write_sums(copy, [copied.sha256, *old])
    put_in_place(made, copy)
    _write_sums(copy, [copied.sha256])


def _write_sums(path: str, sums: list[str]) -> None:
    name = os.path.basename(path)
    write_whole(sums_path(path), "".join(f"{one}  {name}\n" for one in sums).encode())


def read_sums(path: str) -> list[str]:
    """Return the checksums that may be those of a file: two, when its making was interrupted at the last step."""
    try:
        with open(sums_path(path), encoding="utf-8", errors="replace") as file:
            lines = [line.rstrip("\n").partition(" ") for line in file]
    except FileNotFoundError:
        return []
    name = os.path.basename(path)
    return [one.lower() for one, _, of in lines if os.path.basename(of.lstrip(" *")) == name]
