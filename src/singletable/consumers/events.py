"""Changes as handlers are given them.

A function gets them as AWS Lambda passes them (Lambda guide, "Using AWS Lambda with Amazon DynamoDB"), a design as
`ChangeRecord`s. Each is made anew for every try: a handler may change what it is given.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from singletable.engine.stream_records import (
    SERVICE_PRINCIPAL,
    SERVICE_TYPE,
    StreamRecord,
    event_id,
    sequence_number,
    stream_record,
)
from singletable.storage.consumers import Mark
from singletable.storage.definitions import StreamView
from singletable.storage.log import EXPIRED, Entry
from singletable.storage.tables import Table
from singletable.values.change_records import ChangeRecord
from singletable.wire.forms import NATIVE
from singletable.wire.operations.streams import EVENT_SOURCE, EVENT_VERSION

Event = dict[str, Any]

WHOLE_VIEW: StreamView = "NEW_AND_OLD_IMAGES"


class Presentation:
    """How the changes of a table are shown: as its stream shows them; in full, where it has none."""

    def __init__(self, table: Table, *, region: str, table_arn: str) -> None:
        self.table = table
        self._region = region
        stream, label = table.definition.stream, table.definition.stream_label
        self._view: StreamView = WHOLE_VIEW if stream is None else stream.view
        self._arn = table_arn if label is None else f"{table_arn}/stream/{label}"

    def record(self, entry: Entry) -> Event:
        """Return a change as one of the records of an event."""
        return _lambda_record(stream_record(entry, self.table, self._view), self._region, self._arn)

    def change(self, entry: Entry) -> ChangeRecord:
        """Return a change without an event around it: nothing is encoded, measured or copied for it."""
        before, after = entry.before, entry.after
        return ChangeRecord(
            self.table.name,
            self._view,
            None if before is None else NATIVE.item(before),
            None if after is None else NATIVE.item(after),
            entry.event == EXPIRED,
            datetime.fromtimestamp(entry.at_us // 1_000_000, UTC),
            sequence_number(entry.seq),
            event_id(self.table, entry.seq),
        )


class LoggedRecord(NamedTuple):
    """A change of the log, and how it is shown."""

    entry: Entry
    shown_as: Presentation

    @property
    def mark(self) -> Mark:
        return Mark(self.entry.seq, self.entry.at_us)

    def event(self) -> Event:
        return self.shown_as.record(self.entry)

    def change(self) -> ChangeRecord:
        return self.shown_as.change(self.entry)


def _lambda_record(record: StreamRecord, region: str, stream_arn: str) -> Event:
    # Binary values are base64 in an event, as they are stored. The user's identity is written in small letters,
    # other than in an answer of GetRecords (AWS guide, "DynamoDB Streams and Time to Live").
    images: Event = {}
    if record.new_image is not None:
        images["NewImage"] = orjson.loads(record.new_image)
    if record.old_image is not None:
        images["OldImage"] = orjson.loads(record.old_image)
    shown: Event = {
        "eventID": record.event_id,
        "eventName": record.event_name,
        "eventVersion": EVENT_VERSION,
        "eventSource": EVENT_SOURCE,
        "awsRegion": region,
        "dynamodb": {
            "ApproximateCreationDateTime": record.created_s,
            "Keys": record.keys,
            **images,
            "SequenceNumber": record.sequence_number,
            "SizeBytes": record.size_bytes,
            "StreamViewType": record.view,
        },
        "eventSourceARN": stream_arn,
    }
    if record.is_service:
        shown["userIdentity"] = {"type": SERVICE_TYPE, "principalId": SERVICE_PRINCIPAL}
    return shown
