"""Archives: where cooking history goes that was to be kept for a while only (SC-29), and has expired.

An entry is one JSON document, under a name that is always the same for it. So an entry that is told of twice is
archived once.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import uuid4

from singletable_systems.smart_cooking.model.entities import CookingHistory
from singletable_systems.smart_cooking.model.keys import UserId

# All but the characters that file systems and S3 take in names without special handling ("Creating object key
# names").
_NOT_IN_NAMES: Final = re.compile(r"[^0-9a-zA-Z_-]+")
_READABLE_LENGTH_MAX: Final = 40
_DIGEST_LENGTH: Final = 32


class Archive(Protocol):
    """Keeps cooking history for good. Handlers run at least once, so storing bears to be repeated."""

    def store(self, entry: CookingHistory) -> None:
        """Keep an entry. When this returns, it is safe."""
        ...


def archive_name(entry: CookingHistory) -> str:
    """Return the name of an entry: always the same, of no other entry, below one folder for each user."""
    begun_at = entry.created_at.strftime("%Y-%m-%dT%H-%M-%S")
    return f"{user_folder(entry.user_id)}/{begun_at}-{_named(entry.history_id)}.json"


def user_folder(user_id: UserId) -> str:
    """Return the name of the folder in which the entries of a user are."""
    return _named(user_id)


def document(entry: CookingHistory) -> bytes:
    """Return an entry as JSON, the same bytes whenever it is asked for."""
    return entry.model_dump_json(indent=2).encode() + b"\n"


def _named(given: str) -> str:
    """Return a readable name that is unique, also in file systems that ignore case."""
    digest = sha256(given.encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{_NOT_IN_NAMES.sub('_', given)[:_READABLE_LENGTH_MAX]}-{digest}"


class FileArchive:
    """Files in a folder. A file is there as a whole, or not at all, whatever happens while it is written."""

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)

    def store(self, entry: CookingHistory) -> None:
        """Write an entry beside its place, and put it there when all of it is on the disk."""
        path = self._folder / archive_name(entry)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".writing-{uuid4()}")
        try:
            with open(scratch, "xb") as file:  # as the umask says: mkstemp would keep others from reading it
                file.write(document(entry))
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(scratch)
            raise
        for folder in (path.parent, self._folder):
            _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """Make names in a folder as durable as what they name."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


class S3Archive:
    """Objects of an S3 bucket, by a boto3 client: `S3Archive(boto3.client("s3"), "bucket", prefix="cooking/")`."""

    def __init__(self, client: Any, bucket: str, prefix: str = "") -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix

    def store(self, entry: CookingHistory) -> None:
        """Put an entry as an object. S3 answers when it is stored, and never keeps a part of one."""
        self._client.put_object(
            Bucket=self._bucket,
            Key=self._prefix + archive_name(entry),
            Body=document(entry),
            ContentType="application/json",
        )
