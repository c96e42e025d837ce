"""Key attributes as bytes that sort as their values do.

    S   its UTF-8 bytes (whose order is that of the code points)
    B   the bytes themselves
    N   zero      80
        positive  81, exponent of the first digit + 130, digits in pairs as value + 1
        negative  7F, the complement of the positive's exponent and digits, FF

A composite of several parts escapes 00 as 00 FF and ends each part with 00 01, so that no part can run
into the next and a shorter part sorts first.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Sequence
from typing import Final
from zlib import crc32

from singletable.limits import NUMBER_EXPONENT_MIN
from singletable.values.json_types import utf8_of
from singletable.values.types import KeyType

_ZERO: Final = b"\x80"
_EXPONENT_BIAS: Final = -NUMBER_EXPONENT_MIN
# "4217" read as hexadecimal is one byte for each pair of digits; these tables turn it into value + 1.
_PAIRS: Final = bytes((b >> 4) * 10 + (b & 15) + 1 if b >> 4 < 10 and b & 15 < 10 else 0 for b in range(256))
_PAIRS_NEGATIVE: Final = bytes(255 - b for b in _PAIRS)
_POSITIVE_HEADS: Final = tuple(bytes((0x81, biased)) for biased in range(256))
_NEGATIVE_HEADS: Final = tuple(bytes((0x7F, 255 - biased)) for biased in range(256))
_COMPLEMENT: Final = bytes(255 - b for b in range(256))

_ESCAPED_ZERO: Final = b"\x00\xff"
_PART_END: Final = b"\x00\x01"

HASH_BYTES: Final = 4  # in front of the key in a partition column
_HASH_SPACE: Final = 256**HASH_BYTES


def number_key_bytes(canonical: str) -> bytes:
    """Return bytes that sort as the number does."""
    if canonical == "0":
        return _ZERO
    negative = canonical[0] == "-"
    plain = canonical[1:] if negative else canonical
    if "." not in plain:
        exponent = len(plain) - 1
        digits = plain.rstrip("0")
    else:
        whole, _, fraction = plain.partition(".")
        if whole != "0":
            exponent = len(whole) - 1
            digits = whole + fraction
        else:
            digits = fraction.lstrip("0")
            exponent = len(digits) - len(fraction) - 1
    if len(digits) & 1:
        digits += "0"
    if negative:
        packed = bytes.fromhex(digits).translate(_PAIRS_NEGATIVE)
        return _NEGATIVE_HEADS[exponent + _EXPONENT_BIAS] + packed + b"\xff"
    return _POSITIVE_HEADS[exponent + _EXPONENT_BIAS] + bytes.fromhex(digits).translate(_PAIRS)


def number_from_key_bytes(data: bytes) -> str:
    """Return the canonical number that `number_key_bytes` turned into these bytes."""
    if data == _ZERO:
        return "0"
    negative = data[0] == 0x7F
    body = data[1:-1].translate(_COMPLEMENT) if negative else data[1:]
    first = body[0] - _EXPONENT_BIAS
    digits = "".join(f"{pair - 1:02d}" for pair in body[1:])
    significant = digits.rstrip("0")
    if first < 0:
        plain = f"0.{'0' * (-first - 1)}{significant}"
    elif len(significant) <= first + 1:
        plain = significant.ljust(first + 1, "0")
    else:
        plain = f"{significant[: first + 1]}.{significant[first + 1 :]}"
    return "-" + plain if negative else plain


def key_bytes(key_type: KeyType, payload: str) -> bytes:
    """Return bytes that sort as this key value does, from the payload of its internal form."""
    if key_type == "S":
        try:
            return payload.encode()
        except UnicodeEncodeError:
            return utf8_of(payload)  # which raises the right error
    if key_type == "N":
        return number_key_bytes(payload)
    return a2b_base64(payload)


def key_payload(key_type: KeyType, data: bytes) -> str:
    """Return the payload that `key_bytes` turned into these bytes."""
    if key_type == "S":
        return data.decode()
    if key_type == "N":
        return number_from_key_bytes(data)
    return b2a_base64(data, newline=False).decode()


def composite_key_bytes(parts: Sequence[bytes]) -> bytes:
    """Return bytes that sort as a sequence of key values does, from the key bytes of each; one alone stays so."""
    return parts[0] if len(parts) == 1 else composite_prefix(parts)


def composite_prefix(parts: Iterable[bytes]) -> bytes:
    """Return the prefix of all composites of several parts that start with these complete parts."""
    return b"".join([composite_unfinished(part) + _PART_END for part in parts])


def composite_unfinished(data: bytes) -> bytes:
    """Return the bytes in a composite, after its prefix, of all parts that begin with `data`."""
    return data.replace(b"\x00", _ESCAPED_ZERO)


def partition_bytes(data: bytes) -> bytes:
    """Return the stored partition column: a hash of the partition key, then the key itself."""
    return crc32(data).to_bytes(HASH_BYTES, "big") + data


def segment_range(segment: int, total_segments: int) -> tuple[bytes, bytes | None]:
    """Return the half-open range of partition columns of one segment of a parallel scan."""
    low = _segment_start(segment, total_segments).to_bytes(HASH_BYTES, "big")
    if segment + 1 == total_segments:
        return low, None
    return low, _segment_start(segment + 1, total_segments).to_bytes(HASH_BYTES, "big")


def _segment_start(segment: int, total_segments: int) -> int:
    return -(-segment * _HASH_SPACE // total_segments)
