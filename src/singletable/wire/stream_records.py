"""A stream's record as DynamoDB Streams shapes it (Record)."""

from __future__ import annotations

from typing import Final

from singletable.engine.stream_records import SERVICE_PRINCIPAL, SERVICE_TYPE, StreamRecord
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer

EVENT_VERSION: Final = "1.1"
EVENT_SOURCE: Final = "aws:dynamodb"


def record_answer(record: StreamRecord, form: Form, *, region: str) -> Answer:
    """Return a record as GetRecords answers it."""
    answer: Answer = {
        "eventID": record.event_id,
        "eventName": record.event_name,
        "eventVersion": EVENT_VERSION,
        "eventSource": EVENT_SOURCE,
        "awsRegion": region,
        "dynamodb": _body(record, form),
    }
    if record.is_service:
        answer["userIdentity"] = {"PrincipalId": SERVICE_PRINCIPAL, "Type": SERVICE_TYPE}
    return answer


def _body(record: StreamRecord, form: Form) -> Answer:
    body: Answer = {
        "ApproximateCreationDateTime": form.time(record.created_s * 1_000_000),
        "Keys": form.item(record.keys),
        "SequenceNumber": record.sequence_number,
        "SizeBytes": record.size_bytes,
        "StreamViewType": record.view,
    }
    if record.new_image is not None:
        body["NewImage"] = form.item(record.new_image)
    if record.old_image is not None:
        body["OldImage"] = form.item(record.old_image)
    return body
