"""Bodies that are compressed, on the way in and on the way out. Pure: bytes in, bytes or a refusal out.

In: the service takes `Content-Encoding: gzip`, of several members too, and `deflate`, which is one zlib stream
(ScyllaDB's test_compressed_request.py of 2026, which was run against it: two deflate streams fail there). To any
other encoding, and to broken data, it answers 500, which an SDK would retry again and again; here that is a
SerializationException. The limit of a body holds for the unpacked bytes too, and no bytes may follow its end.

Out: the service compresses answers of 4 KB and more, with gzip or deflate, as the client prefers (ScyllaDB's
test_compressed_response.py: "The threshold for response compression in DynamoDB is 4KB"). Its x-amz-crc32 is that
of the compressed bytes (test_crc.py of the same; calculateCRC32FromCompressedData of the AWS SDK for Java).
"""

from __future__ import annotations

import re
import zlib
from typing import Final

from singletable.limits import KIB, REQUEST_BYTES_MAX
from singletable.server.reader import BODY_TOO_LARGE
from singletable.server.replies import Reply, error_reply

UNREADABLE: Final = error_reply(
    400,
    "SerializationException",
    "The body could not be decoded; the Content-Encoding may be gzip or deflate",
)
# One member costs about as much as 3 KB of text, so a body of nothing but empty ones must not be read to its end.
MEMBERS_MAX: Final = 1000
ENCODED_BYTES_MIN: Final = 4 * KIB  # answers below are sent as they are

# The most that is done on the event loop: about half a millisecond. A kilobyte unpacks to a megabyte at most.
_UNPACKED_AT_ONCE_BYTES_MAX: Final = 256
_PACKED_AT_ONCE_BYTES_MAX: Final = 16 * KIB

_PIECE_BYTES: Final = 64 * KIB
_GZIP: Final = 31  # zlib's window bits for a gzip stream with its header and checksum
_DEFLATE: Final = 15
_WINDOW_BITS: Final = {b"gzip": _GZIP, b"deflate": _DEFLATE}
_MEMBERS_MAX: Final = {b"gzip": MEMBERS_MAX, b"deflate": 1}
# A page of items takes half the time of level 6 at level 1, and is a twentieth longer.
_LEVEL: Final = 1
_QUALITY: Final = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+").fullmatch


# --- in ------------------------------------------------------------------------------------------------


def is_long_to_decode(body: bytes) -> bool:
    """Whether unpacking a body may take longer than others should wait."""
    return len(body) > _UNPACKED_AT_ONCE_BYTES_MAX


def decode(body: bytes, encoding: bytes) -> bytes | Reply:
    """Return the body as it was before it was encoded, or the answer to one that cannot be decoded."""
    name = encoding.strip().lower()
    if name == b"identity":
        return body
    if name not in _WINDOW_BITS or not body:
        return UNREADABLE
    try:
        return _unpack(memoryview(body), _WINDOW_BITS[name], _MEMBERS_MAX[name])
    except zlib.error:
        return UNREADABLE


def _unpack(packed: memoryview, window_bits: int, members_max: int) -> bytes | Reply:
    # In pieces: zlib copies all bytes behind the end of a member, and that must not be the whole rest each time.
    text = bytearray()
    members = 1
    member = zlib.decompressobj(window_bits)
    for start in range(0, len(packed), _PIECE_BYTES):
        piece: bytes | memoryview = packed[start : start + _PIECE_BYTES]
        while piece:
            if member.eof:
                members += 1
                if members > members_max:
                    return UNREADABLE
                member = zlib.decompressobj(window_bits)
            text += member.decompress(piece, REQUEST_BYTES_MAX + 1 - len(text))
            if len(text) > REQUEST_BYTES_MAX:
                return BODY_TOO_LARGE.reply
            piece = member.unused_data
    return bytes(text) if member.eof else UNREADABLE


# --- out -----------------------------------------------------------------------------------------------


def wants_encoding(reply: Reply, accept_encoding: bytes | None) -> bool:
    """Whether an answer may have to be compressed: False at no cost for botocore, which asks for identity."""
    return (
        accept_encoding is not None
        and accept_encoding != b"identity"
        and len(reply.body) >= ENCODED_BYTES_MIN
    )


def is_long_to_encode(reply: Reply) -> bool:
    """Whether compressing an answer takes longer than others should wait."""
    return len(reply.body) > _PACKED_AT_ONCE_BYTES_MAX


def encode(reply: Reply, accept_encoding: bytes | None) -> Reply:
    """Return the answer in the encoding that the client prefers; as it is if that is none."""
    if accept_encoding is None or not wants_encoding(reply, accept_encoding):
        return reply
    name = preferred(accept_encoding)
    if name is None:
        return reply
    packed = zlib.compress(reply.body, _LEVEL, _WINDOW_BITS[name])
    lines = reply.headers + b"Content-Encoding: %b\r\n" % name
    return Reply(reply.status, packed, reply.content_type, lines)


def preferred(accept_encoding: bytes) -> bytes | None:
    """Choose among the encodings of an Accept-Encoding header, as the service chooses.

    The highest quality wins, among equals the one named first, and a name wins over `*`. The service takes
    "identity" for no wish at all.
    """
    named: dict[bytes, float] = {}
    any_quality = 0.0
    for entry in accept_encoding.lower().split(b","):
        name, _, parameters = entry.partition(b";")
        name = name.strip()
        quality = _quality(parameters)
        if name == b"*":
            any_quality = max(any_quality, quality)
        elif name in _WINDOW_BITS:
            named[name] = max(named.get(name, 0.0), quality)
    unnamed = [(name, any_quality) for name in _WINDOW_BITS if name not in named]
    best = max([*named.items(), *unnamed], key=lambda choice: choice[1])
    return best[0] if best[1] > 0 else None


def _quality(parameters: bytes) -> float:
    # The first "q=" counts, wherever it stands. A text that is no number counts as 1, a negative number refuses.
    _, found, rest = parameters.partition(b"q=")
    if not found:
        return 1.0
    text = rest.partition(b";")[0].strip()
    if text.startswith(b"-"):
        return 0.0
    return min(float(text), 1.0) if _QUALITY(text) else 1.0
