"""ListStreams, DescribeStream, GetShardIterator, GetRecords."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast

from singletable import limits
from singletable.engine.patience import OutOfPatienceError, Patience
from singletable.engine.shard_ids import position_of, shard_id, shard_number
from singletable.engine.stream_iterators import ShardIterator, decode_iterator, encode_iterator
from singletable.engine.stream_records import StreamRecord, sequence_position, stream_record
from singletable.errors import (
    INVALID,
    ExpiredIteratorError,
    ResourceNotFoundError,
    TrimmedDataAccessError,
    ValidationError,
)
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.definitions import StreamView
from singletable.storage.log import Entry, select_end, seq_at
from singletable.storage.reading import snapshot
from singletable.storage.store import Store
from singletable.storage.streams import (
    Shard,
    Stream,
    entries_of_shard,
    select_shard,
    select_shards_after,
    select_stream,
    select_streams,
    trimmed_upto,
)

IteratorType = Literal[
    "TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "AT_TIMESTAMP"
]

# How many entries of the log one GetRecords looks at, for those that are in its shard.
_LOOKED_AT_MAX: Final = 10 * limits.STREAM_RECORDS_MAX
_IMAGES: Final = 2  # of an item that a record can have, each of which is decoded to be measured

# The words of the service, as its clients have logged them (spring-integration-aws, pull 59; node-dynamodb-stream,
# issue 13; the tests of Apache Flink's connector and of an Elixir consumer).
_EXPIRED: Final = "Shard iterator has expired"
_TRIMMED: Final = "The data you are trying to access has been trimmed"
_NO_SHARD: Final = "Requested resource not found: Shard does not exist"
# The words of DynamoDB Local.
_OUTSIDE: Final = "Invalid SequenceNumber for the shard"
NO_ITERATOR: Final = "Invalid ShardIterator"


class StreamName(NamedTuple):
    """The identity of a stream."""

    arn: str
    table: str
    label_us: int


class StreamPage(NamedTuple):
    streams: list[Stream]
    last: Stream | None


class ShardDescription(NamedTuple):
    """A shard by its names. The numbers are those of the log."""

    id: str
    parent_id: str | None
    first: int
    last: int | None


class StreamDescription(NamedTuple):
    """A stream with a page of its shards."""

    stream: Stream
    shards: list[ShardDescription]
    last_shard_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetShardIterator:
    stream: StreamName
    shard_id: str
    type: IteratorType
    sequence_number: str | None = None
    at_us: int | None = None


class RecordsPage(NamedTuple):
    """Records of a shard, and the iterator behind them; None at the end of a shard that is closed."""

    records: list[StreamRecord]
    next_iterator: str | None


# --- streams and shards ----------------------------------------------------------------------------


def list_streams(store: Store, *, table: str | None, start: StreamName | None, limit: int) -> StreamPage:
    """List streams by the names of their tables, those of one table newest first, behind `start`."""
    since_us = _shown_from_us(store.background.now_us())

    def work(execute: Execute, catalog: Catalog) -> StreamPage:
        shown = [
            stream for stream in select_streams(execute, table_name=table) if _is_shown(stream, since_us)
        ]
        shown.sort(key=_place)
        if start is not None:
            shown = [stream for stream in shown if _place(stream) > (start.table, -start.label_us)]
        page = shown[:limit]
        return StreamPage(page, page[-1] if len(shown) > limit else None)

    return store.read(work)


def describe_stream(
    store: Store, name: StreamName, *, start_shard_id: str | None, parent_id: str | None, limit: int
) -> StreamDescription:
    """Describe a stream with its shards in the order in which they were made: all, or the children of one."""
    since_us = _shown_from_us(store.background.now_us())

    def work(execute: Execute, catalog: Catalog) -> StreamDescription:
        with snapshot(execute):
            stream = _existing_stream(execute, name, since_us)
            start = -1 if start_shard_id is None else position_of(stream, start_shard_id)
            parent = None if parent_id is None else shard_number(stream, parent_id)
            if parent_id is not None and parent is None:
                return StreamDescription(stream, [], None)
            shards = select_shards_after(
                execute, stream.id, start, since_us=since_us, parent=parent, rows_max=limit + 1
            )
        page = [_described(stream, shard) for shard in shards[:limit]]
        return StreamDescription(stream, page, page[-1].id if len(shards) > limit else None)

    return store.read(work)


def _described(stream: Stream, shard: Shard) -> ShardDescription:
    return ShardDescription(
        shard_id(stream, shard.number),
        # Also when the parent is gone: its name follows from its number.
        None if shard.parent is None else shard_id(stream, shard.parent),
        shard.first,
        # One that was closed before anything was in it ends where it began (API reference, DescribeStream: the
        # example has shards of one number).
        None if shard.last is None else max(shard.first, shard.last),
    )


def _place(stream: Stream) -> tuple[str, int]:
    return stream.table_name, -stream.label_us


def _shown_from_us(now_us: int) -> int:
    """Return the moment before which nothing is shown."""
    return now_us - limits.STREAM_KEPT_S * 1_000_000


def _is_shown(stream: Stream, since_us: int) -> bool:
    return stream.ended_us is None or stream.ended_us >= since_us


def _existing_stream(execute: Execute, name: StreamName, since_us: int) -> Stream:
    stream = select_stream(execute, name.table, name.label_us)
    if stream is None or not _is_shown(stream, since_us):
        raise ResourceNotFoundError(f"Requested resource not found: Stream: {name.arn} not found")
    return stream


# --- iterators -------------------------------------------------------------------------------------


def get_shard_iterator(store: Store, request: GetShardIterator) -> str:
    """Return an iterator for a place in a shard."""
    now_us = store.background.now_us()
    since_us = _shown_from_us(now_us)
    # After the clock was put forward, requests may use the new time before it is believed for deletions.
    if request.at_us is not None and request.at_us > max(now_us, store.clock.now_us()):
        # "If the timestamp is in the future, the request returns a ValidationException" (API reference); the words
        # are not known.
        raise ValidationError(f"{INVALID}Timestamp cannot be in the future")

    def work(execute: Execute, catalog: Catalog) -> str:
        with snapshot(execute):
            stream = _existing_stream(execute, request.stream, since_us)
            shard = _existing_shard(execute, stream, shard_number(stream, request.shard_id), since_us)
            after = _place_in_shard(execute, stream, shard, request, since_us)
        at_horizon = request.type == "TRIM_HORIZON"
        return encode_iterator(ShardIterator(at_horizon, shard.number, after, now_us), stream)

    return store.read(work)


def _existing_shard(execute: Execute, stream: Stream, number: int | None, since_us: int) -> Shard:
    shard = None if number is None else select_shard(execute, stream.id, number, since_us=since_us)
    if shard is None:
        raise ResourceNotFoundError(_NO_SHARD)
    return shard


def _place_in_shard(
    execute: Execute, stream: Stream, shard: Shard, request: GetShardIterator, since_us: int
) -> int:
    """Return the number of the entry behind which the reading begins."""
    match request.type:
        case "TRIM_HORIZON":
            return shard.first - 1
        case "LATEST":
            return _end(execute, stream, shard)
        case "AT_TIMESTAMP":
            assert request.at_us is not None
            # A record of the same millisecond is at that time; one that is trimmed is not asked for.
            before = seq_at(execute, stream.table_id, max(request.at_us, since_us) - 1)
            return max(shard.first - 1, before, trimmed_upto(execute, stream.table_id, since_us))
        case "AT_SEQUENCE_NUMBER":
            return _numbered(execute, stream, shard, request, since_us) - 1
        case "AFTER_SEQUENCE_NUMBER":
            # In a shard without that entry yet, the first entry to come is not skipped.
            seq = _numbered(execute, stream, shard, request, since_us)
            return min(seq, _end(execute, stream, shard))


def _numbered(
    execute: Execute, stream: Stream, shard: Shard, request: GetShardIterator, since_us: int
) -> int:
    seq = sequence_position(request.sequence_number or "")
    # The first number of a shard names a place in it also before anything is there.
    if seq is None or not shard.first <= seq <= max(shard.first, _end(execute, stream, shard)):
        raise ValidationError(_OUTSIDE)
    if seq <= trimmed_upto(execute, stream.table_id, since_us):
        raise TrimmedDataAccessError(_TRIMMED)
    return seq


def _end(execute: Execute, stream: Stream, shard: Shard) -> int:
    """Return the number of the last entry that can be in a shard so far."""
    return select_end(execute, stream.table_id).seq if shard.last is None else shard.last


# --- records ---------------------------------------------------------------------------------------


def get_records(
    store: Store, name: StreamName, iterator_text: str, *, limit: int, patience: Patience | None = None
) -> RecordsPage:
    """Read the records of a shard behind an iterator, as many as fit onto a page."""
    now_us = store.background.now_us()
    since_us = _shown_from_us(now_us)

    def work(execute: Execute, catalog: Catalog) -> RecordsPage:
        with snapshot(execute):
            stream = _existing_stream(execute, name, since_us)
            iterator = decode_iterator(iterator_text, stream)
            if iterator is None:
                raise ValidationError(NO_ITERATOR)
            if iterator.has_expired(now_us):
                raise ExpiredIteratorError(_EXPIRED)
            shard = _existing_shard(execute, stream, iterator.shard_number, since_us)
            after = _untrimmed(execute, stream, iterator, since_us)
            end = _end(execute, stream, shard)
            upto = min(end, after + _LOOKED_AT_MAX)
            if patience is not None and shard.parts > 1 and upto - after > patience.rows:
                raise OutOfPatienceError
            with closing(
                entries_of_shard(execute, stream.table_id, shard, after=after, upto=upto, rows_max=limit + 1)
            ) as entries:
                records, is_whole = _page(stream, entries, limit, patience)
        if not is_whole:
            upto = records[-1].seq
        if shard.last is not None and upto >= shard.last:
            return RecordsPage(records, None)
        following = ShardIterator(False, shard.number, max(after, upto), now_us)
        return RecordsPage(records, encode_iterator(following, stream))

    return store.read(work)


def _untrimmed(execute: Execute, stream: Stream, iterator: ShardIterator, since_us: int) -> int:
    """Return the number of the entry behind which an iterator reads. Refuse if entries behind it are trimmed."""
    trimmed = trimmed_upto(execute, stream.table_id, since_us)
    if iterator.at_horizon:
        return max(iterator.after, trimmed)
    if iterator.after < trimmed:
        raise TrimmedDataAccessError(_TRIMMED)
    return iterator.after


def _page(
    stream: Stream, entries: Iterable[Entry], limit: int, patience: Patience | None
) -> tuple[list[StreamRecord], bool]:
    """Return the records that fit onto a page, and whether those are all of the entries."""
    table, view = stream.table, cast("StreamView", stream.view)
    records: list[StreamRecord] = []
    page_bytes = 0
    for entry in entries:
        if len(records) == limit:
            return records, False
        record = stream_record(entry, table, view)
        page_bytes += record.size_bytes
        if records and page_bytes > limits.STREAM_BYTES_MAX:
            return records, False
        records.append(record)
        if patience is not None:
            patience.check(page_bytes, decodes=True)
            if _IMAGES * len(records) > patience.decoded_rows:
                raise OutOfPatienceError
    return records, True
