"""Shard iterators: a place in a shard as a text that any process understands, also after a restart.

The server stores no iterators. A digest reveals an iterator that was changed, or made for another stream. It is no
protection: a client that can send an iterator can also ask for one.
"""

from __future__ import annotations

from base64 import b64encode
from binascii import Error as BinasciiError
from binascii import a2b_base64
from hashlib import blake2b
from struct import Struct
from typing import Final, NamedTuple

from singletable import limits
from singletable.storage.streams import Stream

_FIELDS: Final = Struct(">?IQQ")
_DIGEST_BYTES: Final = 12  # all together, a whole number of groups of base64


class ShardIterator(NamedTuple):
    """Where the next GetRecords reads on, and when that was said."""

    at_horizon: bool
    """From the oldest record there is when it is used: a place that moves on as records are trimmed."""
    shard_number: int
    after: int
    """The number of the entry of the log behind which it reads."""
    made_us: int

    def has_expired(self, now_us: int) -> bool:
        return now_us - self.made_us > limits.ITERATOR_KEPT_S * 1_000_000


def encode_iterator(iterator: ShardIterator, stream: Stream) -> str:
    """Return the text of an iterator."""
    fields = _FIELDS.pack(*iterator)
    return b64encode(fields + _digest(fields, stream)).decode()


def decode_iterator(text: str, stream: Stream) -> ShardIterator | None:
    """Decode a text of `encode_iterator` for the same stream; None for anything else."""
    try:
        data = a2b_base64(text.encode("ascii"), strict_mode=True)
    except (BinasciiError, UnicodeEncodeError):
        return None
    fields = data[: _FIELDS.size]
    if len(fields) < _FIELDS.size or data[_FIELDS.size :] != _digest(fields, stream):
        return None
    return ShardIterator(*_FIELDS.unpack(fields))


def _digest(fields: bytes, stream: Stream) -> bytes:
    return blake2b(fields + stream.text, digest_size=_DIGEST_BYTES, person=b"shard iterator").digest()
