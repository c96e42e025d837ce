"""ListStreams, DescribeStream, GetShardIterator, GetRecords as DynamoDB Streams shapes.

Where the words of the service itself are known, a comment says from where; the others are those of DynamoDB Local.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from singletable import limits
from singletable.engine import streams
from singletable.engine.stream_records import (
    SERVICE_PRINCIPAL,
    SERVICE_TYPE,
    StreamRecord,
    sequence_number,
)
from singletable.engine.streams import GetShardIterator, IteratorType, ShardDescription, StreamName
from singletable.errors import INVALID, ONE_ERROR, ValidationError
from singletable.storage.definitions import stream_label
from singletable.storage.streams import Stream
from singletable.wire.arns import Arn, check_place
from singletable.wire.descriptions import key_schema
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, OperationContext, Params, Run
from singletable.wire.validation.member_types import cut_number, time_us
from singletable.wire.validation.violations import TABLE_NAME_PATTERN

EVENT_VERSION: Final = "1.1"
EVENT_SOURCE: Final = "aws:dynamodb"

_STREAM: Final = re.compile(
    rf"table/({TABLE_NAME_PATTERN})/stream/([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9:]{{8}}\.[0-9]{{3}})"
)
_WITH_NUMBER: Final = frozenset(("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"))
_WITH_TIME: Final = frozenset(("AT_TIMESTAMP",))
# In the service's examples an iterator is the ARN of its stream, a version, and an opaque text.
_ITERATOR_VERSION: Final = "1"


def list_streams(session: OperationContext, params: Params, form: Form) -> Answer:
    limit = cut_number(params.get("Limit") or limits.LIST_STREAMS_MAX)
    if limit > limits.LIST_STREAMS_MAX:
        raise ValidationError(
            f"{INVALID}Limit cannot be greater than the maximum allowed size: {limits.LIST_STREAMS_MAX}"
        )
    start = params.get("ExclusiveStartStreamArn")
    page = streams.list_streams(
        session.store,
        table=params.get("TableName"),
        start=None if start is None else _stream_name(session, start),
        limit=limit,
    )
    answer: Answer = {
        "Streams": [
            {
                "StreamArn": _stream_arn(session, stream),
                "TableName": stream.table_name,
                "StreamLabel": stream_label(stream.label_us),
            }
            for stream in page.streams
        ]
    }
    if page.last is not None:
        answer["LastEvaluatedStreamArn"] = _stream_arn(session, page.last)
    return answer


def describe_stream(session: OperationContext, params: Params, form: Form) -> Answer:
    limit = cut_number(params.get("Limit") or limits.DESCRIBE_SHARDS_MAX)
    if limit > limits.DESCRIBE_SHARDS_MAX:
        raise ValidationError(
            f"{INVALID}Limit cannot be greater than the maximum: {limits.DESCRIBE_SHARDS_MAX}"
        )
    described = streams.describe_stream(
        session.store,
        _stream_name(session, params["StreamArn"]),
        start_shard_id=params.get("ExclusiveStartShardId"),
        parent_id=_parent_id(params.get("ShardFilter")),
        limit=limit,
    )
    stream = described.stream
    answer: Answer = {
        "StreamArn": _stream_arn(session, stream),
        "StreamLabel": stream_label(stream.label_us),
        "StreamStatus": "ENABLED" if stream.ended_us is None else "DISABLED",
        "StreamViewType": stream.view,
        "CreationRequestDateTime": form.time(stream.label_us),
        "TableName": stream.table_name,
        "KeySchema": key_schema(stream.table.definition.key),
        "Shards": [_shard(shard) for shard in described.shards],
    }
    if described.last_shard_id is not None:
        answer["LastEvaluatedShardId"] = described.last_shard_id
    return {"StreamDescription": answer}


def get_shard_iterator(session: OperationContext, params: Params, form: Form) -> Answer:
    kind: IteratorType = params["ShardIteratorType"]
    number, at = params.get("SequenceNumber"), params.get("Timestamp")
    name = _stream_name(session, params["StreamArn"])
    _check_given("SequenceNumber", is_given=number is not None, is_wanted=kind in _WITH_NUMBER)
    _check_given("Timestamp", is_given=at is not None, is_wanted=kind in _WITH_TIME)
    iterator = streams.get_shard_iterator(
        session.store,
        GetShardIterator(
            stream=name,
            shard_id=params["ShardId"],
            type=kind,
            sequence_number=number,
            at_us=None if at is None else time_us(at),
        ),
    )
    return {"ShardIterator": _iterator_text(name, iterator)}


def get_records(session: OperationContext, params: Params, form: Form) -> Answer:
    name, iterator = _read_iterator(session, params["ShardIterator"])
    limit = cut_number(params.get("Limit") or limits.STREAM_RECORDS_MAX)
    if limit > limits.STREAM_RECORDS_MAX:
        # A ValidationException (ScyllaDB's test_get_records_too_high_limit, which passed on the service in April
        # 2025), though the API reference has it under LimitExceededException. The words are DynamoDB Local's.
        raise ValidationError(f"{INVALID}Limit should be less than or equal to {limits.STREAM_RECORDS_MAX}")
    page = streams.get_records(session.store, name, iterator, limit=limit, patience=session.patience)
    answer: Answer = {"Records": [_record(record, form, region=session.region) for record in page.records]}
    if page.next_iterator is not None:
        answer["NextShardIterator"] = _iterator_text(name, page.next_iterator)
    return answer


# --- streams ---------------------------------------------------------------------------------------


def _stream_arn(session: OperationContext, stream: Stream) -> str:
    return f"{session.table_arn(stream.table_name)}/stream/{stream_label(stream.label_us)}"


def _stream_name(session: OperationContext, text: str) -> StreamName:
    """Return the stream that an ARN names."""
    arn = Arn.parse(text)
    match = None if arn is None else _STREAM.fullmatch(arn.resource)
    label_us = None if match is None else _label_us(match[2])
    if arn is None or match is None or label_us is None or arn.service != "dynamodb":
        raise ValidationError("Invalid StreamArn")
    check_place(arn, text, session.region, session.account)
    return StreamName(text, match[1], label_us)


def _label_us(label: str) -> int | None:
    try:
        at = datetime.strptime(f"{label}+0000", "%Y-%m-%dT%H:%M:%S.%f%z")
    except ValueError:  # the 31st of February
        return None
    return (at - datetime.fromtimestamp(0, UTC)) // _MICROSECOND


_MICROSECOND: Final = datetime.resolution


# --- shards ----------------------------------------------------------------------------------------


def _shard(shard: ShardDescription) -> Answer:
    numbers = {"StartingSequenceNumber": sequence_number(shard.first)}
    if shard.last is not None:
        numbers["EndingSequenceNumber"] = sequence_number(shard.last)
    answer: Answer = {"ShardId": shard.id, "SequenceNumberRange": numbers}
    if shard.parent_id is not None:
        answer["ParentShardId"] = shard.parent_id
    return answer


def _parent_id(shard_filter: Params | None) -> str | None:
    if shard_filter is None:
        return None
    if shard_filter.get("Type") is None:
        raise ValidationError(
            f"{ONE_ERROR}Value 'null' at 'shardFilter.type' failed to satisfy constraint: "
            "Member must be CHILD_SHARDS"
        )
    shard_id: str | None = shard_filter.get("ShardId")
    if shard_id is None:
        # The service refuses it (ScyllaDB's test_stream_shard_filtering_missing_shard_id, March 2026), DynamoDB
        # Local does not; the words are those of every member that is missing.
        raise ValidationError(
            f"{ONE_ERROR}Value null at 'shardFilter.shardId' failed to satisfy constraint: Member must not be null"
        )
    return shard_id


# --- iterators -------------------------------------------------------------------------------------


def _check_given(name: str, *, is_given: bool, is_wanted: bool) -> None:
    """Refuse members that an iterator type does not take, or lacks. Times and numbers have the same message."""
    if is_wanted and not is_given:
        raise ValidationError(f"{INVALID}Invalid {name}")
    if is_given and not is_wanted:
        raise ValidationError(f"{INVALID}{name} should not be passed for this iterator type")


def _iterator_text(name: StreamName, iterator: str) -> str:
    return f"{name.arn}|{_ITERATOR_VERSION}|{iterator}"


def _read_iterator(session: OperationContext, text: str) -> tuple[StreamName, str]:
    arn, version, iterator = (*text.split("|"), "", "")[:3]
    try:
        if version == _ITERATOR_VERSION:
            return _stream_name(session, arn), iterator
    except ValidationError:
        pass
    raise ValidationError(streams.NO_ITERATOR)


# --- records ---------------------------------------------------------------------------------------------


def _record(record: StreamRecord, form: Form, *, region: str) -> Answer:
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


RUN: Final[dict[str, Run]] = {
    "DescribeStream": describe_stream,
    "GetRecords": get_records,
    "GetShardIterator": get_shard_iterator,
    "ListStreams": list_streams,
}
