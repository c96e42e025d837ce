"""Cursors: the position at which a page ended, as an opaque and signed text.

A cursor is base64url of a version byte, 16 bytes of HMAC-SHA256, and a body that is hidden by a stream of bytes
made from the HMAC. The body is 8 bytes that identify the query, and the positions as compressed JSON. It names no
process and no release; what it holds are keys of items. With a `cursor_secret` nobody else can make or read one;
without, the key is derived from the design's name, which shows changes but keeps out nobody who reads this file.
In either case a cursor only works with the query that made it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import zlib
from binascii import Error as Base64Error
from typing import Any, Final

from singletable.design.values.arguments import require_kind
from singletable.errors import CursorError, CursorMismatchError

_VERSION: Final = b"\x01"
_IDENTITY_BYTES: Final = 8
_MAC_BYTES: Final = 16
_CURSOR_CHARACTERS_MAX: Final = 100_000
_POSITIONS_BYTES_MAX: Final = 10_000_000


# Binary values of keys are written in hexadecimal digits.
_IDENTITIES: Final = json.JSONEncoder(
    separators=(",", ":"), sort_keys=True, default=lambda key: bytes(key).hex()
)
_POSITIONS: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def cursor_key(design: str, secret: str | bytes | None) -> bytes:
    """Return the key that cursors of a design are signed with."""
    if secret is None:
        return hashlib.sha256(b"singletable cursor of " + design.encode()).digest()
    require_kind(secret, (str, bytes), "a cursor_secret is a text, or bytes")
    return hashlib.sha256(secret.encode() if isinstance(secret, str) else secret).digest()


def identity(query: object) -> bytes:
    """Return the identity of a query: a hash of its parts, which must be JSON."""
    return hashlib.blake2b(_IDENTITIES.encode(query).encode(), digest_size=_IDENTITY_BYTES).digest()


def write_cursor(key: bytes, query: bytes, positions: list[Any]) -> str:
    """Make a cursor of positions in a query."""
    body = query + zlib.compress(_POSITIONS.encode(positions).encode(), 9)
    mac = _mac(key, body)
    return _text(_VERSION + mac + _hidden(key, mac, body))


def read_cursor(key: bytes, query: bytes, cursor: object) -> Any:
    """Read the positions of a cursor; refuse one that was changed, or belongs to another query."""
    raw = _bytes(cursor)
    mac = raw[1 : 1 + _MAC_BYTES]
    body = _hidden(key, mac, raw[1 + _MAC_BYTES :])
    if raw[:1] != _VERSION or not hmac.compare_digest(_mac(key, body), mac):
        raise _not_ours()
    if body[:_IDENTITY_BYTES] != query:
        raise CursorMismatchError(
            "the cursor is of another query",
            hint="ask with the arguments, filters and order of the page that gave it; only the limit may change",
        )
    text = zlib.decompressobj().decompress(body[_IDENTITY_BYTES:], _POSITIONS_BYTES_MAX)
    return json.loads(text)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _bytes(cursor: object) -> bytes:
    if not isinstance(cursor, str) or len(cursor) > _CURSOR_CHARACTERS_MAX:
        raise _not_ours()
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (Base64Error, ValueError):
        raise _not_ours() from None
    if _text(raw) != cursor:  # the last character has bits that no byte needs
        raise _not_ours()
    return raw


def _mac(key: bytes, body: bytes) -> bytes:
    return hmac.digest(key, _VERSION + body, "sha256")[:_MAC_BYTES]


def _hidden(key: bytes, mac: bytes, body: bytes) -> bytes:
    """Hide a body, or show it again: the stream depends on the body itself, by its MAC, so none is used twice."""
    blocks = (
        hmac.digest(key, b"hide" + mac + number.to_bytes(4, "big"), "sha256")
        for number in range(-(-len(body) // 32))
    )
    hiding = b"".join(blocks)[: len(body)]
    return (int.from_bytes(body, "big") ^ int.from_bytes(hiding, "big")).to_bytes(len(body), "big")


def _not_ours() -> CursorError:
    return CursorError("this is no cursor of this design, or it was changed", hint="begin without a cursor")
