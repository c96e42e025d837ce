"""What is written beside the file of a backup: which table it is of, when it was made, and its checksum."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

from singletable import errors
from singletable.storage.definitions import TableDefinition, decode_definition, encode_definition
from singletable.storage.schema import FORMAT_VERSION

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


class BackupKey(NamedTuple):
    """What names a backup: its table, and an id that begins with the time it was made. Ids are in that order."""

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
    """A backup. `definition` is that of its table at that moment, with what the file of the backup leaves out."""

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
    """Read back what `encode_record` wrote. Raise a CorruptDatabaseError for anything else."""
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
