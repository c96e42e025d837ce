"""The layer below SQLite that compares the checksum of every page with every read. `page_sums.c` is what it does.

docs/internals/integrity.md tells what is covered, and what it costs.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from singletable import errors

SUM_BYTES: Final = 8
CIPHERED: Final = "singletable-cipher-"  # the name of a layer that encrypts begins so
_LIBRARY: Final = Path(__file__).with_name("libpage_sums.so")
_FCNTL_SCRUB: Final = 0x53544231
_FCNTL_HAS_SUMS: Final = 0x53544232
_FCNTL_GIVE_SUMS: Final = 0x53544233
_FCNTL_GIVE_MISSING_SUMS: Final = 0x53544234
PAGES_A_LOOK: Final = 64  # as many as can be told to be damaged
_LOG_HEADER_BYTES: Final = 32
_NO_PAGE: Final = (
    apsw.SQLITE_CORRUPT,
    apsw.SQLITE_NOTADB,
)  # as the cipher calls a page whose tag does not fit
_READ_ERRORS: Final = (
    apsw.SQLITE_IOERR_READ,
    apsw.SQLITE_IOERR_SHORT_READ,
    apsw.SQLITE_IOERR_DATA,
    apsw.SQLITE_IOERR_CORRUPTFS,
)
_loading: Final = threading.Lock()


@cache
def _library() -> ctypes.CDLL:
    """Load the layer into the SQLite of this process. It stays until the process ends."""
    if not _LIBRARY.exists():
        raise errors.StorageFailedError(
            "singletable is installed without the part that is compiled from page_sums.c",
            hint="install it again with pip, or in a checkout run: python hatch_build.py",
        )
    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(_LIBRARY), "singletable_page_sums_init")
    finally:
        connection.close()
    library = ctypes.CDLL(str(_LIBRARY))
    library.singletable_damaged_page.restype = ctypes.c_int64
    library.singletable_page_sum.restype = ctypes.c_uint64
    library.singletable_page_sum.argtypes = (ctypes.c_char_p, ctypes.c_uint64)
    library.singletable_is_saved_whole.argtypes = (ctypes.c_char_p, ctypes.c_uint64)
    library.singletable_lost_transactions.restype = ctypes.c_int64
    library.singletable_lost_transactions.argtypes = (
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.POINTER(ctypes.c_int64),
    )
    return library


# SQLite's own layer. The default one is that of SQLite3 Multiple Ciphers over it, which was seen to drop a read
# error and go on with a wrong page; it is for encrypted files.
SYSTEM_VFS: Final = "unix" if os.name == "posix" else "win32"


@cache
def summed() -> str:
    """Return the name of the layer over the files of the system."""
    return summed_over(SYSTEM_VFS)


def summed_over(vfs: str) -> str:
    """Return the name of the layer over another VFS of SQLite."""
    name = f"singletable-sums-{vfs}"
    with _loading:
        _made(_library().singletable_sum_pages(vfs.encode(), name.encode()), vfs)
    return name


def ciphered_over(vfs: str | None) -> str:
    """Return the name of the layer that encrypts what goes to another VFS, or to the files of the system."""
    base = SYSTEM_VFS if vfs is None else vfs
    below, name = f"singletable-below-{base}", f"{CIPHERED}{base}"
    cipher = f"multipleciphers-{below}"
    with _loading:
        _made(_library().singletable_keep_errors(base.encode(), below.encode()), base)
        if cipher not in apsw.vfs_names():
            apsw.Connection(":memory:", vfs=cipher).close()  # SQLite makes it when it is named
        _made(_library().singletable_return_errors(cipher.encode(), name.encode()), cipher)
    return name


def _made(result: int, vfs: str) -> None:
    if result != apsw.SQLITE_OK:
        raise ValueError(f"there is no VFS called {vfs}")


def has_sums(connection: apsw.Connection) -> bool:
    """Tell whether the pages of a file end with sums, so that reads are checked."""
    answer = ctypes.c_int(0)
    connection.file_control("main", _FCNTL_HAS_SUMS, ctypes.addressof(answer))
    return bool(answer.value)


def give_sums(connection: apsw.Connection) -> None:
    """Write sums from now on, also before the header of the file says so."""
    connection.file_control("main", _FCNTL_GIVE_SUMS, 0)


def give_missing_sums(connection: apsw.Connection, *, are_known: bool = False) -> None:
    """Give sums to pages that another program has saved from the log, as sqlite3 does when it closes a file.

    Unless they are known to be there, they are looked for only if page 2, which every log has, is one of them.
    """
    known = ctypes.c_int(1)
    pointer = ctypes.addressof(known) if are_known else 0
    connection.file_control("main", _FCNTL_GIVE_MISSING_SUMS, pointer)


def reserved_bytes(connection: apsw.Connection) -> int:
    """Return how many bytes at the end of each page the header keeps for others than SQLite."""
    return int(connection.reserve_bytes("main"))


def reserve_sums(connection: apsw.Connection) -> None:
    """Keep room for sums in the pages of a file that is empty, or that VACUUM writes anew."""
    connection.reserve_bytes("main", SUM_BYTES)


def page_sum(page: bytes, number: int) -> int:
    """Return the sum that the page of that number has to end with."""
    return int(_library().singletable_page_sum(page, number))


def is_saved_whole(page: bytes, number: int) -> bool:
    """Tell whether a page is one that another program has saved: without a sum, and whole."""
    return bool(_library().singletable_is_saved_whole(page, number))


# --- damage ---------------------------------------------------------------------------------------


def is_damage(error: BaseException) -> bool:
    """Tell whether an error of SQLite says that a page has other bytes than were written."""
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA
    return _ciphered_page(error) > 0


def is_lost_read(error: BaseException) -> bool:
    """Tell whether the cipher could not decrypt a page since it could not be read."""
    return _ciphered_page(error) < 0


def forget_lost_reads() -> None:
    """Begin anew: errors of reads in this thread that nobody was told of say nothing of the reads to come."""
    _library().singletable_take_lost_error(ctypes.byref(ctypes.c_int64(0)))


def is_of_read(error: BaseException) -> bool:
    """Tell whether an error is that of reading a page, and not of writing one."""
    code = getattr(error, "extendedresult", 0)
    return code in _NO_PAGE or code in _READ_ERRORS


def _ciphered_page(error: BaseException) -> int:
    """Return the page that the cipher could not decrypt; below zero, if it could not be read; 0 for other errors.

    What is known of it is kept with the error: the next read of the thread overwrites it.
    """
    if getattr(error, "extendedresult", 0) not in _NO_PAGE:
        return 0
    if not hasattr(error, "ciphered_page"):
        page = ctypes.c_int64(0)
        is_lost = bool(_library().singletable_take_lost_error(ctypes.byref(page)))
        error.ciphered_page = -page.value if is_lost else page.value  # type: ignore[attr-defined]
    return int(error.ciphered_page)  # type: ignore[attr-defined]


def damaged_place(error: BaseException) -> str:
    """Name the page of an error that says of damage, while it is this thread's last one."""
    page = _ciphered_page(error) or int(_library().singletable_damaged_page())
    return f"page {-page} in its write-ahead log" if page < 0 else f"page {page}"


