"""What a user gives as a key, and the key of the file that it stands for.

32 bytes are the key itself. A passphrase is stretched with the salt of the file. A key source, as AWS KMS, has a
master key that never leaves it: a file gets a random key, which the source wraps, and which stands wrapped beside
the file, in `FILE.key`. While a file gets another key, the new one stands in `FILE.key.next`; whichever fits the
file is its key.
"""

from __future__ import annotations

import base64
import os
import re
import secrets
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import apsw
import orjson

from singletable import errors
from singletable.storage.file import failures
from singletable.storage.file.connections import create_file
from singletable.storage.file.durable_files import claimed, put_in_place, write_whole
from singletable.storage.file.encryption import (
    KEY_BYTES,
    SALT_BYTES,
    FileKey,
    header_of,
    is_plain,
    not_encrypted,
    open_encrypted,
    seal,
    unseal,
    wrong_key,
)
from singletable.storage.file.write_ahead_log import check_log_belongs

PASSPHRASE_CHARACTERS_MIN: Final = 8

_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
_MASTER: Final = re.compile(r"[0-9a-f]{8}")
_PATIENCE_S: Final = 10.0
_FORMAT: Final = 1


@runtime_checkable
class KeySource(Protocol):
    """A place that has master keys, and wraps the keys of files with them."""

    @property
    def master(self) -> str:
        """The name of the master key that wraps from now on; it is no secret."""
        ...

    def wrap(self, key: bytes) -> bytes: ...

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return what was wrapped. Raise a FileKeyError if that cannot be done."""
        ...


GivenKey: TypeAlias = bytes | str | KeySource


def read_key(text: str) -> bytes | str:
    """Take the text of a key file or variable: 64 hexadecimal digits are a key, anything else is a passphrase."""
    text = text.rstrip("\r\n")
    return bytes.fromhex(text) if _HEX.fullmatch(text) else text


_default: GivenKey | None = None


def use_key(given: GivenKey | None) -> None:
    """Let this process use a key for all files for which none is named, as a command does."""
    global _default
    _default = given


def default_key() -> GivenKey | None:
    return _default


def key_of(path: str, key: FileKey | None = None) -> FileKey | None:
    """Return the key of a file that is there: the one that is known, or that of this process; None without one."""
    if key is not None or _default is None:
        return key
    return key_for(path, _default, may_make=False)


def new_key(path: str, given: GivenKey) -> FileKey:
    """Return the key that a file is to get. A wrapped one is put down beside it, for when the file has it."""
    if isinstance(given, str):
        given = read_key(given)
    if isinstance(given, bytes | bytearray):
        return FileKey(bytes(given))
    if isinstance(given, str):
        return _of_passphrase(given, secrets.token_bytes(SALT_BYTES))
    raw = secrets.token_bytes(KEY_BYTES)
    write_whole(f"{envelope_path(path)}.next", wrapped(raw, given))
    return FileKey(raw)


def key_for(path: str, given: GivenKey, vfs: str | None = None, *, may_make: bool = True) -> FileKey:
    """Return the key of a file. With `may_make`, a file that is not there yet gets its salt or wrapped key."""
    if isinstance(given, str):
        given = read_key(given)
    if isinstance(given, bytes | bytearray):
        return FileKey(bytes(given))
    header = header_of(path)
    if is_plain(header):
        raise not_encrypted(path)
    try:
        if header or not may_make:
            return _key_of(path, header, given)
        return _make(path, given, vfs)
    except OSError as error:
        raise failures.failed_files(error, path) from error


def _key_of(path: str, header: bytes, given: str | KeySource) -> FileKey:
    if isinstance(given, str):
        return _of_passphrase(given, header[:SALT_BYTES] or bytes(SALT_BYTES))
    return _unwrapped(path, given)


def _of_passphrase(passphrase: str, salt: bytes) -> FileKey:
    if len(passphrase) < PASSPHRASE_CHARACTERS_MIN:
        raise errors.FileKeyError(
            f"a passphrase has at least {PASSPHRASE_CHARACTERS_MIN} characters; this one has {len(passphrase)}",
            hint="make a key, which nobody can guess: openssl rand -hex 32",
        )
    return FileKey.of_passphrase(passphrase, salt)


def _make(path: str, given: str | KeySource, vfs: str | None) -> FileKey:
    """Make the first page of a file, so that all who open it now have one key."""
    check_log_belongs(path)
    create_file(path)
    with claimed(f"{path}.key.lock", patience_s=_PATIENCE_S):
        if header := header_of(path):  # another process was faster
            return _key_of(path, header, given)
        if isinstance(given, str):
            key = _of_passphrase(given, secrets.token_bytes(SALT_BYTES))
        else:
            if not os.path.exists(envelope_path(path)):
                write_whole(envelope_path(path), wrapped(secrets.token_bytes(KEY_BYTES), given))
            key = _unwrapped(path, given)
        flags = apsw.SQLITE_OPEN_READWRITE
        try:
            connection = open_encrypted(path, key, flags, vfs)
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
            finally:
                connection.close(True)
        except apsw.Error as error:
            raise failures.translate(error, path) from error
        return key


# --- wrapped keys -----------------------------------------------------------------------------------


def envelope_path(path: str) -> str:
    """Return where the wrapped key of a file stands."""
    return f"{path}.key"


def wrapped(key: bytes, source: KeySource) -> bytes:
    """Return the text of the file with a wrapped key."""
    text = base64.b64encode(source.wrap(key)).decode()
    raw = {"format": _FORMAT, "master": source.master, "wrapped": text}
    return orjson.dumps(raw, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def copy_envelope(path: str, copy: str) -> None:
    """Give a copy, which is put in its place next, the wrapped key of its file, if that has one."""
    if os.path.exists(envelope := envelope_path(path)):
        with open(envelope, "rb") as file:
            write_whole(f"{envelope_path(copy)}.next", file.read())


def promote_envelope(path: str) -> None:
    """Make the next wrapped key the one of the file, which has that key now."""
    if os.path.exists(following := f"{envelope_path(path)}.next"):
        put_in_place(following, envelope_path(path))


def _unwrapped(path: str, source: KeySource) -> FileKey:
    """Return the key that fits the file. The next one counts once the file has it."""
    envelope = envelope_path(path)
    found = [one for one in (envelope, f"{envelope}.next") if os.path.exists(one)]
    if not found:
        raise errors.FileKeyError(
            f"{path} has no wrapped key: {envelope} does not exist",
            hint=f"bring back {envelope}, which was made with the file; each backup of the whole file has one",
        )
    for one in found:
        key = FileKey(source.unwrap(read_wrapped(one)))
        if len(found) == 1 or not header_of(path) or _fits(path, key):
            if one != envelope:
                put_in_place(one, envelope)
            return key
    raise wrong_key(path)


def _fits(path: str, key: FileKey) -> bool:
    try:
        open_encrypted(path, key, apsw.SQLITE_OPEN_READONLY, None).close(True)
    except errors.FileKeyError:
        return False
    except (errors.DamagedDataError, apsw.Error):
        pass  # something else is wrong, and is told by whoever opens it
    return True


def read_wrapped(envelope: str) -> bytes:
    try:
        with open(envelope, "rb") as file:
            raw: dict[str, Any] = orjson.loads(file.read())
        if raw["format"] > _FORMAT:
            raise errors.NewerFormatError(
                f"{envelope} was written by a newer release", hint="upgrade singletable"
            )
        return base64.b64decode(raw["wrapped"], validate=True)
    except (ValueError, LookupError, TypeError):
        raise errors.FileKeyError(
            f"{envelope} is damaged: it is no wrapped key",
            hint="bring it back from a backup of the whole file",
        ) from None


class LocalKeys:
    """Master keys in a file, which is made with its first key. For tests, and for hosts that protect that file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(os.fspath(path))
        if not os.path.exists(self.path):
            with claimed(f"{self.path}.lock", patience_s=_PATIENCE_S):
                if not os.path.exists(self.path):
                    self._write({})
        if not self._read():
            self.rotate()

    @property
    def master(self) -> str:
        return next(reversed(self._read()))

    def rotate(self) -> str:
        """Make another master key, which wraps from now on. Older ones stay, to unwrap."""
        name = secrets.token_hex(4)
        self._write({**self._read(), name: secrets.token_hex(KEY_BYTES)})
        return name

    def wrap(self, key: bytes) -> bytes:
        """Encrypt a key with the newest master key."""
        name, text = list(self._read().items())[-1]
        return name.encode() + seal(key, FileKey(bytes.fromhex(text)))

    def unwrap(self, wrapped: bytes) -> bytes:
        """Decrypt a key with the master key that it was wrapped with."""
        name = wrapped[:8].decode("ascii", "replace")
        text = self._read().get(name)
        key = None if text is None else unseal(wrapped[8:], FileKey(bytes.fromhex(text)))
        if key is None:
            what = (
                f"the master key {name} is not in it"
                if _MASTER.fullmatch(name)
                else "what was wrapped is damaged"
            )
            raise errors.FileKeyError(
                f"{self.path} cannot unwrap the key of this file: {what}",
                hint="bring back the older master keys",
            )
        return key

    def _read(self) -> dict[str, str]:
        with open(self.path, "rb") as file:
            found: dict[str, str] = orjson.loads(file.read())
        return found

    def _write(self, keys: dict[str, str]) -> None:
        write_whole(self.path, orjson.dumps(keys, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def __repr__(self) -> str:
        return f"LocalKeys({self.path!r})"
