"""The names of shards: `shardId-00000001700000000000-f55eea83`, made only of the facts that identify a shard.

So a shard can name its parent also when the parent is gone. Within a stream, names sort by age of the shards.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

from singletable.storage.streams import Stream

_PREFIX: Final = "shardId-"
_SHARD_ID: Final = re.compile(rf"{_PREFIX}([0-9]{{20}})-[0-9a-f]{{8}}")
_BEHIND_ALL: Final = (1 << 62) - 1


def shard_id(stream: Stream, number: int) -> str:
    """Return the name of a shard."""
    suffix = blake2b(f"{stream.table_id}:{stream.label_us}:{number}".encode(), digest_size=4).hexdigest()
    return f"{_PREFIX}{_base(stream) + number:020d}-{suffix}"


def shard_number(stream: Stream, text: str) -> int | None:
    """Return the number of the shard that has this name; None if no shard of the stream can have it."""
    number = position_of(stream, text)
    return number if 0 <= number < _BEHIND_ALL and shard_id(stream, number) == text else None


def position_of(stream: Stream, text: str) -> int:
    """Return the number of the last shard with a name that sorts up to a text, which may be any text."""
    match = _SHARD_ID.fullmatch(text)
    if match is None:
        return -1 if text < _PREFIX else _BEHIND_ALL
    return max(-1, min(int(match[1]) - _base(stream), _BEHIND_ALL))


def _base(stream: Stream) -> int:
    return stream.label_us // 1000
