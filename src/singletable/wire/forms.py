"""The two forms that requests and answers take: JSON on the wire, and boto3's Python values in the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, cast

import orjson

from singletable.errors import ValidationError
from singletable.limits import ITEM_BYTES_MAX
from singletable.values.native import to_native
from singletable.values.reading import read_item, read_key
from singletable.values.types import Item

StoredItem = bytes | Item
_HOLDS_BINARY = ord(" ")  # the first byte of a stored item with binary values: others need no second look


class Form(Protocol):
    """How values come in and go out."""

    is_native: bool

    def item(self, stored: StoredItem) -> Any:
        """Return an item for an answer."""
        ...

    def items(self, stored: Sequence[StoredItem]) -> Any:
        """Return the items of a page: all as they are stored, or none."""
        ...

    def cursor(self, last: bytes, names: Sequence[str], shown: Any | None) -> dict[str, Any]:
        """Return the key attributes of a page's last item; `shown` are the items of the answer, if it is there."""
        ...

    def time(self, at_us: int) -> Any:
        """Return a point in time for an answer."""
        ...


class JsonForm:
    """Binary values are base64, times are seconds; stored items go out as the bytes they are stored as."""

    is_native = False

    def item(self, stored: StoredItem) -> Any:
        return orjson.Fragment(stored) if isinstance(stored, bytes) else stored

    def items(self, stored: Sequence[StoredItem]) -> Any:
        if stored and isinstance(stored[0], bytes):
            return orjson.Fragment(b"[" + b",".join(cast("Sequence[bytes]", stored)) + b"]")
        return stored

    def cursor(self, last: bytes, names: Sequence[str], shown: Any | None) -> dict[str, Any]:
        item = orjson.loads(last)
        return {name: item[name] for name in names}

    def time(self, at_us: int) -> Any:
        return at_us // 1000 / 1000


class NativeForm:
    """Binary values are bytes, times are datetimes; every answer is a fresh dict."""

    is_native = True

    def item(self, stored: StoredItem) -> Any:
        if not isinstance(stored, bytes):
            return to_native(stored)
        item = orjson.loads(stored)
        return to_native(item) if stored[0] == _HOLDS_BINARY else item

    def items(self, stored: Sequence[StoredItem]) -> list[Any]:
        # The same as `item` for each, without a call for those that only need decoding: most of them.
        return [
            orjson.loads(item) if isinstance(item, bytes) and item[0] != _HOLDS_BINARY else self.item(item)
            for item in stored
        ]

    def cursor(self, last: bytes, names: Sequence[str], shown: Any | None) -> dict[str, Any]:
        item = self.item(last) if shown is None else shown[-1]
        return {name: dict(item[name]) for name in names}

    def time(self, at_us: int) -> Any:
        return datetime.fromtimestamp(JSON.time(at_us), UTC)  # to the millisecond, as AWS has them


JSON: Form = JsonForm()
NATIVE: Form = NativeForm()


def take_item(raw: Mapping[str, Any], form: Form, *, older: bool = False) -> tuple[Item, int]:
    """Read an item that is to be stored. Batches and transactions word their refusals in AWS's older way."""
    item, item_bytes = read_item(raw, native=form.is_native, older=older)
    if item_bytes > ITEM_BYTES_MAX:
        raise ValidationError("Item size has exceeded the maximum allowed size")
    return item, item_bytes


def take_key(raw: Mapping[str, Any], form: Form, *, older: bool = False) -> Item:
    """Read a key. Batches and transactions word their refusals in AWS's older way."""
    return read_key(raw, native=form.is_native, older=older)
