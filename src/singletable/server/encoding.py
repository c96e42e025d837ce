"""Bodies that a client has compressed. Pure: bytes in, bytes or a refusal out.

The service takes `Content-Encoding: gzip`, of several members too (ScyllaDB's test_compressed_request.py, which
was run against it). To any other encoding, and to broken gzip, it answers 500, which an SDK would send again and
again; here that is a SerializationException. A body may unpack to no more than any body may hold, and nothing may
stand behind the last member.
"""

from __future__ import annotations

import zlib
from gzip import GzipFile
from io import BytesIO
from typing import Final

from singletable.limits import REQUEST_BYTES_MAX
from singletable.server.reader import BODY_TOO_LARGE
from singletable.server.replies import Reply, error_reply

UNREADABLE: Final = error_reply(
    400, "SerializationException", "The body could not be decoded; the Content-Encoding may be gzip"
)


def decode(body: bytes, encoding: bytes) -> bytes | Reply:
    """Return the body as it was before it was encoded, or the answer to one that cannot be decoded."""
    name = encoding.strip().lower()
    if name == b"identity":
        return body
    return _unzip(body) if name == b"gzip" and body else UNREADABLE


def _unzip(body: bytes) -> bytes | Reply:
    try:
        with GzipFile(fileobj=BytesIO(body)) as packed:
            text = packed.read(REQUEST_BYTES_MAX + 1)
    except (EOFError, OSError, zlib.error):
        return UNREADABLE
    return text if len(text) <= REQUEST_BYTES_MAX else BODY_TOO_LARGE.reply
