"""Encrypted files: the key of a file, how a connection gets it, and small secrets that stand beside a file.

The cipher is AEGIS-256 of SQLite3 Multiple Ciphers. Each page has a random nonce and a tag over its bytes and its
number, so a page that was changed or moved is an error. A key is 32 bytes. One that is made of a passphrase has a
salt, which is the first 16 bytes of the file.

A key never stands in a message, a repr or a pickle. SQLite takes it as the text of a statement, which is not
cached.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from contextlib import closing
from typing import Final, NoReturn

import apsw

from singletable import errors
from singletable.storage.file.page_sums import (
    CIPHERED,
    PAGES_A_LOOK,
    SYSTEM_VFS,
    ScrubbedPages,
    ciphered_over,
    forget_lost_reads,
    is_damage,
    is_lost_read,
)
from singletable.storage.file.turns import Turns

KEY_BYTES: Final = 32
SALT_BYTES: Final = 16
PAGE_BYTES: Final = 4096
RESERVED_BYTES: Final = 64  # in each page: a nonce and a tag

_PLAIN: Final = b"SQLite format 3\x00"
# Behind the salt, the header of an encrypted file is readable: page size, formats, reserved bytes, constants.
_CLEAR: Final = bytes((0x10, 0x00)), bytes((RESERVED_BYTES, 64, 32, 32))
_HEADER_BYTES: Final = 24
# What OWASP's cheat sheet "Password Storage" asks of scrypt at least. It takes 64 MiB and about 0.3 s.
_SCRYPT_N: Final = 1 << 16
_SCRYPT_R: Final = 8
_SCRYPT_P: Final = 2
_SCRYPT_BYTES: Final = 80 << 20
# Larger than the default, since it stands in for the mapped file; a commit of another connection empties it.
_CACHE_KIB: Final = 16384
_SECRET_PAGE_BYTES: Final = 1024
_PAGES_TRIED: Final = 16  # with a key that does not decrypt the first one


class FileKey:
    """The key of the pages of a file."""

    __slots__ = ("__key", "__salt")

    def __init__(self, key: bytes, salt: bytes | None = None) -> None:
        if len(key) != KEY_BYTES:
            raise errors.FileKeyError(
                f"a key is {KEY_BYTES} bytes, and this one is {len(key)}",
                hint="make one: openssl rand -hex 32, and bytes.fromhex; or give a passphrase, which is a text",
            )
        self.__key = bytes(key)
        self.__salt = salt

    @classmethod
    def of_passphrase(cls, passphrase: str, salt: bytes) -> FileKey:
        """Derive a key. It takes a third of a second, which whoever tries passphrases has to spend too."""
        key = hashlib.scrypt(
            passphrase.encode(),
            salt=salt,
            n=_SCRYPT_N,
            r=_SCRYPT_R,
            p=_SCRYPT_P,
            maxmem=_SCRYPT_BYTES,
            dklen=KEY_BYTES,
        )
        return cls(key, salt)

    @property
    def raw(self) -> bytes:
        return self.__key

    def unlock(self, connection: apsw.Connection) -> None:
        """Let a connection encrypt and decrypt its file."""
        connection.execute("PRAGMA cipher = 'aegis'; PRAGMA temp_store = MEMORY").fetchall()
        try:
            connection.execute(f"PRAGMA key = '{self.text}'", can_cache=False).fetchall()
        except apsw.Error:
            pass  # its traceback has the statement
        else:
            return
        raise errors.StorageFailedError(
            "SQLite has not taken the key", hint="look at the memory of this machine"
        )

    @property
    def text(self) -> str:
        """The form in which SQLite takes it. It must not be kept, nor shown."""
        return f"raw:{self.__key.hex()}{'' if self.__salt is None else self.__salt.hex()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileKey) and secrets.compare_digest(self.__key, other.__key)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "<FileKey>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("the key of a file cannot be pickled")


# --- what a file is -------------------------------------------------------------------------------


def read_header(connection: apsw.Connection) -> bytes:
    """Return the first bytes of a file, as they stand there. The connection has no key yet."""
    try:
        return bytes(connection.read("main", 0, 0, _HEADER_BYTES)[1])
    except apsw.Error:
        return b""


def header_of(path: str) -> bytes:
    """Return the first bytes of a file. SQLite reads them: to close a file of our own would drop its locks."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return b""
    try:
        with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=SYSTEM_VFS)) as connection:
            return read_header(connection)
    except apsw.Error:
        return b""


def is_plain(header: bytes) -> bool:
    return header.startswith(_PLAIN)


def is_encrypted(header: bytes) -> bool:
    """Tell whether the beginning of a file is that of an encrypted one."""
    size, rest = _CLEAR
    return not is_plain(header) and header[16:18] == size and header[20:24] == rest


def open_encrypted(
    path: str, key: FileKey, flags: int, vfs: str | None, address: str | None = None
) -> apsw.Connection:
    """Open a connection that has the key of the file. Raise a FileKeyError if the key is not that of the file."""
    connection = apsw.Connection(address or path, flags=flags, vfs=ciphered_over(vfs))
    forget_lost_reads()
    try:
        connection.set_busy_handler(Turns(path).wait)  # another process may be making the file
        header = read_header(connection)
        if is_plain(header):
            raise not_encrypted(path)
        key.unlock(connection)
        if any(header):
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            _require_fits(connection, path)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}").fetchall()
    except BaseException:
        connection.close(True)
        raise
    return connection