def lost_transactions(log: mmap.mmap) -> tuple[int, int]:
    """Return how many transactions of a log SQLite would leave out after a crash, and from which frame on."""
    if len(log) <= _LOG_HEADER_BYTES:
        return 0, -1
    first = ctypes.c_int64(-1)
    content = (ctypes.c_char * len(log)).from_buffer(log)
    try:
        lost = _library().singletable_lost_transactions(content, len(log), ctypes.byref(first))
    finally:
        del content  # so that the mapping can be closed
    return int(lost), int(first.value)


# --- looking at all pages ---------------------------------------------------------------------------


class _Scrub(ctypes.Structure):
    _fields_ = (
        ("first", ctypes.c_int64),
        ("pages", ctypes.c_int64),
        ("looked_at", ctypes.c_int64),
        ("found", ctypes.c_int64),
        ("without_sums", ctypes.c_int64),
        ("damaged", ctypes.c_int64 * PAGES_A_LOOK),
    )


class ScrubbedPages(NamedTuple):
    """How many pages were looked at, do not fit their sums, and have none; and the first that do not fit."""

    looked_at: int
    found: int
    without_sums: int
    damaged: list[int]


def scrub_pages(connection: apsw.Connection, first: int, pages: int = PAGES_A_LOOK) -> ScrubbedPages:
    """Compare pages of a file with their sums, from `first` on, as they stand there.

    A page that a checkpoint is just writing may be found damaged: what is found damaged is to be looked at again.
    """
    asked = _Scrub(first=first, pages=pages)
    connection.file_control("main", _FCNTL_SCRUB, ctypes.addressof(asked))
    shown = min(asked.found, PAGES_A_LOOK)
    return ScrubbedPages(asked.looked_at, asked.found, asked.without_sums, list(asked.damaged[:shown]))
