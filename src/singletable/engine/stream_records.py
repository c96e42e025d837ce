"""One change as a stream shows it: an entry of the log, by the view type of the stream."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, Literal, NamedTuple

import orjson

from singletable.storage.definitions import StreamView
from singletable.storage.images import PrimaryKey
from singletable.storage.log import EXPIRED, INSERTED, MODIFIED, REMOVED, Entry
from singletable.storage.tables import Table
from singletable.values.sizes import item_bytes
from singletable.values.types import Item

EventName = Literal["INSERT", "MODIFY", "REMOVE"]

# The identity behind the deletion of an expired item (API reference of DynamoDB Streams, Identity).
SERVICE_TYPE: Final = "Service"
SERVICE_PRINCIPAL: Final = "dynamodb.amazonaws.com"

_EVENT_NAMES: Final[dict[int, EventName]] = {
    INSERTED: "INSERT",
    MODIFIED: "MODIFY",
    REMOVED: "REMOVE",
    EXPIRED: "REMOVE",
}
_SHOWS_NEW: Final = frozenset(("NEW_IMAGE", "NEW_AND_OLD_IMAGES"))
_SHOWS_OLD: Final = frozenset(("OLD_IMAGE", "NEW_AND_OLD_IMAGES"))
_EVENT_ID_BYTES: Final = 16

# Sequence numbers have 21 to 40 digits (the service model), and SDKs and the KCL compare them as numbers.
_SEQUENCE_BASE: Final = 10**20
_SEQUENCE_DIGITS: Final = 21


def sequence_number(seq: int) -> str:
    """Return the number of an entry of the log as the API writes it."""
    return str(_SEQUENCE_BASE + seq)


def sequence_position(text: str) -> int | None:
    """Return the number of the entry that a sequence number names; None if no log can have it."""
    if len(text) != _SEQUENCE_DIGITS or not (text.isascii() and text.isdigit()) or text[0] != "1":
        return None
    return int(text) - _SEQUENCE_BASE


class StreamRecord(NamedTuple):
    """One change as a stream shows it. Images are the stored bytes of the item."""

    event_id: str
    """32 hexadecimal digits: the same for every reader of the change, and every time."""
    event_name: EventName
    is_service: bool
    """Whether the service has deleted the item because it had expired."""
    view: StreamView
    seq: int
    at_us: int
    keys: Item
    """The key attributes, in the internal form: binary values are base64."""
    new_image: bytes | None
    old_image: bytes | None
    size_bytes: int

    @property
    def sequence_number(self) -> str:
        return sequence_number(self.seq)

    @property
    def created_s(self) -> int:
        """Return when the change was made, "rounded down to the closest second" (API reference, StreamRecord)."""
        return self.at_us // 1_000_000


def stream_record(entry: Entry, table: Table, view: StreamView) -> StreamRecord:
    """Return a change of the table as a stream of that view shows it."""
    keys = table.key_attributes(PrimaryKey(entry.pk, entry.sk))
    new_image = entry.after if view in _SHOWS_NEW else None
    old_image = entry.before if view in _SHOWS_OLD else None
    # Keys and images together: so it comes out for every record of AWS's examples (API reference, GetRecords;
    # Lambda guide, the sample event, with 26, 59 and 38 bytes).
    size_bytes = item_bytes(keys) + sum(
        item_bytes(orjson.loads(image)) for image in (new_image, old_image) if image is not None
    )
    return StreamRecord(
        event_id(table, entry.seq),
        _EVENT_NAMES[entry.event],
        entry.event == EXPIRED,
        view,
        entry.seq,
        entry.at_us,
        keys,
        new_image,
        old_image,
        size_bytes,
    )


def event_id(table: Table, seq: int) -> str:
    """Return what names a change of a table, whoever reads it."""
    return blake2b(f"{table.definition.uuid}:{seq}".encode(), digest_size=_EVENT_ID_BYTES).hexdigest()