def _require_fits(connection: apsw.Connection, path: str) -> None:
    """Raise unless the key decrypts the file. If page 1 is damaged, another one tells that the key is right."""
    try:
        connection.execute("PRAGMA schema_version").fetchall()  # also from the log, which may have that page
    except apsw.Error as error:
        if not is_damage(error):
            raise
        pages = os.path.getsize(path) // PAGE_BYTES
        if not any(_can_decrypt(connection, page) for page in range(1, min(pages, _PAGES_TRIED) + 1)):
            raise wrong_key(path) from None
        raise errors.DamagedDataError(
            f"{path}: page 1 is damaged", hint="restore a backup; nothing can be read without this page"
        ) from None


def _can_decrypt(connection: apsw.Connection, page: int) -> bool:
    try:
        return bool(connection.read("main", 0, (page - 1) * PAGE_BYTES, PAGE_BYTES)[0])
    except (apsw.NotADBError, apsw.CorruptError):
        return False


def is_unlocked(connection: apsw.Connection) -> bool:
    """Tell whether a connection decrypts what it reads."""
    return connection.open_vfs.startswith(CIPHERED)


def wrong_key(path: str) -> errors.FileKeyError:
    return errors.FileKeyError(
        f"{path} cannot be read with this key: it is not the one that the file was encrypted with",
        hint="give the key of this file; a backup keeps the key that its database had when it was made",
    )


def not_encrypted(path: str) -> errors.FileKeyError:
    return errors.FileKeyError(
        f"{path} is not encrypted, and a key was given for it",
        hint=f"leave the key out; or encrypt the file: singletable encrypt {path}",
    )


def missing_key(path: str) -> errors.FileKeyError:
    return errors.FileKeyError(
        f"{path} is encrypted, and no key was given",
        hint="give its key: Database.open(path, key=...), or --key-file on the command line",
    )


def look_at_pages(connection: apsw.Connection, first: int, pages: int = PAGES_A_LOOK) -> ScrubbedPages:
    """Decrypt pages of an encrypted file as they stand there, and say which ones cannot be."""
    looked_at, damaged = 0, []
    forget_lost_reads()
    for page in range(first, first + pages):
        try:
            is_whole, _ = connection.read("main", 0, (page - 1) * PAGE_BYTES, PAGE_BYTES)
            if not is_whole:
                break
        except (apsw.NotADBError, apsw.CorruptError) as error:
            if is_lost_read(error):
                raise
            damaged.append(page)
        looked_at += 1
    return ScrubbedPages(looked_at, len(damaged), 0, damaged)


# --- small secrets ----------------------------------------------------------------------------------


def seal(secret: bytes, key: FileKey) -> bytes:
    """Encrypt a few bytes: they become a small encrypted database, since Python has no such cipher of its own."""
    with tempfile.TemporaryDirectory(prefix="singletable-") as folder:
        path = os.path.join(folder, "sealed")
        connection = apsw.Connection(path, vfs=ciphered_over(None))
        try:
            key.unlock(connection)
            connection.execute(
                f"PRAGMA page_size = {_SECRET_PAGE_BYTES}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                "CREATE TABLE secret(value BLOB)"
            ).fetchall()
            connection.execute("INSERT INTO secret VALUES (?)", (secret,)).fetchall()
        finally:
            connection.close(True)
        with open(path, "rb") as file:
            return file.read()


def unseal(sealed: bytes, key: FileKey) -> bytes | None:
    """Return what was sealed; None if it was sealed with another key, or was changed."""
    with tempfile.NamedTemporaryFile(prefix="singletable-") as file:
        file.write(sealed)
        file.flush()
        connection = apsw.Connection(
            f"file:{file.name}?immutable=1",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            vfs=ciphered_over(None),
        )
        try:
            key.unlock(connection)
            return bytes(next(connection.execute("SELECT value FROM secret"))[0])
        except (apsw.Error, StopIteration):
            return None
        finally:
            connection.close(True)


class PageReader:
    """Decrypts pages that stand elsewhere than in their file, as those in a log. It keeps no text of them."""

    def __init__(self, key: FileKey) -> None:
        # Of encrypted pages; `close` removes it.
        self._file = tempfile.NamedTemporaryFile(prefix="singletable-")  # noqa: SIM115
        self._file.write(bytes(2 * PAGE_BYTES))
        self._file.flush()
        self._connection = apsw.Connection(
            f"file:{self._file.name}?immutable=1",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            vfs=ciphered_over(None),
        )
        key.unlock(self._connection)

    def decrypt(self, number: int, page: bytes) -> bytes | None:
        """Return what one of the first two pages says; None if it was encrypted with another key."""
        os.pwrite(self._file.fileno(), page, (number - 1) * PAGE_BYTES)
        try:
            return bytes(self._connection.read("main", 0, (number - 1) * PAGE_BYTES, PAGE_BYTES)[1])
        except (apsw.NotADBError, apsw.CorruptError):
            return None

    def close(self) -> None:
        self._connection.close(True)
        self._file.close()
